"""A space as a folder of Markdown files, and folders of others into a space (003, Files)."""

import json
import os
import random
import re

import pytest
from builders import a_request
from sessions import Session

from graphmem.companion.keeper import CompanionKeeper
from graphmem.errors import InvalidInput
from graphmem.gateway.declaring import EntityRequest
from graphmem.gateway.edges import DrawEdge, EdgeRequest
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.lifecycle.feedback import Opinion
from graphmem.lifecycle.files.folder import FILE_MAX_BYTES
from graphmem.lifecycle.files.moving import export_folder, import_folder
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.edge import EdgeType
from graphmem.model.entity import EntityRef
from graphmem.model.memory import Status
from graphmem.model.tokens import epoch_ms
from graphmem.model.writing import OnSameKey, Outcome
from graphmem.text.statements import statement_hash

SIGNS = [
    *"ab 1:#-'\"\\{}[]|>&*!%@`~,?",
    "\n",
    "\r\n",
    "\t",
    "---\n",
    "\n\n",
    "# ",
    "- ",
    "é",
    "\u2028",
]
SIGNS += [
    "\x85",
    "\ufeff",
    "🦀",
    "日",
    "no",
    "null",
    "2026-03-01",
    "<!-- ",
    " -->",
    "\u202e",
    "\x7f",
]
NASTY = (
    "---\nid: other\n---\n\nNot front matter.",
    "# Heading\n\n## Facts\n\n- a: b",
    "    indented\r\n\r\n\r\nlines\u2028and \x85 others",
    "no",
    "🦀 <!-- reflection {} --> ünïcødé",
)


@pytest.fixture
def ada(house):
    return Session(house)


def put(session, folder):
    """Export a space into a folder."""
    graphmem = session.house.graphmem
    counts = export_folder(
        graphmem, graphmem.transfers, session.space, folder, report=lambda _: None
    )
    return dict(counts)


def take(session, folder):
    """Import a folder into a space: how many had each outcome, and the problems."""
    graphmem, caller = session.house.graphmem, session.house.caller
    steps = import_folder(graphmem, graphmem.transfers, session.space, folder, caller=caller)
    *_, done = [None, *steps]
    return (dict(done.counts), done.problems) if done else ({}, [])


