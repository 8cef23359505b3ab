"""The curator on a real graph."""

from dataclasses import replace
from datetime import timedelta

import pytest
from builders import NOW, a_request

from graphmem.errors import Conflict
from graphmem.gateway.folding import Unfold
from graphmem.gateway.status import ChangeStatus
from graphmem.model.entity import EntityRef
from graphmem.model.memory import MemoryType, Status
from graphmem.model.policy import WritePolicy
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import space_from_key
from graphmem.model.writing import Dedupe
from graphmem.store.upkeep import Upkeep

EXTRACTED = Source(
    type=SourceType.WORKFLOW_OUTPUT,
    workflow_run_id="w",
    step_id="s",
    captured_by=CapturedBy.EXTRACTOR,
)
JOHN = (EntityRef(key="person:john", label="John"),)


def key(house, name="user:ada"):
    return f"{house.caller.tenant}/{name}"


def run(house, job, name="user:ada", **options):
    return house.graphmem.runner.run(job, space_key=key(house, name), by_hand=True, **options)


def repeat(house, number, content="John likes chess.", **changes):
    for _ in range(number):
        house.write(a_request(content, dedupe=Dedupe.NONE, source=EXTRACTED, **changes))
        house.clock.advance(seconds=1)


def statuses(house):
    return house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " RETURN m.status, m.status_reason, count(*) ORDER BY m.status, m.status_reason"
    )


def snapshot(house):
    return house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " OPTIONAL MATCH (m)-[:MENTIONS]->(e) WITH m, e ORDER BY e.key"
        " RETURN m.uid, m.status, m.content, m.importance, m.confidence, m.tags, m.space_token,"
        " collect(e.key)"
        " ORDER BY m.uid"
    )


def test_repeats_are_put_away_and_todos_are_not(house):
    repeat(house, 30)
    repeat(house, 3, "Call John.", type=MemoryType.TODO)
    seeded = house.write(a_request("Ada is a nurse.")).results[0].memory
    repeat(house, 1, "Ada is a nurse.")

    dry = run(house, "curate_dedupe", dry_run=True)
    wet = run(house, "curate_dedupe")

    assert {"archived": 30, "reinforced": 2, "spaces": 1} == dry.counts == wet.counts
    assert [("active", None, 5), ("archived", "dedupe", 30)] == statuses(house)
    assert "active" == house.graphmem.memories.by_key([seeded.key])[seeded.key].status
    assert [(30,)] == house.rows(
        "MATCH (m:Memory {content: 'John likes chess.', status: 'active'}) WHERE m.space STARTS"
        " WITH $tenant"
        " RETURN m.mention_count"
    )
    assert {"spaces": 0} == run(house, "curate_dedupe").counts


def test_a_repeat_said_after_that_reinforces_the_one_that_stayed(house):
    house.write(a_request("Tea.", dedupe=Dedupe.CONTENT))
    house.clock.advance(seconds=1)
    house.write(a_request("Tea.", dedupe=Dedupe.NONE))
    run(house, "curate_dedupe")

    again = house.write(a_request("Tea.")).results[0]

    assert ("reinforced", 3) == (again.outcome, again.memory.mention_count)


def test_more_repeats_than_a_batch_leave_one(house, monkeypatch):
    monkeypatch.setattr("graphmem.upkeep.curator.BATCH", 10)
    house.write(*[a_request("Again.", dedupe=Dedupe.NONE, source=EXTRACTED) for _ in range(24)])

    assert 23 == run(house, "curate_dedupe", dry_run=True).counts["archived"]
    assert 23 == run(house, "curate_dedupe").counts["archived"]
    assert [(24,)] == house.rows(
        "MATCH (m:Memory {status: 'active'}) WHERE m.space STARTS WITH $tenant RETURN"
        " m.mention_count"
    )


def test_a_batch_of_repeats_that_all_stay_holds_up_no_others(house, monkeypatch):
    monkeypatch.setattr("graphmem.upkeep.curator.BATCH", 4)
    for number in range(9):  # no one can have the tags of two
        repeat(
            house, 1, tags=tuple(f"tag {number} {each}" for each in range(WritePolicy().tags_max))
        )
    repeat(house, 3)

    assert 3 == run(house, "curate_dedupe").counts["archived"]
    assert [("active", None, 9), ("archived", "dedupe", 3)] == statuses(house)


def test_a_scheduled_run_waits_until_a_space_is_due(house):
    runner = house.graphmem.runner
    repeat(house, 2)
    assert (
        1 == runner.run("curate_dedupe", space_key=key(house)).counts["archived"]
    )  # never curated: due at once

    house.clock.advance(seconds=1)
    repeat(house, 24)
    assert {"spaces": 0} == runner.run("curate_dedupe", space_key=key(house)).counts
    repeat(house, 1)
    assert 25 == runner.run("curate_dedupe", space_key=key(house)).counts["archived"]
    house.clock.advance(seconds=1)
    repeat(house, 1)
    assert {"spaces": 0} == runner.run("curate_dedupe", space_key=key(house)).counts
    house.clock.advance(hours=24)
    assert 1 == runner.run("curate_dedupe", space_key=key(house)).counts["archived"]


