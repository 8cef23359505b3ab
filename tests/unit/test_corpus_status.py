"""The status of a career corpus (000, 1.4): its text, and when it is shown."""

import locale
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from corpora import NOW
from hypothesis import given
from hypothesis import strategies as st

from graphmem.corpus.state import CorpusFacts
from graphmem.corpus.status import (
    EmissionPolicy,
    EmissionReason,
    Intent,
    NotInitialized,
    StatusFacts,
    emission_policy,
    friendly,
    leading_intent,
    shown_to,
    status,
)
from graphmem.errors import InvalidInput
from graphmem.model.corpus import CorpusState, CorpusWork, LastShown, Verification

READY = CorpusFacts(has_repository=True, has_corpus=True, is_complete=True)
WRITTEN = datetime(2026, 2, 28, 10, 42, tzinfo=UTC)
OF_STATE = {
    CorpusState.NO_REPO: CorpusFacts(has_repository=False),
    CorpusState.REPO_NO_CORPUS: CorpusFacts(has_repository=True),
    CorpusState.CORPUS_PARTIAL: CorpusFacts(has_repository=True, has_corpus=True),
    CorpusState.CORPUS_READY: READY,
    CorpusState.CORPUS_INVALID: replace(READY, is_valid=False),
    CorpusState.PERSIST_FAILED: replace(READY, has_failed_write=True),
}
FIRST_LINES = {
    CorpusState.NO_REPO: "falsefalsefalse",
    CorpusState.REPO_NO_CORPUS: "truefalsefalse",
    CorpusState.CORPUS_PARTIAL: "truetruefalse",
    CorpusState.CORPUS_READY: "truetruetrue",
    CorpusState.CORPUS_INVALID: "truetruetrue",
    CorpusState.PERSIST_FAILED: "truetruetrue",
}


def work(number=1, **changes):
    return CorpusWork(number=number, at=NOW, **changes)


def told(facts=READY, **changes):
    return StatusFacts(facts=facts, last_written=WRITTEN, **changes)


def lines(*optional, facts=READY):
    return (
        "MEMORY STATUS\n"
        f"- repo_exists: {str(facts.has_repository).lower()}\n"
        f"- corpus_exists: {str(facts.corpus_exists).lower()}\n"
        f"- onboarding_complete: {str(facts.onboarding_complete).lower()}\n"
        "- last_written: Feb 28, 2026 10:42 AM UTC"
    ) + "".join(f"\n- {line}" for line in optional)


def shown(facts=READY, seen=None, **options):
    named = {name: options.pop(name) for name in ("intent", "policy") if name in options}
    return status(told(facts, **options), seen, **named)


def test_the_block_has_four_lines_in_plain_text():
    found = shown()

    assert (
        "MEMORY STATUS\n"
        "- repo_exists: true\n"
        "- corpus_exists: true\n"
        "- onboarding_complete: true\n"
        "- last_written: Feb 28, 2026 10:42 AM UTC"
    ) == found.text
    assert f"```text\n{found.text}\n```" == found.fenced
    assert {
        "repo_exists": True,
        "corpus_exists": True,
        "onboarding_complete": True,
        "last_written": "Feb 28, 2026 10:42 AM UTC",
    } == found.fields


@pytest.mark.parametrize("state", list(CorpusState))
def test_the_block_of_each_state(state):
    found = shown(OF_STATE[state], newest=work())
    values = [line.partition(": ")[2] for line in found.text.splitlines()[1:4]]

    assert state is found.state
    assert FIRST_LINES[state] == "".join(values)
    assert lines(facts=OF_STATE[state]) == found.text


def test_without_a_write_it_was_never_written():
    found = status(StatusFacts(facts=OF_STATE[CorpusState.REPO_NO_CORPUS]), None)

    assert found.text.endswith("- last_written: Never")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"validated": True}, "validated: true"),
        ({"validated": False}, "validated: false"),
        ({"persisted": True}, "persisted: true"),
        ({"persisted": False}, "persisted: false"),
        ({"fallback_used": True}, "fallback_used: true"),
        ({"method": "graph_utf8_split"}, "method: graph_utf8_split"),
        ({"retry_count": 1}, "retry_count: 1"),
        ({"verification": Verification.OK}, "verification: ok"),
        ({"verification": Verification.FAILED}, "verification: failed"),
    ],
)
def test_a_line_that_matters_is_shown(changes, line):
    assert lines(line) == shown(newest=work(**changes)).text


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"fallback_used": False},
        {"retry_count": 0},
        {"verification": Verification.NOT_RUN},
        {"method": None},
    ],
)
def test_a_line_that_does_not_matter_is_left_out(changes):
    assert lines() == shown(newest=work(**changes)).text


def test_all_lines_stand_in_the_order_of_the_mission_document():
    everything = work(
        verification=Verification.FAILED,
        retry_count=1,
        method="graph_utf8_split",
        fallback_used=True,
        persisted=False,
        validated=True,
    )

    assert (
        lines(
            "validated: true",
            "persisted: false",
            "fallback_used: true",
            "method: graph_utf8_split",
            "retry_count: 1",
            "verification: failed",
        )
        == shown(newest=everything).text
    )


def test_lines_of_work_that_an_audience_has_seen_are_not_shown_again():
    seen = LastShown(state=CorpusState.CORPUS_READY, work=3)

    assert lines() == shown(seen=seen, newest=work(3, validated=True)).text
    assert lines("validated: true") == shown(seen=seen, newest=work(4, validated=True)).text


