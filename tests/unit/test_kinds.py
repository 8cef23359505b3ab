"""Kinds of memories (003): what happened once, and what holds; and which of two notes holds."""

from datetime import UTC, datetime, timedelta

import pytest
from builders import a_memory

from graphmem.lifecycle.kinds import kind_of
from graphmem.lifecycle.reconsolidation import conflicts_of
from graphmem.model.memory import Authority, Status
from graphmem.upkeep.dedupe import may_repeat
from graphmem.upkeep.rollup import may_roll_up

EPISODE, NOTE = "episode", "note"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "category", "tags", "kind"),
    [
        # vectors of the source
        ("Today I prefer tea.", "preference", (), EPISODE),
        ("Rotate keys.", "fact", ("bug", "policy"), NOTE),
        ("User mentioned tabs", "preference", (), NOTE),
        ("User said they need help", "fact", (), EPISODE),
        ("The app uses PostgreSQL.", "fact", (), EPISODE),
        ("The team prefers TypeScript for new code.", "fact", (), NOTE),
        # each step before the next one
        ("Last Tuesday we decided to use Go.", "decision", (), EPISODE),
        ("Last year we must have moved.", "fact", (), EPISODE),
        ("On Fridays we never deploy.", "principle", (), EPISODE),
        ("This morning was cold.", "fact", ("policy",), EPISODE),
        ("We met in Rome.", "moment", ("policy",), EPISODE),
        ("We deployed the API.", "commitment", ("bug",), NOTE),
        ("The keys are rotated.", "fact", ("Release",), EPISODE),
        ("The keys are rotated.", "fact", ("Habit", "release"), NOTE),
        ("They always fixed it.", "fact", (), EPISODE),
        ("It must be signed.", "fact", (), NOTE),
        ("The policies are strict.", "fact", (), NOTE),
        ("The mustard is strong.", "fact", (), EPISODE),
        ("The lasting effect is a standard.", "fact", (), NOTE),
    ],
)
def test_the_first_of_six_steps_decides(content, category, tags, kind):
    assert kind == kind_of(content, category, tags)


def a_note(content, days=0, **values):
    native = {"kind": values.pop("kind", NOTE)}
    at = START + timedelta(days=days)
    return a_memory(content, created_at=at, native=native, **values)


def said(pairs):
    return [(newer.content, older.content) for newer, older in pairs]


OSLO, ROME = "Ada lives in Oslo.", "Ada lives in Rome."


def test_the_note_that_begins_later_holds_whichever_was_stored_first():
    oslo = a_note(OSLO, days=1, valid_from=START)
    rome = a_note(ROME, days=0, valid_from=START + timedelta(days=2))

    assert [(ROME, OSLO)] == said(conflicts_of([oslo, rome]))
    assert [(OSLO, ROME)] == said(conflicts_of([a_note(OSLO, days=1), a_note(ROME)]))


@pytest.mark.parametrize(
    "older",
    [
        a_note(ROME, kind=EPISODE),
        a_note(ROME, pinned=True),
        a_note(ROME, status=Status.ARCHIVED),
        a_note(ROME, authority=Authority.TOOL_VERIFIED),
        a_note(ROME, kept_by="companion"),
        a_note(ROME, valid_from=START - timedelta(days=9), valid_until=START - timedelta(days=8)),
        a_note("Ada lives in Oslo!"),
        a_note("Eve lives in Rome."),
    ],
)
def test_what_is_no_note_is_pinned_stronger_over_or_says_the_same_stays(older):
    newer = a_note(OSLO, days=1, valid_from=START)

    assert [] == conflicts_of([newer, older])


def test_a_memory_without_a_kind_counts_as_a_note():
    plain = a_memory(ROME, created_at=START)

    assert [(OSLO, ROME)] == said(conflicts_of([a_note(OSLO, days=1), plain]))


@pytest.mark.parametrize(("kind", "may"), [(EPISODE, False), (NOTE, True)])
def test_an_episode_is_neither_a_repeat_nor_rolled_up(kind, may):
    memory = a_note(ROME, kind=kind)

    assert (may, may) == (may_repeat(memory), may_roll_up(memory))
