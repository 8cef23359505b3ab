"""Kept memories: what a room keeps is changed by that room alone (rooms, What belongs to whom)."""

import pytest
from builders import a_request

from graphmem.errors import KeptByRoom
from graphmem.gateway.edges import DrawEdge, EdgeRequest, RemoveEdge
from graphmem.gateway.status import ChangeStatus
from graphmem.model.edge import EdgeType
from graphmem.model.memory import MemoryType, Status
from graphmem.model.space import parse_space
from graphmem.model.writing import Outcome

TEA = "Ada likes tea."
JOBS = (
    "expire",
    "decay_commitments",
    "archive",
    "curate_dedupe",
    "curate_fold",
    "consolidate",
    "detect_contradictions",
)


def keep(house, content=TEA, **values):
    """Write as a room would."""
    request = a_request(content, kept_by="notes", native={"colour": "red"}, **values)
    return house.write(request).results[0]


def status(house, memory, wanted, **options):
    operation = ChangeStatus(memory=memory, status=wanted, reason=None, **options)
    return house.graphmem.gateway.execute(operation, house.caller).answer.memory


def draw(house, start, end, kind):
    request = EdgeRequest(
        space=start.space, from_uid=start.uid, to_uid=end.uid, type=kind, reason="why"
    )
    return house.graphmem.gateway.execute(DrawEdge(request=request), house.caller)


def claims(house, memory):
    rows = house.rows(
        "MATCH (k:ClaimKey)-[:CLAIMS]->(:Memory {key: $key}) RETURN k.key", key=memory.key
    )
    return sorted(key.removeprefix(memory.space.key) for (key,) in rows)


@pytest.mark.parametrize("is_kept_first", [True, False])
def test_equal_words_of_a_room_and_of_a_caller_are_two_memories_with_claims_of_their_own(
    house, is_kept_first
):
    writers = [keep, lambda house, **values: house.write(a_request(**values)).results[0]]
    for write in writers if is_kept_first else reversed(writers):
        assert Outcome.CREATED == write(house, logical_key="drink").outcome

    memories = {item.memory.kept_by: item.memory for item in house.recall("tea").items}
    assert {"notes", None} == memories.keys()
    assert ["notes", "notes"] == [claim.split("|")[1] for claim in claims(house, memories["notes"])]
    assert ["content", "logical"] == [
        claim.split("|")[1] for claim in claims(house, memories[None])
    ]


def test_native_values_are_kept_through_revisions_export_and_import(house):
    kept = keep(house, uid="k").memory
    keep(house, "Ada likes green tea.", uid="k")
    (line,) = [
        line
        for transfer in house.graphmem.transfers
        for line in transfer.lines(kept.space)
        if transfer.kind == "memory"
    ]
    again = parse_space("user:bob", tenant=house.caller.tenant)
    (memories,) = (each for each in house.graphmem.transfers if each.kind == "memory")

    outcome = list(memories.write(again, [line], caller=house.caller))

    there = house.graphmem.memories.by_key([f"{again.key}|k"])[f"{again.key}|k"]
    earlier = house.graphmem.histories.of(kept, limit=1).revisions[0].memory
    assert (["created"], {"colour": "red"}, "notes") == (outcome, there.native, there.kept_by)
    assert ({"colour": "red"}, "notes") == (earlier.native, earlier.kept_by)


@pytest.mark.parametrize(
    "change",
    [
        {"uid": "k", "content": "Other words."},
        {"content": "Newer words.", "updates": ("k",)},
    ],
)
def test_a_plain_write_that_changes_a_kept_memory_is_refused_and_takes_nothing_with_it(
    house, change
):
    keep(house, uid="k")

    refused, fine = house.write(a_request(**change), a_request("Fine.")).results

    assert isinstance(refused.error, KeptByRoom)
    assert Outcome.CREATED == fine.outcome
    assert {TEA, "Fine."} == set(house.contents("tea"))


def test_archiving_and_restoring_a_kept_memory_is_refused_and_retracting_is_not(house):
    kept = keep(house).memory

    with pytest.raises(KeptByRoom):
        status(house, kept, Status.ARCHIVED)
    assert Status.RETRACTED == status(house, kept, Status.RETRACTED).status
    with pytest.raises(KeptByRoom):
        status(house, kept, Status.ACTIVE)
    assert Status.ACTIVE == status(house, kept, Status.ACTIVE, restores_kept=True).status


def test_edges_may_end_at_a_kept_memory_but_neither_start_there_nor_update_it(house):
    kept, plain = keep(house).memory, house.write(a_request("Plain.")).results[0].memory

    draw(house, plain, kept, EdgeType.RELATED_TO)
    for start, end, kind in (
        (kept, plain, EdgeType.RELATED_TO),
        (plain, kept, EdgeType.UPDATES),
        (kept, plain, EdgeType.UPDATES),
    ):
        with pytest.raises(KeptByRoom):
            draw(house, start, end, kind)


def test_an_edge_that_a_room_drew_is_its_own_and_survives_export_and_import(house):
    kept = keep(house, uid="k").memory
    house.write(a_request("Plain.", uid="p"))
    request = EdgeRequest(
        space=kept.space, from_uid="k", to_uid="p", type=EdgeType.RELATED_TO, kept_by="notes"
    )
    edge = house.graphmem.gateway.execute(DrawEdge(request=request), house.caller).answer.edge

    remove = RemoveEdge(space=kept.space, edge=edge)
    with pytest.raises(KeptByRoom):
        house.graphmem.gateway.execute(remove, house.caller)
    again = parse_space("user:bob", tenant=house.caller.tenant)
    outcomes = [
        list(transfer.write(again, list(transfer.lines(kept.space)), caller=house.caller))
        for transfer in house.graphmem.transfers
    ]

    assert [["created", "created"], ["edges"]] == [each for each in outcomes if each]


def test_every_job_leaves_kept_memories_alone_and_integrity_finds_nothing_wrong(house):
    end = house.clock.now().replace(month=4)
    for number in range(4):
        keep(house, uid=f"same-{number}", dedupe="none", entities=(), expires_at=end)
        keep(house, f"Doubtful {number}.", confidence=0.1, type=MemoryType.TODO)
        house.clock.advance(seconds=1)
    space = parse_space("user:ada", tenant=house.caller.tenant).key
    before = snapshot(house)

    for _ in range(3):
        house.clock.advance(days=60)
        for job in JOBS:
            house.graphmem.runner.run(job, space_key=space, by_hand=True)
        report = house.graphmem.runner.run("integrity", space_key=space, by_hand=True, repair=True)

    assert before == snapshot(house)
    assert {0} == {n for name, n in report.counts.items() if name not in {"inspected", "spaces"}}


def snapshot(house):
    return house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " RETURN m.uid, m.status, m.version, m.expires_at ORDER BY m.uid"
    )
