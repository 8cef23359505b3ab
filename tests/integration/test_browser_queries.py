"""The saved queries for Neo4j Browser, on a real graph with the demo in it."""

import json
from functools import partial
from pathlib import Path

import pytest
from corpora import a_corpus
from neo4j.graph import Path as GraphPath
from sessions import Session

from api.memories.schemas import MemoryRequest, write_request
from graphmem.companion.keeper import CompanionKeeper
from graphmem.corpus.drafting import DraftChange
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.corpus.push_plan import PushRequest
from graphmem.demo import SPACE, requests
from graphmem.gateway.relations import RelationRequest
from graphmem.governance.keeper import GovernanceKeeper
from graphmem.governance.owners import owners_of
from graphmem.governance.request import CallRequest
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.corpus import Basis
from graphmem.model.space import parse_space

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "cypher" / "browser"
EXAMPLE = ROOT / "docs" / "browser" / "example.json"
RELATION = ROOT / "docs" / "browser" / "relation.json"
QUERIES = sorted(FOLDER.glob("*.cypher"))
TURN = ROOT / "docs" / "browser" / "turn.json"
WAITING = "This one waits for its vectors."


@pytest.fixture
def filled(house):
    """The demo and the page's example in the test's own tenant, one memory without vectors."""
    items = json.loads(EXAMPLE.read_text("utf-8"))["items"]
    report = house.write(*requests())
    example = house.write(*(write_request(MemoryRequest().load(item)) for item in items))
    assert [None] == sorted({result.error for result in (*report.results, *example.results)})
    values = json.loads(RELATION.read_text("utf-8"))
    asked = RelationRequest(
        space=parse_space(values["space"], tenant=house.caller.tenant),
        start=values["from"],
        end=values["to"],
        label=values["label"],
    )
    assert house.graphmem.relation_keeper.post(asked, caller=house.caller).answer.is_new
    turn = json.loads(TURN.read_text("utf-8"))
    session = Session(house, turn["space"], turn["session"])
    session.want(memory_boxes_enabled=True, trace_weaver_enabled=True)
    assert 1 == len(session.read(turn["content"]).kept.facts)
    speak_with_a_persona(house)
    call_under_a_contract(house)
    push_a_corpus(house)
    house.embedder.is_broken = True
    house.write(write_request({"space": SPACE, "content": WAITING}))
    house.embedder.is_broken = False
    return house


def speak_with_a_persona(house):
    """One message of a companion."""
    keeper, caller = house.graphmem.of(CompanionKeeper), house.caller
    keeper.save_persona("coach", {"name": "Coach"}, caller=caller)
    said = Saying(uid="", role=TurnRole.USER, content="I live in Rome.", message_id="m-1")
    space = parse_space("user:ada/coach", tenant=caller.tenant)
    assert keeper.messages.say(space, said, caller=caller, judges_now=True).verdict.facts


def call_under_a_contract(house):
    """Two governed calls of a session, the second of which corrects the first."""
    keeper, caller = house.graphmem.of(GovernanceKeeper), house.caller
    keeper.save_contract("assistant", {"short_term": 2, "profile": True}, caller=caller)
    owners = owners_of(caller.tenant, {"user": {"id": "s1"}}, {})
    for said in ("My name is Ada.", "Actually, my name is Bob."):
        request = CallRequest(profile="assistant", owners=owners, input=said, output="I see.")
        assert keeper.call(request, caller=caller).written


def push_a_corpus(house):
    """A profile of a career corpus that somebody approved."""
    keeper, caller = house.graphmem.of(CorpusKeeper), house.caller
    space = parse_space("corpus:ada", tenant=caller.tenant)
    keeper.bootstrap(space, "t-1", (), caller=caller)
    corpus = a_corpus()
    change = partial(keeper.change_draft, space, "default", words=(), caller=caller)
    change(lambda _: DraftChange(corpus=corpus))
    for section, standing in keeper.draft(space, "default").sections.items():
        keeper.approve(
            space,
            "default",
            section,
            shown=standing.content_sha256,
            basis=Basis.CURRENT_CHAT,
            approved=True,
            caller=caller,
        )
    assert keeper.push(space, "default", PushRequest(), caller=caller).persisted


def ask(house, name):
    """The rows of a saved query, as its file has it but for the space."""
    text = (FOLDER / f"{name}.cypher").read_text("utf-8")
    return house.rows(text.replace("'main/", f"'{house.caller.tenant}/"))


def ends(rows):
    """The contents at both ends of the only column's paths, in their order."""
    return [(path.start_node["content"], path.end_node["content"]) for (path,) in rows]


def test_every_query_shows_something_of_the_demo_and_only_of_its_space(filled):
    for path in QUERIES:
        assert ask(filled, path.stem), path.name
        other = path.read_text("utf-8").replace("'main/", f"'{filled.caller.tenant}-other/")
        assert [] == filled.rows(other), path.name


def test_the_conversation_is_one_chain_of_all_its_turns(filled):
    ((turns,),) = ask(filled, "conversation")

    said = [node["content"] for node in turns.nodes[1:]]
    assert [request.content for request in requests()] == said[::-1]
    assert ["LAST", *["NEXT"] * 59] == [relation.type for relation in turns.relationships]


