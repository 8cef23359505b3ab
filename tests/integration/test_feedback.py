"""Feedback in the store: many answers at once, and what exports carry."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from builders import a_request
from sessions import Session

from graphmem.intake.export_import import export_lines, import_lines
from graphmem.lifecycle.feedback import Opinion
from graphmem.model.feedback import FeedbackCounts

BOTH = {"feedback_enabled": True, "negative_examples_enabled": True}


@pytest.fixture
def ada(house):
    session = Session(house)
    session.want(**BOTH)
    house.write(a_request("Ada drinks tea.", uid="tea"))
    return session


def recall(ada):
    return ada.house.recall("tea", ada.space.name).trace_id


def give(ada, useful, *, trace_id=None, uid="tea", note=None):
    opinion = Opinion(uid=uid, useful=useful, note=note, trace_id=trace_id or recall(ada))
    return ada.keeper.feedback.give(opinion, caller=ada.house.caller)


def stored(session):
    """What the memories of a space count, by uid."""
    rows = session.house.rows(
        "MATCH (m:Memory {space: $space})"
        " RETURN m.uid, m.feedback_up, m.feedback_down, m.negative_hits",
        space=session.space.key,
    )
    return {uid: tuple(numbers) for uid, *numbers in rows}


def bring(session, lines):
    transfers, caller = session.house.graphmem.transfers, session.house.caller
    *_, done = [None, *import_lines(transfers, lines, session.space, caller=caller)]
    return dict(done.counts), done.problems


def lines_of(session):
    return list(export_lines(session.house.graphmem.transfers, session.space))


def feedback_lines(lines):
    return [line for line in lines if line.startswith('{"feedback"')]


def test_answers_of_one_recall_at_once_count_once(ada):
    trace_id = recall(ada)
    with ThreadPoolExecutor(8) as pool:
        said = [pool.submit(give, ada, n % 2 == 0, trace_id=trace_id) for n in range(16)]
        counted = [each.result() for each in said]

    good, bad = FeedbackCounts(feedback_up=1), FeedbackCounts(feedback_down=1, negative_hits=1)
    assert {good, bad} >= set(counted)
    assert {"tea": (1, 0, 0)} == stored(ada) or {"tea": (0, 1, 1)} == stored(ada)


def test_answers_of_several_recalls_at_once_all_count(ada):
    traces = [recall(ada) for _ in range(12)]
    with ThreadPoolExecutor(8) as pool:
        said = [pool.submit(give, ada, n < 5, trace_id=each) for n, each in enumerate(traces)]
        for each in said:
            each.result()

    assert {"tea": (5, 7, 7)} == stored(ada)


def test_a_space_that_is_exported_and_imported_counts_the_same(ada):
    ada.house.write(a_request("Ada drinks green tea.", uid="green"))
    trace_id = recall(ada)
    give(ada, useful=False, trace_id=trace_id, note="Cold.")
    give(ada, useful=True, trace_id=trace_id, uid="green")
    ada.want(negative_examples_enabled=True)
    give(ada, useful=False)
    give(ada, useful=True)
    lines = lines_of(ada)
    again = Session(ada.house, "user:again")
    counts, problems = bring(again, lines)

    assert [] == problems
    assert 4 == counts["feedback"]
    assert {"tea": (0, 1, 2), "green": (1, 0, 0)} == stored(ada)
    assert stored(ada) == stored(again)
    assert feedback_lines(lines) == feedback_lines(lines_of(again))
    assert bring(again, lines)[0].keys() == {"unchanged"}
    assert stored(ada) == stored(again)


def test_what_was_said_before_is_replaced_in_the_new_place_too(ada):
    trace_id = recall(ada)
    give(ada, useful=False, trace_id=trace_id)
    lines = feedback_lines(lines_of(ada))
    ada.house.rows("MATCH (f:Feedback) WHERE f.space STARTS WITH $tenant DETACH DELETE f")
    ada.house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant SET m.feedback_down = 0,"
        " m.negative_hits = 0"
    )
    bring(ada, lines)

    assert FeedbackCounts(feedback_up=1) == give(ada, useful=True, trace_id=trace_id)


def a_line(**changes):
    values = {
        "recall": "r-1",
        "memory": "tea",
        "useful": False,
        "note": "Cold.",
        "at": "2026-01-01T00:00:00Z",
    }
    return json.dumps({"feedback": values | changes})


def test_a_line_of_elsewhere_needs_no_more_than_what_was_said(ada):
    counts, problems = bring(ada, [a_line(), a_line(), a_line(recall="r-2", useful=True)])

    assert ({"feedback": 3}, []) == (counts, problems)
    assert {"tea": (1, 1, None)} == {
        uid: (up, down, hits or None) for uid, (up, down, hits) in stored(ada).items()
    }


def test_lines_of_more_than_twenty_notes_leave_the_newest(ada):
    lines = [
        a_line(recall=f"r-{n}", note=f"{n}", at=f"2026-01-01T00:00:{n:02}Z") for n in range(21)
    ]
    bring(ada, lines)

    kept = ada.house.rows(
        "MATCH (f:Feedback) WHERE f.space STARTS WITH $tenant AND f.note IS NOT NULL RETURN f.note"
    )
    assert {str(n) for n in range(1, 21)} == {note for (note,) in kept}
    assert 21 == stored(ada)["tea"][1]


def test_what_is_said_of_a_memory_that_is_not_here_or_kept_is_left_out(ada):
    ada.house.write(a_request("Kept.", uid="kept"))
    ada.house.rows(
        "MATCH (m:Memory {uid: 'kept'}) WHERE m.space STARTS WITH $tenant SET m.kept_by = 'x'"
    )
    counts, problems = bring(ada, [a_line(memory="gone"), a_line(memory="kept")])

    assert ({"left_out": 2}, []) == (counts, problems)
    assert {"tea": (None, None, None), "kept": (None, None, None)} == stored(ada)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"recall": "a b"}, "feedback.recall"),
        ({"memory": None}, "feedback.memory"),
        ({"useful": "perhaps"}, "feedback.useful"),
        ({"note": "x" * 201}, "feedback.note"),
        ({"at": "2026-01-01"}, "feedback.at"),
        ({"rating": 5}, "feedback.rating"),
    ],
)
def test_a_bad_line_is_named_by_its_field_and_counts_nothing(ada, changes, field):
    _, problems = bring(ada, [a_line(**changes)])

    assert 1 == len(problems)
    assert field in str(problems[0])
    assert {"tea": (None, None, None)} == stored(ada)