def test_folding_waits_for_the_dedupe_and_works_on_what_it_left(house):
    runner = house.graphmem.runner
    repeat(house, 3, "John likes chess.", entities=JOHN)
    repeat(house, 1, "John has a dog.", entities=JOHN)

    assert {"spaces": 0} == runner.run("curate_fold", space_key=key(house)).counts
    assert 2 == runner.run("curate_dedupe", space_key=key(house)).counts["archived"]
    assert {"spaces": 0} == runner.run(
        "curate_fold", space_key=key(house)
    ).counts  # two facts are left: too few
    repeat(house, 1, "John lives in Rome.", entities=JOHN)
    house.clock.advance(days=1)
    runner.run("curate_dedupe", space_key=key(house))
    record = runner.run("curate_fold", space_key=key(house))

    assert {"archived": 3, "folded": 1, "spaces": 1} == record.counts
    bundle = house.recall("where does John live?")
    assert ["John: John likes chess. / John has a dog. / John lives in Rome."] == [
        item.memory.content for item in bundle.items
    ]
    assert bundle.items[0].explanation.vector is not None
    assert {"spaces": 0} == run(house, "curate_fold").counts


def test_a_dry_run_of_a_fold_counts_the_same_and_touches_nothing(house):
    for number in range(3):
        repeat(house, 1, f"Fact {number} of John.", entities=JOHN)
    before = snapshot(house)

    dry = run(house, "curate_fold", dry_run=True)

    assert before == snapshot(house)
    assert run(house, "curate_fold").counts == dry.counts


def test_what_a_user_wrote_is_never_folded(house):
    for number in range(3):
        house.write(a_request(f"Fact {number}.", entities=JOHN))

    assert {"spaces": 0} == run(house, "curate_fold").counts


def test_unfolding_restores_what_was_folded_and_it_is_not_folded_again(house):
    for number in range(3):
        repeat(house, 1, f"Fact {number} of John.", entities=JOHN, tags=("chess",))
    before = snapshot(house)
    run(house, "curate_fold")
    ((uid,),) = house.rows(
        "MATCH (m:Memory)-[:FOLDED_FROM]->() WHERE m.space STARTS WITH $tenant RETURN DISTINCT"
        " m.uid"
    )
    folded = house.graphmem.memories.by_uid(house.caller.tenant, uid)[0]

    restored = unfold(house, folded).answer.restored

    assert 3 == len(restored)
    assert before == [row for row in snapshot(house) if row[0] != uid]
    assert {"spaces": 0} == run(house, "curate_fold").counts
    with pytest.raises(Conflict, match="unfolded or put away before"):
        unfold(house, house.graphmem.memories.by_uid(house.caller.tenant, uid)[0])


def folded_of(house, number, **changes):
    """The fold of some facts of John, and the uids of these, oldest first."""
    uids = []
    for each in range(number):
        source = replace(EXTRACTED, key=f"s-{each}")
        (result,) = house.write(
            a_request(f"Fact {each} of John.", source=source, entities=JOHN, **changes)
        ).results
        uids.append(result.memory.uid)
        house.clock.advance(seconds=1)
    run(house, "curate_fold")
    ((uid,),) = house.rows(
        "MATCH (m:Memory)-[:FOLDED_FROM]->() WHERE m.space STARTS WITH $tenant RETURN DISTINCT"
        " m.uid"
    )
    return memory_of(house, uid), uids


def memory_of(house, uid):
    return house.graphmem.memories.by_uid(house.caller.tenant, uid)[0]


def change(house, memory, status):
    return house.graphmem.gateway.execute(
        ChangeStatus(memory=memory, status=status, reason="by hand"), house.caller
    )


def status_of(house, *uids):
    return [memory_of(house, uid).status.value for uid in uids]


def retract(house, uid):
    change(house, memory_of(house, uid), Status.RETRACTED)


def supersede(house, uid):
    house.write(a_request("John plays go.", updates=(uid,)))


def reword(house, uid):
    memory = memory_of(house, uid)
    request = a_request("What John really said.", uid=uid, source=memory.source)
    house.graphmem.writing.correct(
        replace(request, given=frozenset({"content", "uid", "space"})), caller=house.caller
    )


def reword_by_its_source(house, uid):
    source = memory_of(house, uid).source
    house.write(a_request("What John really said.", source=source))


GONE = {
    retract: ("retracted", "John: Fact 0 of John. / Fact 2 of John."),
    supersede: ("superseded", "John: Fact 0 of John. / Fact 2 of John."),
    reword: ("archived", "John: Fact 0 of John. / What John really said. / Fact 2 of John."),
    reword_by_its_source: (
        "archived",
        "John: Fact 0 of John. / What John really said. / Fact 2 of John.",
    ),
}