def tree(folder):
    """The bytes of all files of a folder, by path; hidden ones are no part of an export."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def a_history(session):
    house = session.house
    session.want(
        memory_boxes_enabled=True,
        trace_weaver_enabled=True,
        verbatim_artifacts_enabled=True,
        episode_note_mode_enabled=True,
        threading_enabled=True,
        intent_routing_enabled=True,
        chunking_enabled=True,
        feedback_enabled=True,
    )
    session.fact("We decided to use Neo4j for storage.")
    session.fact("FYI I live in Lyon and I work at Siemens.")
    house.clock.advance(hours=2)
    session.fact("I prefer green tea over coffee.")
    session.say("My birthday is June 3.", "I drink my coffee black.")
    session.say("Actually, my birthday is July 3, not June 3.")
    session.say(" ".join(f"I always keep notebook {number} on my desk." for number in range(25)))
    session.fact("FYI maybe I could perhaps move to Rome someday.")
    house.clock.advance(hours=2)
    session.fact("We agreed on Fridays off, all of us.")
    bundle = house.recall("What is used for storage?")
    opinion = Opinion(uid=bundle.items[0].memory.uid, useful=True, trace_id=bundle.trace_id)
    session.keeper.feedback.give(opinion, caller=house.caller)
    session.say("Something that waits.")
    notebooks = session.keeper.notebooks
    notebooks.reflect(session.space, "I am slow.\n\n<!-- reflection {} -->", caller=house.caller)
    house.clock.advance(hours=2)
    notebooks.reflect(session.space, "Ends with lines.\n\n# And a heading", caller=house.caller)
    (asked, *_) = notebooks.question_page(session.space, None, limit=9, is_open=True).items
    notebooks.resolve(session.space, asked.uid, "Yes: no", caller=house.caller)
    by_uid = [
        a_request(text, uid=f"n-{number}", tags=("a: b", "no"), metadata={"x": [1.5, None]})
        for number, text in enumerate(NASTY)
    ]
    house.write(*by_uid)
    house.write(a_request("Jane likes tea.", entities=(EntityRef(key="person:jane"),)))
    for status, uid in ((Status.ARCHIVED, "n-0"), (Status.RETRACTED, "n-1")):
        session.put_away(uid, status)
    edge = EdgeRequest(
        space=session.space,
        from_uid="n-2",
        to_uid="n-3",
        type=EdgeType.CAUSED_BY,
        weight=0.3,
        reason="why: so",
    )
    house.graphmem.gateway.execute(DrawEdge(request=edge), house.caller)
    request = EntityRequest(
        name="Jane Doe",
        aliases=("JD", "Janey"),
        description="Line one.\n\n## Not a section",
        attributes={"n": {"m": [1]}},
        given=frozenset({"name", "aliases", "description", "attributes"}),
    )
    register = house.graphmem.entity_register
    for type_ in ("org", "company", "a_b"):
        one = EntityRequest(
            name="Acme", aliases=(f"A{type_}",), given=frozenset({"name", "aliases"})
        )
        register.declare(session.space, type_, one, caller=house.caller)
    register.declare(session.space, "person", request, caller=house.caller)
    summary = {"from": "n-3", "type": "SUMMARY_OF", "to": "n-4"}
    *_, done = import_lines(
        house.graphmem.transfers,
        [json.dumps({"lineage": summary})],
        session.space,
        caller=house.caller,
    )
    assert {"lineage": 1} == dict(done.counts)


def test_a_space_goes_through_a_folder_and_comes_back_byte_by_byte(ada, tmp_path):
    a_history(ada)
    lines = list(export_lines(ada.house.graphmem.transfers, ada.space))
    written = put(ada, tmp_path / "one")
    again = Session(ada.house, "user:again")
    counts, problems = take(again, tmp_path / "one")
    put(again, tmp_path / "two")

    assert [] == problems
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert sorted(lines) == sorted(export_lines(ada.house.graphmem.transfers, again.space))
    assert written["memory"] == counts["created"]
    assert {"failed", "left_out"}.isdisjoint(counts)


def test_any_contents_go_through_a_folder_and_come_back_byte_by_byte(ada, tmp_path):
    signs = random.Random(7)  # noqa: S311 - no secret

    def a_text(most):
        return "".join(signs.choices(SIGNS, k=signs.randint(1, most)))

    requests = []
    for number in range(150):
        native = {"category": a_text(9), "keywords": [a_text(4)], "parent": a_text(3), "x": None}
        request = a_request(
            a_text(60),
            uid=f"r-{number}",
            tags=(a_text(8), a_text(8)),
            summary=a_text(20),
            actor=a_text(8),
            metadata={a_text(6): a_text(6), "n": signs.random()},
            native=signs.choice([None, native, {"kind": "note"}]),
            importance=signs.randint(0, 100),
            confidence=signs.random(),
            valid_from=signs.choice([None, ada.house.clock.now()]),
        )
        requests.append(request)
    ada.house.write(*requests)
    put(ada, tmp_path / "one")
    again = Session(ada.house, "user:again")
    counts, problems = take(again, tmp_path / "one")
    put(again, tmp_path / "two")

    assert [] == problems
    assert counts["created"] > 100
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert sorted(ada.memories()) == sorted(again.memories())


def test_the_layout_of_003_is_written_whole(ada, tmp_path):
    a_history(ada)
    put(ada, tmp_path)
    found = {re.sub(r"\d{4}-\d\d-\d\d", "DAY", path.rpartition("/")[0]) for path in tree(tmp_path)}

    assert (
        set(
            "facts/DAY corrections artifacts/DAY archive/DAY boxes/DAY entities questions threads"
            " summaries config state".split()
        )
        | {""}
        == found
    )
    named = tree(tmp_path).keys()
    assert {"profile.md", "IDENTITY.md", "config/aliases.json"} <= named
    names = ("buffer.json", "meta.json", "topics.json", "fact-hashes.txt", "trace-index.json")
    assert {f"state/{name}" for name in names} <= named
    files = tree(tmp_path).values()
    assert any(b"\nparentId: " in each and b"\npart: 1\n" in each for each in files)
    hashes = (tmp_path / "state/fact-hashes.txt").read_text().split()
    assert statement_hash("I prefer green tea over coffee.") in hashes
    assert hashes == sorted(set(hashes))


def test_a_second_import_and_a_second_export_change_nothing(ada, tmp_path):
    a_history(ada)
    put(ada, tmp_path / "one")
    before = tree(tmp_path / "one")
    lines = list(export_lines(ada.house.graphmem.transfers, ada.space))
    counts, problems = take(ada, tmp_path / "one")
    put(ada, tmp_path / "one")

    assert ({"unchanged"}, []) == (set(counts), problems)
    assert lines == list(export_lines(ada.house.graphmem.transfers, ada.space))
    assert before == tree(tmp_path / "one")


def test_what_is_there_stays_as_it_is_and_the_rest_comes_in(ada, tmp_path):
    a_history(ada)
    put(ada, tmp_path / "one")
    again = Session(ada.house, "user:again")
    ada.house.write(a_request("Other words.", uid="n-2", space="user:again", importance=3))
    counts, problems = take(again, tmp_path / "one")

    assert [] == problems
    assert len(ada.memories()) - 1 == counts["created"]
    assert ("Other words.", 3) == (again.memory("n-2").content, again.memory("n-2").importance)


def test_an_export_takes_away_what_only_an_earlier_one_wrote(ada, tmp_path):
    a_history(ada)
    put(ada, tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "README.md").write_text("Mine.")
    (old,) = (tmp_path / "archive").rglob("*.md")
    ada.put_away("n-0", Status.ACTIVE)
    put(ada, tmp_path)

    assert not old.parent.exists()
    assert (tmp_path / ".git").is_dir()
    assert "Mine." == (tmp_path / "README.md").read_text()
    assert list(tmp_path.rglob(f"facts/*/{old.name}"))
    assert (tmp_path / "state/manifest.txt").read_text().splitlines() == sorted(
        path for path in tree(tmp_path) if path not in {"README.md", "state/manifest.txt"}
    )


def test_a_folder_of_somebody_else_is_not_written_into(ada, tmp_path):
    (tmp_path / "notes.txt").write_text("Mine.")

    with pytest.raises(InvalidInput) as error:
        put(ada, tmp_path)
    assert "notes.txt" in error.value.fields["folder"][0]
    assert ["notes.txt"] == [path.name for path in tmp_path.iterdir()]


def test_an_export_that_did_not_end_is_not_imported_and_is_mended_by_the_next(ada, tmp_path):
    a_history(ada)
    put(ada, tmp_path)
    whole = tree(tmp_path)
    left = tmp_path / "facts/1999-01-01/fact-1-a.md"
    left.parent.mkdir()
    left.write_text("Half of an earlier one.")
    (tmp_path / "state/manifest.part").write_text("facts/1999-01-01/fact-1-a.md\n../../x.md\n")

    with pytest.raises(InvalidInput):
        take(ada, tmp_path)
    put(ada, tmp_path)
    assert whole == tree(tmp_path)


@pytest.mark.parametrize("path", ["facts", "profile.md", "state", "state/links.jsonl"])
def test_an_export_does_not_write_through_a_link(ada, tmp_path, path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    ada.fact("We decided to use Neo4j for storage.")
    outside.mkdir()
    (outside / "profile.md").write_text("Mine.")
    put(ada, inside)
    is_folder = (inside / path).is_dir()
    (inside / path).rename(tmp_path / "gone")
    (inside / path).symlink_to(outside if is_folder else outside / "profile.md")
    before = tree(outside)

    with pytest.raises(InvalidInput) as error:
        put(ada, inside)
    assert "folder" in error.value.fields
    assert before == tree(outside)


def test_an_export_does_not_take_the_folder_of_another_space(ada, tmp_path):
    ada.fact("We decided to use Neo4j for storage.")
    put(ada, tmp_path / "in")
    before = tree(tmp_path / "in")

    with pytest.raises(InvalidInput) as error:
        put(Session(ada.house, "user:bob"), tmp_path / "in")
    assert "user:ada" in str(error.value.fields)
    assert before == tree(tmp_path / "in")


def test_an_export_that_is_stopped_does_not_pass_for_a_whole_one(ada, tmp_path):
    for number in range(3):
        texts = (f"Fact {number}-{each} is about tea." for each in range(70))
        ada.house.write(*map(a_request, texts))

    class StopError(Exception):
        pass

    def stop(_):
        raise StopError

    graphmem = ada.house.graphmem
    with pytest.raises(StopError):
        export_folder(graphmem, graphmem.transfers, ada.space, tmp_path, report=stop)
    assert list(tmp_path.rglob("facts/*/*.md"))
    with pytest.raises(InvalidInput) as error:
        take(Session(ada.house, "user:again"), tmp_path)
    assert "did not come to its end" in error.value.fields["folder"][0]


def test_what_a_persona_keeps_of_a_conversation_is_not_in_the_folder_of_its_space(house, tmp_path):
    companion, session = house.graphmem.of(CompanionKeeper), Session(house, "user:ada/coach")
    companion.save_persona("coach", {"name": "Coach"}, caller=house.caller)
    said = Saying(uid="", role=TurnRole.USER, content="I will call Nora.", message_id="m-1")
    companion.messages.say(session.space, said, caller=house.caller, judges_now=True)
    house.write(a_request("A plain one.", space="user:ada/coach"))
    written = put(session, tmp_path / "one")
    again = Session(house, "user:again/coach")
    counts, problems = take(again, tmp_path / "one")
    put(again, tmp_path / "two")

    assert 1 == written["memory"]
    assert ({"created": 1}, []) == (counts, problems)
    assert not any(b"Nora" in text for text in tree(tmp_path / "one").values())
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_nothing_that_a_room_keeps_or_that_leads_to_other_spaces_comes_from_a_folder(ada, tmp_path):
    lineage = {"from": "a", "from_space": "user:ada", "to": "b", "to_space": "user:bob"}
    turns = {"id": "c", "kept_by": "companion"}
    lay(
        tmp_path,
        {
            "facts/2026-01-02/fact-1-a.md": "---\nid: a\ngraphmem: {kept_by: companion}\n---\nA.\n",
            "state/lineage.jsonl": json.dumps(lineage | {"type": "PROMOTED_FROM"}),
            "state/conversations.jsonl": json.dumps(turns),
        },
    )
    counts, problems = take(ada, tmp_path)

    assert {"failed": 3} == counts
    assert all("Is not taken from a folder." in each for each in problems)


def test_what_is_said_again_after_an_import_is_known_also_beside_the_same_put_away(ada, tmp_path):
    for status in (Status.ARCHIVED, Status.ACTIVE):
        ada.house.clock.advance(hours=30)
        (written,) = ada.house.write(a_request("Ada likes tea.")).results
        if status is not Status.ACTIVE:
            ada.put_away(written.memory.uid, status)
    put(ada, tmp_path)
    again = Session(ada.house, "user:again")
    take(again, tmp_path)
    (said,) = ada.house.write(a_request("Ada likes tea.", space="user:again")).results

    assert sorted(ada.memories()) == sorted(again.memories())
    assert (Outcome.REINFORCED, written.memory.uid) == (said.outcome, said.memory.uid)


def test_what_rooms_keep_is_not_in_the_folder(house, tmp_path):
    session = Session(house)
    kept = a_request("Kept by a room.", uid="kept", kept_by="companion", native={"a": 1})
    house.write(kept, a_request("Plain.", uid="plain"))
    written = put(session, tmp_path)

    assert (1, 1) == (written["memory"], written["left_out"])
    assert not any(b"Kept by" in text for text in tree(tmp_path).values())


# a folder in the naming of the source system, with what people leave in one


FACT = """---
id: preference-1767312000000-a1b2
category: preference
created: 2026-01-02T00:00:00.000Z
updated: 2026-01-03
source: extraction
confidence: 0.95
confidenceTier: explicit
importanceScore: 0.77
importanceLevel: high
importanceReasons: [preference, first person]
status: active
tags: [tea, no]
entityRef: person-ada
customKey: [whatever]
---

