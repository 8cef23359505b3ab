"""Turns on a real graph: exact bytes, one order for all, and no turn without its memory."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from builders import a_request
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from uuid6 import uuid7

from graphmem.conversations.append import AppendTurns
from graphmem.conversations.keeper import ConversationKeeper
from graphmem.conversations.sayings import remembered
from graphmem.gateway.status import ChangeStatus
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.memory import Status
from graphmem.model.source import Source
from graphmem.model.space import Space, SpaceKind

# any text that can be stored: no lone surrogates, no NUL
TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
ODD = st.sampled_from(["", " ", "\t", "\r\n", "\n\n", "\u2028", "e\u0301", "\ufeff"])
LONG = "é\n" * 100_000


def keeper(house):
    return house.graphmem.of(ConversationKeeper)


def space(house, owner="ada"):
    return Space(tenant=house.caller.tenant, kind=SpaceKind.USER, owner=owner)


def saying(content, **values):
    return Saying(uid="", role=TurnRole.USER, content=content, **values)


def say(house, *contents, conversation="chat", **options):
    sayings = [saying(content) for content in contents]
    done = keeper(house).append(space(house), conversation, sayings, caller=house.caller, **options)
    return [each.turn.uid for each in done.answer]


def pages(house, *, limit, forwards=False, conversation="chat"):
    """All turns of a conversation, page by page, oldest first."""
    page, _ = keeper(house).turns(space(house), conversation, limit=limit)
    found = list(page.turns)
    while page.has_more:
        page, _ = keeper(house).turns(
            space(house), conversation, before=page.turns[0].uid, limit=limit
        )
        found = [*page.turns, *found]
    if not forwards:
        return found
    found = found[:1]
    while True:
        page, _ = keeper(house).turns(space(house), conversation, after=found[-1].uid, limit=limit)
        found += page.turns
        if not page.has_more:
            return found


@given(
    st.lists(st.one_of(TEXTS, ODD, st.lists(ODD).map("".join), st.none()), min_size=30, max_size=99)
)
@settings(
    max_examples=int(os.environ.get("GRAPHMEM_EXAMPLES", "6")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_text_comes_back_as_it_was_said(house, texts):
    contents = [LONG if text is None else text for text in texts]
    conversation = str(uuid7())

    for start in range(0, len(contents), 10):
        say(house, *contents[start : start + 10], conversation=conversation)

    assert contents == [turn.content for turn in pages(house, limit=30, conversation=conversation)]
    house.rows(  # so that no transaction has to remove all of them
        "MATCH (t:Turn) WHERE t.space STARTS WITH $tenant AND t.conversation ENDS WITH $name"
        " DETACH DELETE t",
        name=conversation,
    )


def test_eight_clients_leave_every_turn_once_and_one_order(house):
    def write(client):
        return [say(house, f"{client}-{number}")[0] for number in range(12)]

    with ThreadPoolExecutor(8) as pool:
        written = list(pool.map(write, range(8)))

    turns = pages(house, limit=7)
    assert list(range(1, 97)) == [turn.number for turn in turns]
    assert sorted(uid for uids in written for uid in uids) == sorted(turn.uid for turn in turns)
    assert [turn.uid for turn in turns] == [
        turn.uid for turn in pages(house, limit=13, forwards=True)
    ]
    for uids in written:
        assert uids == [turn.uid for turn in turns if turn.uid in set(uids)]
    assert 96 == keeper(house).find(space(house), "chat").turns


@pytest.mark.parametrize("forwards", [False, True])
def test_paging_beside_a_writer_misses_and_repeats_none(house, forwards):
    first = say(house, *(f"T{number}" for number in range(60)))
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: [say(house, f"N{number}") for number in range(30)])
        found = [turn.uid for turn in pages(house, limit=4, forwards=forwards)]
        later = [uid for uids in writing.result() for uid in uids]

    assert len(found) == len(set(found))
    assert first == [uid for uid in found if uid in set(first)]
    assert found[60:] == later[: len(found) - 60]


def test_a_message_that_many_send_at_once_is_one_turn(house):
    def send(_):
        done = keeper(house).append(
            space(house), "chat", [saying("Once.", message_id="m")], caller=house.caller
        )
        return done.answer[0].turn.uid

    with ThreadPoolExecutor(8) as pool:
        uids = set(pool.map(send, range(16)))

    assert uids == {turn.uid for turn in pages(house, limit=10)}
    assert 1 == len(uids)


def test_deletes_beside_writers_leave_no_memory_of_what_is_gone(house):
    say(house, *(f"Tea {number}." for number in range(20)), remember=True)

    def delete(_):
        return keeper(house).pop(space(house), "chat", caller=house.caller)[0].uid

    with ThreadPoolExecutor(6) as pool:
        popped = [pool.submit(delete, number) for number in range(8)]
        said = [pool.submit(say, house, f"New {number}.", remember=True) for number in range(8)]
        gone = [each.result() for each in popped]
        _ = [each.result() for each in said]

    turns = pages(house, limit=50)
    assert (8, 20) == (len(set(gone)), len(turns))
    assert [1] * 20 == [len(turn.memories) for turn in turns]
    assert [(20, 8)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " RETURN count(CASE m.status WHEN 'active' THEN 1 END),"
        " count(CASE m.status WHEN 'retracted' THEN 1 END)"
    )


def test_a_conversation_of_more_turns_than_a_step_is_deleted_whole(house):
    for start in range(0, 420, 100):
        say(house, *(f"T{number}" for number in range(start, min(start + 100, 420))))
    house.write(a_request("Remembered.", source=Source(conversation_id="chat")))

    done = keeper(house).delete(space(house), "chat", caller=house.caller)

    assert (421, 1, 0) == (done.turns, done.retracted, done.kept)
    assert 0 == keeper(house).conversations.page(space(house), limit=5).total


def test_a_curator_that_puts_a_repeat_away_moves_its_turns(house):
    """What is absorbed by another memory rests on the same turns there."""
    (one,) = house.write(
        a_request("Ada likes tea.", uid="a", source=Source(conversation_id="x"))
    ).results
    (two,) = house.write(
        a_request("Ada likes tea.", uid="b", source=Source(conversation_id="y"))
    ).results
    house.graphmem.runner.run("curate_dedupe", space_key=space(house).key, by_hand=True)

    found = house.graphmem.memories.by_key([one.memory.key, two.memory.key])
    active = [memory for memory in found.values() if memory.status is Status.ACTIVE]
    assert {2} == {len(memory.turns) for memory in active} or 2 == len(active)


def test_an_export_carries_what_was_said_byte_for_byte(house):
    say(house, " a\r\n\t", "", "\u2028\x85", remember=True)
    house.clock.advance(minutes=1)
    house.write(
        a_request("Twice.", source=Source(conversation_id="chat")),
        a_request("Twice.", source=Source(conversation_id="other", key="k")),
    )
    keeper(house).edit(space(house), "chat", {"title": "Tea"}, caller=house.caller)
    (gone,) = house.write(a_request("Wrong.", source=Source(conversation_id="chat"))).results
    house.graphmem.gateway.execute(
        ChangeStatus(memory=gone.memory, status=Status.RETRACTED, reason="a slip"), house.caller
    )
    lines = list(export_lines(house.graphmem.transfers, space(house)))

    *_, done = import_lines(
        house.graphmem.transfers, lines, space(house, "bob"), caller=house.caller
    )

    assert [] == done.problems
    assert lines == list(export_lines(house.graphmem.transfers, space(house, "bob")))


def test_a_second_import_completes_a_first_that_lacked_memories(house):
    say(house, "Tea.", remember=True)
    lines = list(export_lines(house.graphmem.transfers, space(house)))
    transfers, bob = house.graphmem.transfers, space(house, "bob")

    for some in ([line for line in lines if "memory" not in line[:12]], lines):
        list(import_lines(transfers, some, bob, caller=house.caller))

    assert lines == list(export_lines(transfers, bob))


def test_a_retracted_line_of_an_older_file_says_nothing(house):
    (gone,) = house.write(a_request("Wrong.", source=Source(conversation_id="chat"))).results
    house.graphmem.gateway.execute(
        ChangeStatus(memory=gone.memory, status=Status.RETRACTED, reason=None), house.caller
    )
    lines = [
        json.dumps({"memory": {k: v for k, v in value.items() if k != "turns"}})
        for line in export_lines(house.graphmem.transfers, space(house))
        for kind, value in json.loads(line).items()
        if kind == "memory"
    ]

    list(import_lines(house.graphmem.transfers, lines, space(house, "bob"), caller=house.caller))

    assert 0 == keeper(house).conversations.page(space(house, "bob"), limit=5).total


def test_a_room_remembers_what_it_says_in_its_conversation(house):
    graphmem, said = house.graphmem, saying("Tea.")
    said = replace(said, uid="t")
    requests = remembered(space(house), "chat", said, "m")
    ready = graphmem.writing.preparation.embed(
        graphmem.writing.preparation.check(requests, house.caller)
    )
    operation = AppendTurns(
        space=space(house),
        conversation_id="chat",
        sayings=[said],
        policy=graphmem.policy,
        items=ready.items,
        vectors=ready.vectors,
        kept_by="notes",
    )

    (kept,) = graphmem.gateway.execute(operation, house.caller).answer

    assert ("m",) == kept.memories


KILLED = """
import sys
from graphmem.adapters.clock import SystemClock
from graphmem.adapters.embedders import HashEmbedder
from graphmem.bootstrap import build
from graphmem.conversations.keeper import ConversationKeeper
from graphmem.model.caller import Caller, Role
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.space import Space, SpaceKind
from graphmem.settings import load_settings
from graphmem.store.connection import Connection

uri, user, password, tenant = sys.argv[1:]
connection = Connection(uri, user=user, password=password)
built = build(load_settings({}), connection, embedder=HashEmbedder())
space = Space(tenant=tenant, kind=SpaceKind.USER, owner="ada")
caller = Caller(key_id="k", tenant=tenant, role=Role.ADMIN, spaces=("*",))
keeper = built.of(ConversationKeeper)
for number in range(10_000):
    said = Saying(uid="", role=TurnRole.USER, content=f"Tea {number}.", message_id=f"m-{number}")
    keeper.append(space, "chat", [said], caller=caller, remember=True)
    print(number, flush=True)
"""


def test_a_writer_that_is_killed_leaves_no_turn_without_its_memory(house, neo4j_address):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, *neo4j_address, house.caller.tenant],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        acknowledged = [int(process.stdout.readline()) for _ in range(10)]
        process.kill()

    turns = pages(house, limit=50)
    assert [f"m-{number}" for number in acknowledged] == [turn.message_id for turn in turns][:10]
    assert {1} == {len(turn.memories) for turn in turns}
    assert [(len(turns),)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN count(m)"
    )
