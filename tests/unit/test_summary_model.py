"""What a language model is asked for summaries and kept commitments, and how its answers count."""

import json

import pytest
from builders import NOW
from fakes import ScriptedModel

from graphmem.adapters.asking import Ask
from graphmem.companion.summary_model import kept_commitment, rolling_summary, session_summary
from graphmem.errors import ModelUnavailable
from graphmem.model.companion import Message, SummaryText, Todo, TodoKind, TodoStatus
from graphmem.model.policy.companion import SummaryPolicy, TodoPolicy

POLICY = SummaryPolicy()
SAID = [Message(uid="m", is_user=True, content="I live in Oslo.", at=NOW)]
WHOLE = {
    "one_liner": "Ada told where she lives.",
    "what_mattered": ["Oslo"],
    "open_loops": [],
    "commitments": ["Call mom"],
    "people": ["Nora", "Coach"],
    "tone": "calm",
}


def ask(*answers):
    return Ask(model=ScriptedModel(*answers), seconds=1)


def summed_up(*answers, previous=None):
    return session_summary(ask(*answers), SAID, previous, persona="Coach", policy=POLICY)


def commitment(content, uid):
    return Todo(
        uid=uid,
        user="ada",
        persona="coach",
        kind=TodoKind.COMMITMENT,
        content=content,
        dedupe_key=None,
        status=TodoStatus.PENDING,
        created_at=NOW,
    )


WALK, MOM = commitment("Go for a walk", "walk"), commitment("Call mom", "mom")


def kept(number, confidence):
    answer = {"number": number, "confidence": confidence}
    return kept_commitment(ask(answer), "Did it!", [WALK, MOM], policy=TodoPolicy())


@pytest.mark.parametrize(("confidence", "expected"), [(0.65, MOM), (0.64, None)])
def test_a_commitment_is_kept_where_the_model_is_sure_by_65_of_100(confidence, expected):
    assert expected == kept(1, confidence)


@pytest.mark.parametrize(
    ("number", "confidence"),
    [(None, 1), (2, 1), (-1, 1), ("one", 1), (True, 1), (1, None), (1, "sure"), (1, 2)],
)
def test_what_names_no_commitment_or_no_share_keeps_none(number, confidence):
    assert kept(number, confidence) is None


def test_a_session_is_summed_up_without_the_persona():
    found = summed_up(WHOLE)

    assert ("Ada told where she lives.", ("Nora",), ("Call mom",)) == (
        found.text.one_liner,
        found.text.people,
        found.text.commitments,
    )
    assert (False, False) == (found.truncated, found.parse_error)


def test_a_summary_of_another_form_is_its_first_sentence_and_says_so():
    prose = summed_up("They spoke of Oslo. Then of tea.")

    assert SummaryText(one_liner="They spoke of Oslo.", tone="unknown") == prose.text
    assert prose.parse_error
    assert "Summary unavailable." == summed_up('{"broken": ').text.one_liner


def test_a_summary_that_is_too_long_is_cut_and_says_so():
    found = summed_up(WHOLE | {"one_liner": "x" * 201})

    assert (200, True) == (len(found.text.one_liner), found.truncated)
    assert not summed_up(WHOLE | {"one_liner": "x" * 200}).truncated


def test_the_summary_before_is_given_to_the_model():
    asking = ask(WHOLE)
    session_summary(asking, SAID, SummaryText(one_liner="Before."), persona="Coach", policy=POLICY)

    (asked,) = asking.model.asked
    assert ("Before.", "Coach") == (json.loads(asked)["previous"], json.loads(asked)["companion"])


def test_a_silent_model_is_unavailable():
    with pytest.raises(ModelUnavailable):
        summed_up(ModelUnavailable())


def test_a_rolling_summary_is_read_in_its_bounds_and_nonsense_is_none():
    long = rolling_summary(ask({"summary": "x" * 601}), SAID, None, policy=POLICY)

    assert 600 == len(long)
    assert "Tea." == rolling_summary(ask([{"summary": "Tea."}]), SAID, None, policy=POLICY)
    assert not rolling_summary(ask({"summary": 7}), SAID, None, policy=POLICY)