@pytest.mark.parametrize("hour", range(24))
def test_each_hour_is_one_of_twelve(hour):
    half = "AM" if hour < 12 else "PM"
    expected = [12, *range(1, 12), 12, *range(1, 12)][hour]

    assert f"Mar 1, 2026 {expected}:05 {half} UTC" == friendly(
        datetime(2026, 3, 1, hour, 5, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 2, 28, 10, 42, tzinfo=UTC), "Feb 28, 2026 10:42 AM UTC"),
        (datetime(2026, 3, 1, 9, 5, tzinfo=UTC), "Mar 1, 2026 9:05 AM UTC"),
        (datetime(2026, 12, 31, 0, 0, tzinfo=UTC), "Dec 31, 2026 12:00 AM UTC"),
        (datetime(2026, 6, 9, 12, 59, 59, tzinfo=UTC), "Jun 9, 2026 12:59 PM UTC"),
        (
            datetime(2026, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=2))),
            "Dec 31, 2025 11:30 PM UTC",
        ),
        (None, "Never"),
    ],
)
def test_a_time_is_written_for_people_without_leading_zeros(moment, text):
    assert text == friendly(moment)


def test_months_are_english_whatever_the_locale():
    before = locale.setlocale(locale.LC_TIME)
    try:
        for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C"):
            try:
                locale.setlocale(locale.LC_TIME, name)
            except locale.Error:
                continue
            assert "Mar 1, 2026 9:05 AM UTC" == friendly(NOW)
    finally:
        locale.setlocale(locale.LC_TIME, before)


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_written_time_is_read_again_to_the_minute(moment):
    text = friendly(moment)
    month, day, year, clock, half, zone = text.replace(",", "").split()
    read = datetime.strptime(
        f"{month} {day} {int(year):04} {clock} {half} {zone}", "%b %d %Y %I:%M %p %Z"
    ).replace(tzinfo=UTC)

    assert moment.replace(second=0, microsecond=0) == read


SAME = LastShown(state=CorpusState.CORPUS_READY, work=5)
OTHER = LastShown(state=CorpusState.CORPUS_PARTIAL, work=5)
ON_CHANGE, ON_REQUEST = EmissionPolicy.ON_CHANGE, EmissionPolicy.ON_REQUEST
RULES = [
    # asked for or failed: any policy shows it
    (Intent.MEMORY_STATUS, 0, SAME, ON_CHANGE, True, EmissionReason.REQUESTED),
    (Intent.MEMORY_STATUS, 0, SAME, ON_REQUEST, True, EmissionReason.REQUESTED),
    (Intent.FAILURE_RECOVERY, 0, SAME, ON_REQUEST, True, EmissionReason.FAILED),
    (None, 6, SAME, ON_CHANGE, True, EmissionReason.FAILED),
    (None, 6, SAME, ON_REQUEST, True, EmissionReason.FAILED),
    (None, 1, None, ON_REQUEST, True, EmissionReason.FAILED),
    # a failure that was shown is none any more
    (None, 5, SAME, ON_CHANGE, False, EmissionReason.UNCHANGED),
    # neither: on_request hides it
    (None, 0, None, ON_REQUEST, False, EmissionReason.ON_REQUEST),
    (None, 0, OTHER, ON_REQUEST, False, EmissionReason.ON_REQUEST),
    # and on_change shows what was not shown before
    (None, 0, None, ON_CHANGE, True, EmissionReason.FIRST),
    (None, 0, OTHER, ON_CHANGE, True, EmissionReason.CHANGED),
    (None, 0, SAME, ON_CHANGE, False, EmissionReason.UNCHANGED),
    (Intent.RESUME_DRAFTING, 0, SAME, ON_CHANGE, False, EmissionReason.UNCHANGED),
]


@pytest.mark.parametrize(("intent", "failed", "seen", "policy", "show", "reason"), RULES)
def test_the_emission_table_row_by_row(intent, failed, seen, policy, show, reason):
    found = shown(seen=seen, intent=intent, policy=policy, last_failed=failed, newest=work(6))

    assert (show, reason) == (found.show, found.reason)


def test_a_status_on_every_turn_is_refused_and_an_unknown_policy_shows_changes():
    with pytest.raises(InvalidInput):
        emission_policy("always")
    assert [ON_CHANGE, ON_REQUEST, ON_CHANGE] == [
        emission_policy(name) for name in ("on_change", "on_request", "sometimes")
    ]


def test_each_audience_is_compared_with_what_it_saw_itself():
    facts = told(newest=work(7))
    seen = shown_to(facts)

    assert LastShown(state=CorpusState.CORPUS_READY, work=7) == seen
    assert not status(facts, seen).show
    assert status(facts, None).show


@pytest.mark.parametrize("intent", list(Intent))
def test_only_two_intents_ask_for_a_status(intent):
    is_asked = intent in {Intent.MEMORY_STATUS, Intent.FAILURE_RECOVERY}

    assert is_asked == shown(seen=LastShown(state=CorpusState.CORPUS_READY), intent=intent).show


def test_of_several_intents_the_most_urgent_leads():
    assert Intent.FAILURE_RECOVERY is leading_intent(
        [Intent.INITIALIZATION_OR_SETUP, Intent.MEMORY_STATUS, Intent.FAILURE_RECOVERY]
    )
    assert [
        *("conversation_only", "failure_recovery", "pdf_export", "memory_persist_update"),
        *("onboarding_import_repair", "resume_drafting", "jd_analysis", "memory_status"),
        "initialization_or_setup",
    ] == [intent.removeprefix("intent_") for intent in Intent]
    assert leading_intent([]) is None


def test_there_is_no_status_before_a_bootstrap_or_any_operation():
    nothing = StatusFacts(facts=CorpusFacts(has_repository=False))

    with pytest.raises(NotInitialized):
        status(nothing, None, intent=Intent.MEMORY_STATUS)
    assert CorpusState.NO_REPO is status(replace(nothing, newest=work()), None).state