Ada prefers green tea.
"""
PART = """---
id: fact-1767312000001-c3d4
category: fact
memoryKind: episode
created: 1767312000001
confidence: 0.5
parentId: preference-1767312000000-a1b2
boxId: box-7
status: archived
---
Ada drank tea in Lyon.\r
Twice.
"""
BARE = "---\ncategory: moment\n---\nThe kettle broke.\n"
BOX = """---
id: box-7
memoryKind: box
createdAt: 2026-01-02T00:00:00Z
sealedAt: 2026-01-02T01:00:00Z
sealReason: time_gap
topics: [tea, lyon]
memoryIds: [preference-1767312000000-a1b2, fact-1767312000001-c3d4]
traceId: trace-12345678
---
"""
ENTITY = """---
type: person
updated: 2026-01-03T10:00:00Z
---
# Ada Lovelace

Likes tea.

## Facts

- Ada prefers green tea.

## Connections

- [[person-bob]] (works with)
- lives in: place-lyon
- nothing that can be read
"""
ARTEFACT = """---
id: artifact-1
artifactType: principle
sourceMemoryId: preference-1767312000000-a1b2
created: 2026-01-02
---
Always green tea.
"""
WAITING = {
    "turns": [
        {"role": "user", "content": "My cat is called Miso.", "timestamp": 1767312000000},
        {"role": "assistant", "content": "Nice."},
    ],
    "lastExtractionAt": "2026-01-01T00:00:00Z",
    "extractionCount": 3,
}
FOLDER = {
    "facts/2026-01-02/preference-1767312000000-a1b2.md": FACT,
    "facts/2026-01-05/moment-1767571200000-e5f6.md": BARE,
    "archive/2026-01-02/fact-1767312000001-c3d4.md": PART,
    "boxes/2026-01-02/box-7.md": BOX,
    "entities/person-ada.md": ENTITY,
    "config/aliases.json": '{"ada-l": "person-ada", "Countess": "person-ada"}',
    "state/trace-index.json": (
        '{"traces": {"trace-12345678": {"topics": ["tea"], "lastSeen": "2026-01-02T01:00:00Z"}}}'
    ),
    "artifacts/2026-01-02/artifact-1.md": ARTEFACT,
    "state/buffer.json": json.dumps(WAITING),
    "state/fact-hashes.txt": "aa\nbb\n",
    "state/topics.json": "{}",
    "profile.md": "# Profile\n\n## Drinks\n\n- Ada prefers green tea\n- Nobody said this.\n",
    "IDENTITY.md": "# Identity\n\n## 2026-01-04\n\nI answer briefly.\n",
}


def lay(folder, files):
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())


def test_a_folder_of_the_source_system_moves_in(ada, tmp_path):
    lay(tmp_path, FOLDER)
    counts, problems = take(ada, tmp_path)

    assert ["profile.md line 6"] == [each.partition(":")[0] for each in problems]
    assert {
        "created": 3,
        "boxes": 1,
        "entities": 1,
        "topic_traces": 1,
        "edges": 1,
        "relations": 2,
        "artefacts": 1,
        "turns": 3,
        "buffers": 1,
    }.items() <= counts.items()
    fact = ada.memory("preference-1767312000000-a1b2")
    assert ("Ada prefers green tea.", 77, 0.95, ("tea", "no"), "preference", Status.ACTIVE) == (
        *(fact.content, fact.importance, fact.confidence, fact.tags, fact.category, fact.status),
    )
    assert ("2026-01-02", "2026-01-03") == (
        str(fact.created_at.date()),
        str(fact.updated_at.date()),
    )
    assert ["person:ada"] == [ref.key for ref in fact.entities]
    part = ada.memory("fact-1767312000001-c3d4")
    assert ("Ada drank tea in Lyon.\nTwice.", Status.ARCHIVED, True) == (
        *(part.content, part.status, part.is_episode),
    )
    assert "2026-01-05" == str(ada.memory("moment-1767571200000-e5f6").created_at.date())
    notebooks = ada.keeper.notebooks
    (artefact,) = notebooks.artefacts.of_space(ada.space)
    assert ("Always green tea.", fact.uid, "constraint") == (
        *(artefact.text, artefact.memory, artefact.type),
    )
    (done,) = ada.keeper.flush(ada.space, None, caller=ada.house.caller)
    assert ["My cat is called Miso."] == [each.content for each in done.extraction.kept.facts]
    relations = ada.house.rows(
        "MATCH (a:Entity)-[r:RELATION]->(b:Entity) WHERE a.space STARTS WITH $tenant"
        " RETURN a.entity_key, r.label, b.entity_key ORDER BY b.entity_key"
    )
    assert [
        ("person:ada", "works with", "person:bob"),
        ("person:ada", "lives in", "place:lyon"),
    ] == (relations)
    (box,) = notebooks.boxes.of_space(ada.space)
    assert ("box-7", "trace-12345678", 2) == (box.uid, box.trace, len(box.members))
    (line,) = notebooks.profile(ada.space)
    assert ("Ada prefers green tea.", (fact.uid,)) == (line.text, line.uids)
    assert ["I answer briefly."] == [each.text for each in notebooks.identity(ada.space)]
    rows = ada.house.rows(
        "MATCH (e:Entity {entity_key: 'person:ada'}) WHERE e.space STARTS WITH $tenant"
        " RETURN e.label, e.description, e.aliases"
    )
    assert [("Ada Lovelace", "Likes tea.", ["ada-l", "Countess"])] == rows
    parts = ada.house.rows(
        "MATCH (a:Memory)-[:PART_OF]->(b:Memory) WHERE a.space STARTS WITH $tenant"
        " RETURN a.uid, b.uid"
    )
    assert [(part.uid, fact.uid)] == parts


def test_a_folder_of_the_source_system_goes_out_and_comes_back_byte_by_byte(ada, tmp_path):
    lay(tmp_path / "in", FOLDER)
    take(ada, tmp_path / "in")
    before = list(export_lines(ada.house.graphmem.transfers, ada.space))
    again, _ = take(ada, tmp_path / "in")
    put(ada, tmp_path / "one")
    other = Session(ada.house, "user:again")
    _, problems = take(other, tmp_path / "one")
    put(other, tmp_path / "two")

    assert {"unchanged", "failed"} == set(again)
    assert before == list(export_lines(ada.house.graphmem.transfers, ada.space))
    assert [] == problems
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert (tmp_path / "one/facts/2026-01-02/preference-1767312000000-a1b2.md").is_file()


BROKEN = {
    "facts/2026-01-06/fact-1-bad1.md": "---\nid: [\n---\nBroken YAML.\n",
    "facts/2026-01-06/fact-1-bad2.md": "---\nid: never ends\n\nNo end.\n",
    "facts/2026-01-06/fact-1-bad3.md": "No front matter.\n",
    "facts/2026-01-06/fact-1-bad4.md": b"---\nid: latin\n---\n\xe4\xf6\n",
    "facts/2026-01-06/fact-1-bad5.md": "---\nid: a b\n---\nA uid with a blank.\n",
    "facts/2026-01-06/fact-1-bad6.md": "---\nid: d\ncreated: tomorrow\n---\nNo time.\n",
    "facts/2026-01-06/fact-1-bad7.md": "---\nid: e\nconfidence: 7\n---\nToo sure.\n",
    "facts/2026-01-06/fact-1-bad8.md": "---\nid: f\n---\n\n",
    "facts/2026-01-06/fact-1-bad9.md": "---\nx: &a [1, 2]\ny: [*a, *a]\n---\nAn alias.\n",
    "facts/2026-01-06/fact-1-bada.md": '---\nid: "\\udfff"\n---\nHalf a character.\n',
    "facts/2026-01-06/photo.png": b"\x89PNG",
    "facts/2026-01-06/two-1-twin.md": "---\nid: preference-1767312000000-a1b2\n---\nTwin.\n",
    "facts/2026-99-99/fact-1-day0.md": "---\nid: no-day\n---\nA day that there is not.\n",
    "boxes/2026-01-06/box-8.md": "---\nid: box-8\nsealReason: because\n---\n",
    "questions/q.md": "---\nid: q\n---\nWhat of?\n",
    "config/other.json": "{}",
    "state/conversations.jsonl": '{"id": "\\ud800"}\n',
    "state/links.jsonl": '{"from": "gone", "to": "too", "type": "RELATED_TO"}\nnot json\n[]\n',
    "state/buffer.json": '{"turns": ["What?"], "extractionCount": 1}',
    "notes/mine.md": "Mine.",
    "README.txt": "Mine.",
}


def test_what_is_broken_or_no_part_of_the_layout_is_named_and_all_else_comes_in(ada, tmp_path):
    lay(tmp_path, FOLDER | BROKEN)
    counts, problems = take(ada, tmp_path)
    named = {each.partition(":")[0].partition(" line")[0] for each in problems}

    left_out = (BROKEN.keys() - {"facts/2026-99-99/fact-1-day0.md", "notes/mine.md"}) | {
        "notes",
        "profile.md",
    }
    assert left_out == named
    assert (4, 1) == (counts["created"], counts["boxes"])
    assert "Ada prefers green tea." == ada.memory("preference-1767312000000-a1b2").content


def test_links_and_special_files_are_named_and_nothing_behind_them_is_read(ada, tmp_path):
    outside, inside = tmp_path / "out", tmp_path / "in"
    secret = "---\nid: secret\n---\nA secret outside of the folder.\n"
    lay(outside, {"a.md": secret, "facts/b.md": secret, "table.json": '{"a": ["b"]}'})
    lay(inside, FOLDER)
    (inside / "config/aliases.json").unlink()
    (inside / "profile.md").unlink()
    (inside / "facts/link.md").symlink_to(outside / "a.md")
    (inside / "facts/links").symlink_to(outside)
    (inside / "corrections").symlink_to(outside / "facts")
    (inside / "config/aliases.json").symlink_to(outside / "table.json")
    (inside / "profile.md").symlink_to(outside / "a.md")
    os.mkfifo(inside / "facts/pipe.md")
    counts, problems = take(ada, inside)

    named = {each.partition(":")[0] for each in problems}
    assert {
        *("facts/link.md", "facts/links", "facts/pipe.md"),
        *("corrections", "config/aliases.json", "profile.md"),
    } == named
    assert 3 == counts["created"]
    assert not any("secret" in content for content, _ in ada.memories())


def test_a_file_that_is_too_large_is_named(ada, tmp_path):
    lay(tmp_path, {"facts/2026-01-02/fact-1-a.md": ""})
    with (tmp_path / "facts/2026-01-02/fact-1-a.md").open("r+b") as large:
        large.truncate(FILE_MAX_BYTES + 1)
    lay(tmp_path, {"facts/2026-01-02/fact-2-b.md": "---\nid: b\n---\nSmall.\n"})
    counts, problems = take(ada, tmp_path)

    assert 1 == counts["created"]
    said = "file: Has 32,000,001 bytes, at most 32,000,000 are read."
    assert [f"facts/2026-01-02/fact-1-a.md: {said}"] == problems


@pytest.mark.parametrize("folder", ["nowhere", "file"])
def test_what_is_no_folder_is_not_imported(ada, tmp_path, folder):
    (tmp_path / "file").write_text("A file.")

    with pytest.raises(InvalidInput):
        take(ada, tmp_path / folder)


@pytest.mark.parametrize("space", ["orchestrator:main", "corpus:ada"])
def test_where_no_facts_are_there_is_no_folder(house, tmp_path, space):
    session = Session(house, space)

    for call in (put, take):
        with pytest.raises(InvalidInput) as error:
            call(session, tmp_path)
        assert {"space"} == set(error.value.fields)


def test_more_than_a_batch_goes_through_a_folder(ada, tmp_path):
    texts = [f"Fact number {number} is about tea." for number in range(450)]
    for start in range(0, len(texts), 90):
        ada.house.clock.advance(hours=7)
        ada.house.write(*(a_request(text) for text in texts[start : start + 90]))
    put(ada, tmp_path / "one")
    again = Session(ada.house, "user:again")
    counts, problems = take(again, tmp_path / "one")
    put(again, tmp_path / "two")

    assert (450, []) == (counts["created"], problems)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    meta = json.loads((tmp_path / "two/state/meta.json").read_text())
    assert 450 == meta["memoryCount"]
    again.house.write(a_request(texts[7], space="user:again"))
    assert 450 == len(again.memories())


def test_values_that_follow_each_other_come_back_as_they_stand(ada, tmp_path):
    for number in range(12):
        key = {"logical_key": f"home-{number % 4}", "on_same_key": OnSameKey.SUPERSEDE}
        ada.house.write(a_request(f"Ada lives in town {number}.", **key))
        if number % 3 == 0:
            ada.house.clock.advance(milliseconds=0.4 * number)
    lines = list(export_lines(ada.house.graphmem.transfers, ada.space))
    put(ada, tmp_path / "one")
    again = Session(ada.house, "user:again")
    _, problems = take(again, tmp_path / "one")
    put(again, tmp_path / "two")

    assert [] == problems
    assert sorted(ada.memories()) == sorted(again.memories())
    assert lines == list(export_lines(ada.house.graphmem.transfers, again.space))
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_a_profile_shows_no_line_whose_memory_has_expired(ada, tmp_path):
    ada.fact("I prefer green tea in the morning.")
    fact = ada.fact("I prefer short answers in code reviews.")
    ada.house.rows(
        "MATCH (m:Memory {uid: $uid}) SET m.expires_at = $now",
        uid=fact.uid,
        now=epoch_ms(ada.house.clock.now()),
    )
    put(ada, tmp_path)

    page = (tmp_path / "profile.md").read_text("utf-8")
    assert ["- I prefer green tea in the morning."] == [
        line.partition(" <!--")[0] for line in page.splitlines() if line.startswith("- ")
    ]
