"""A space as a folder of Markdown files, and folders of others into a space (003, Files)."""

import json
import os
import pytest
from builders import a_request
from sessions import Session

from graphmem.errors import InvalidInput
from graphmem.gateway.declaring import EntityRequest
from graphmem.gateway.edges import DrawEdge, EdgeRequest
from graphmem.intake.export_import import export_lines
from graphmem.lifecycle.files.moving import export_folder, import_folder
from graphmem.model.edge import EdgeType
from graphmem.model.entity import EntityRef
from graphmem.model.memory import Status

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
    """The bytes of all files of a folder, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
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
    session.fact("FYI maybe I could perhaps move to Rome someday.")
    house.clock.advance(hours=2)
    session.fact("We agreed on Fridays off, all of us.")
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
    register.declare(session.space, "person", request, caller=house.caller)


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