def test_an_entity_stands_in_the_middle_of_its_memories(filled):
    mentions = [path for (path,) in ask(filled, "entity")]

    assert {"person:mira"} == {path.end_node["entity_key"] for path in mentions}
    assert 4 == len(mentions)


def test_a_memory_comes_with_everything_that_hangs_on_it(filled):
    text = (FOLDER / "memory.cypher").read_text("utf-8").replace("'kiln'", "'MAY 9th'")
    rows = filled.rows(text.replace("'main/", f"'{filled.caller.tenant}/"))

    around = sorted((path.relationships[0].type, *path.nodes[1].labels) for _, path in rows)
    assert [
        ("CLAIMS", "ClaimKey"),
        ("HAS_REVISION", "Revision"),
        *[("MENTIONS", "Entity")] * 3,
        *[("OF", "Chunk")] * 3,
    ] == around


def test_what_was_superseded_stands_behind_what_superseded_it(filled):
    assert [("Mira mixes her glaze herself.", "Mira buys her glaze in Lisbon.")] == ends(
        ask(filled, "superseded")
    )


def test_a_contradiction_is_open_until_one_of_both_is_put_away(filled):
    pair = ("Jonas says that he never races.", "Jonas wants to swim the lake race in August.")
    assert [pair] == ends(ask(filled, "contradictions"))

    filled.write(
        write_request({"space": SPACE, "content": "Jonas gave the race up.", "updates": ["race-1"]})
    )

    assert [] == ask(filled, "contradictions")


def test_the_history_shows_each_earlier_text_and_its_vectors(filled):
    later = "The workshop opens on May 16th. Leila comes from Lisbon."
    filled.clock.advance(seconds=1)
    filled.write(write_request({"space": SPACE, "uid": "opening", "content": later}))

    found = [
        (memory["content"], revision["content"][:28], set(chunk.labels) if chunk else None)
        for memory, _, revision, _, chunk in ask(filled, "history")
        if memory["uid"] == "opening"
    ]
    assert [
        *[(later, "The workshop opens on May 9t", {"FormerChunk"})] * 3,
        (
            later,
            "The workshop opens on May 2n",
            None,
        ),  # written and revised at once: it never had vectors
    ] == found


def test_the_counts_are_of_each_type_and_status(filled):
    space = f"{filled.caller.tenant}/{SPACE}"

    assert [
        (space, "Decision", "active", 1),
        (space, "Event", "active", 1),
        (space, "Fact", "active", 62),
        (space, "Fact", "superseded", 1),
        (space, "Goal", "active", 1),
        (space, "Observation", "active", 1),
        (space, "Todo", "active", 1),
    ] == [row[:4] for row in ask(filled, "counts")]


def test_the_most_mentioned_entity_comes_first(filled):
    assert [
        ("person:mira", 4, 3),
        ("person:jonas", 2, 2),
        ("place:lisbon", 2, 1),
        ("person:leila", 1, 1),
    ] == [
        (entity, mentions, active) for entity, _, mentions, active, _ in ask(filled, "top_entities")
    ]


def test_entities_that_share_memories_come_closest_pair_first(filled):
    paths = [path for (path,) in ask(filled, "together")]

    assert all(isinstance(path, GraphPath) for path in paths)
    pairs = [tuple(sorted(path.nodes[at]["entity_key"] for at in (0, 2))) for path in paths]
    assert 2 == pairs.count(("person:mira", "place:lisbon"))
    assert 4 == len(pairs)


def test_what_waits_for_vectors_is_shown_until_it_has_them(filled):
    assert [WAITING] == [memory["content"] for (memory,) in ask(filled, "waiting")]

    filled.graphmem.runner.run("embed_pending")

    assert [] == ask(filled, "waiting")


def test_the_last_write_comes_with_its_memory_and_who_wrote_it(filled):
    filled.clock.advance(seconds=1)
    filled.write(write_request({"space": SPACE, "content": "Said last."}))
    filled.recall("What was said last?", SPACE)
    filled.graphmem.journal.flush()

    _, kind, by, memories, events, _ = ask(filled, "last_writes")[0]
    assert ("write", "test", ["Said last."]) == (kind, by, memories)
    assert ["created"] == [event["outcome"] for event in json.loads(events)]


def test_a_refused_write_stands_among_the_last_writes_with_its_code(filled):
    filled.clock.advance(seconds=1)
    filled.write(write_request({"space": SPACE, "content": "my password: hunter2hunter2"}))

    _, _, _, memories, events, _ = ask(filled, "last_writes")[0]
    assert ([], ["screening_secret"]) == (memories, [event["code"] for event in json.loads(events)])


def test_only_what_expires_is_listed_with_its_moment(filled):
    ((content, kind, expires, _, _),) = ask(filled, "expiring")

    assert ("Mira renews the lease of the workshop before it ends.", "Todo") == (content, kind)
    assert "2031-03-15" == expires.iso_format()[:10]


def test_turns_stand_with_their_conversation_and_what_is_remembered_of_each(filled):
    rows = ask(filled, "said")

    assert {f"{filled.caller.tenant}/{SPACE}|demo"} == {row[0]["key"] for row in rows}
    assert [turn["number"] for _, _, turn, _, _ in rows] == list(range(len(rows), 0, -1))
    assert [turn["content"] for _, _, turn, _, _ in rows] == [row[4]["content"] for row in rows]
