"""The bulletin: sections, order, and what goes first when it is too long (002)."""

import pytest
from builders import a_memory
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model.memory import MemoryType
from graphmem.recall.bulletin_sections import (
    LIMIT_CHARS,
    SECTIONS,
    build_bulletin,
    with_what_holds,
)
from graphmem.recall.request import Explanation, RecallItem

EMPTY = "".join(f"{name}:\n-\n" for name in SECTIONS)


def an_item(uid, kind=MemoryType.FACT, summary="Tea.", *, confidence=0.8, contradicted=False):
    memory = a_memory(uid=uid, type=kind, summary=summary, confidence=confidence)
    explanation = Explanation(vector=None, text=None, graph=None, factors={})
    return RecallItem(memory=memory, score=1.0, contradicted=contradicted, explanation=explanation)


def shown(items, limit=LIMIT_CHARS):
    return {
        name: [line.text for line in lines]
        for name, lines in build_bulletin(items, limit_chars=limit).sections
    }


def test_six_empty_sections_are_124_characters():
    assert (124, EMPTY) == (len(EMPTY), build_bulletin(()).rendered)


def test_a_limit_of_8_leaves_nothing():
    bulletin = build_bulletin([an_item("a")], limit_chars=8)

    assert ("", (), ()) == (bulletin.rendered, bulletin.sections, bulletin.citations)


@pytest.mark.parametrize(
    ("kind", "section"),
    [
        (MemoryType.GOAL, "active_goals"),
        (MemoryType.TODO, "open_todos"),
        (MemoryType.DECISION, "recent_decisions"),
        (MemoryType.PREFERENCE, "preference_profile"),
        (MemoryType.FACT, "knowledge_summary"),
        (MemoryType.IDENTITY, "knowledge_summary"),
        (MemoryType.EVENT, "knowledge_summary"),
        (MemoryType.OBSERVATION, "knowledge_summary"),
    ],
)
def test_each_type_has_its_section(kind, section):
    assert ["- Tea. [a]"] == shown([an_item("a", kind)])[section]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (an_item("a", confidence=0.49), 1),
        (an_item("a", confidence=0.5), 0),
        (an_item("a", confidence=0.9, contradicted=True), 1),
    ],
)
def test_conflicts_and_what_is_unsure_stand_in_a_section_too(item, expected):
    sections = shown([item])

    assert expected == len(sections["conflicts_and_uncertainties"])
    assert 1 == len(sections["knowledge_summary"])


def test_facts_go_first_and_goals_todos_and_decisions_stay():
    items = [
        an_item("f1", summary="A long fact about nothing at all " * 2),
        an_item("f2", summary="Another long fact about nothing " * 2),
        an_item("g", MemoryType.GOAL, "Ship it."),
        an_item("t", MemoryType.TODO, "Write."),
        an_item("d", MemoryType.DECISION, "Use Go."),
    ]
    bulletin = build_bulletin(items, limit_chars=180)

    assert len(bulletin.rendered) <= 180
    assert ("g", "t", "d") == bulletin.citations


def test_the_last_line_of_a_section_goes_first_and_whole_sections_at_the_end():
    items = [an_item("one"), an_item("two")]
    both = build_bulletin(items).rendered

    assert ["- Tea. [one]"] == shown(items, len(both) - 1)["knowledge_summary"]
    assert {"knowledge_summary", "active_goals", "open_todos", "recent_decisions"} == set(
        shown(items, 90)
    )
    assert ["active_goals"] == list(shown(items, 20))


def test_a_bulletin_is_read_again_with_what_holds_in_its_present_words():
    bulletin = build_bulletin([an_item("a"), an_item("b", contradicted=True)])

    again = with_what_holds(bulletin, {"a": a_memory(uid="a", summary="Green tea.")})

    assert ("a",) == again.citations
    assert "- Green tea. [a]\n" in again.rendered
    assert "[b]" not in again.rendered


@given(
    limit=st.integers(0, 600),
    items=st.lists(
        st.builds(
            an_item,
            uid=st.sampled_from("abcdefgh"),
            kind=st.sampled_from(MemoryType),
            summary=st.text("xyz ", min_size=1, max_size=60),
            contradicted=st.booleans(),
        ),
        max_size=8,
    ),
)
def test_it_never_exceeds_its_limit_is_deterministic_and_cites_what_it_shows(limit, items):
    bulletin = build_bulletin(items, limit_chars=limit)

    assert len(bulletin.rendered) <= limit
    assert bulletin == build_bulletin(items, limit_chars=limit)
    assert all(f"[{uid}]" in bulletin.rendered for uid in bulletin.citations)