@pytest.mark.parametrize("how", GONE)
def test_a_fold_is_made_anew_from_those_that_are_left(house, how):
    fold, uids = folded_of(house, 3)
    status, content = GONE[how]

    how(house, uids[1])

    assert ["archived", status, "archived", "active"] == status_of(house, *uids, fold.uid)
    remade = memory_of(house, fold.uid)
    assert content == remade.content
    assert content == remade.summary
    assert not remade.embedded
    assert [] == house.rows(
        "MATCH (c:Chunk)-[:OF]->(m:Memory {uid: $uid}) WHERE m.space STARTS WITH $tenant RETURN c",
        uid=fold.uid,
    )
    assert not any("Fact 1" in text for text in house.contents("fact of John"))
    house.graphmem.runner.run("embed_pending", space_key=key(house), by_hand=True)
    assert content in house.contents("fact of John")


def test_a_fold_of_which_one_is_left_is_taken_apart(house):
    fold, uids = folded_of(house, 3)

    retract(house, uids[0])
    retract(house, uids[1])

    assert ["retracted", "retracted", "active", "archived"] == status_of(house, *uids, fold.uid)
    assert ["Fact 2 of John."] == house.contents("fact of John")


def test_a_fold_has_the_sources_of_those_that_it_stands_for(house):
    fold, uids = folded_of(house, 3)
    assert [None, "s-0", "s-1", "s-2"] == [source.key for source in fold.sources]

    retract(house, uids[1])

    fold = memory_of(house, fold.uid)
    assert [None, "s-0", "s-2"] == [source.key for source in fold.sources]
    assert 3 == fold.sources_total
    # and the keys still stand for the members
    house.write(a_request("Fact 0 of John.", source=replace(EXTRACTED, key="s-0")))
    assert 1 == memory_of(house, uids[0]).mention_count


def test_a_member_that_comes_back_takes_no_claim_of_another(house):
    fold, uids = folded_of(house, 3)
    (again,) = house.write(a_request("Fact 1 of John.", entities=JOHN)).results

    unfold(house, fold)

    (said,) = house.write(a_request("Fact 1 of John.")).results
    assert again.memory.uid == said.memory.uid != uids[1]


@pytest.mark.parametrize(
    "changes",
    [
        {"valid_from": NOW + timedelta(days=9)},
        {"valid_until": NOW + timedelta(days=9)},
        {"expires_at": NOW + timedelta(days=9)},
        {"logical_key": "chess"},
        {"uid": "mine"},
        {"actor": "Bob"},
        {"contradicts": ("other",)},
        {"related_to": ("other",)},
        {"source": Source(conversation_id="c")},
    ],
    ids="-".join,
)
def test_what_a_fold_could_not_keep_is_not_folded(house, changes):
    house.write(a_request("Something else.", uid="other"))
    for number in range(2):
        house.write(a_request(f"Fact {number} of John.", source=EXTRACTED, entities=JOHN))

    house.write(a_request("Fact 2 of John.", **({"source": EXTRACTED, "entities": JOHN} | changes)))

    assert "folded" not in run(house, "curate_fold").counts


def test_a_fold_keeps_the_actor_of_its_members(house):
    fold, _ = folded_of(house, 3, actor="Bob")

    assert "Bob" == fold.actor


def test_a_retracted_fold_can_be_unfolded_and_an_unfolded_one_is_not_restored(house):
    fold, uids = folded_of(house, 3)
    change(house, fold, Status.RETRACTED)

    restored = unfold(house, memory_of(house, fold.uid)).answer.restored

    assert sorted(uids) == sorted(restored)
    assert ["retracted"] == status_of(house, fold.uid)


def test_an_unfolded_fold_is_not_restored_beside_its_members(house):
    fold, _ = folded_of(house, 3)
    unfold(house, fold)

    with pytest.raises(Conflict, match="was unfolded"):
        change(house, memory_of(house, fold.uid), Status.ACTIVE)


def unfold(house, folded):
    members = house.graphmem.histories.folded_from(folded)
    return house.graphmem.gateway.execute(Unfold(folded=folded, members=members), house.caller)


def test_a_fold_while_the_model_is_silent_is_embedded_later(house):
    for number in range(3):
        repeat(house, 1, f"Fact {number} of John.", entities=JOHN)
    house.embedder.is_broken = True

    assert 1 == run(house, "curate_fold").counts["folded"]

    house.embedder.is_broken = False
    assert 1 == run(house, "embed_pending").counts["embedded"]


def test_a_space_that_switches_the_curator_off_is_left_alone(house):
    repeat(house, 2)
    house.graphmem.policies.save(space_from_key(key(house)), {"upkeep.curate.enabled": False})

    assert {"spaces": 0} == house.graphmem.runner.run("curate_dedupe", space_key=key(house)).counts


def test_spaces_whose_names_begin_alike_are_all_seen_to(house, connection):
    spaces = ["user:ada", "user:ada/coach", "user:ada1", "user:adam", "user:zoe"]
    for space in spaces:
        repeat(house, 2, space=space)
    keys = [key(house, space) for space in spaces]

    found = [candidate.space for candidate in house.graphmem.of(Upkeep).dedupe_candidates(keys)]

    assert sorted(2 * keys) == sorted(found)


def test_no_other_space_is_read(house):
    repeat(house, 2)
    repeat(house, 2, space="user:ada/coach")

    assert {"archived": 1, "reinforced": 1, "spaces": 1} == run(house, "curate_dedupe").counts
