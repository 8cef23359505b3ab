"""Results of a push (000, 1.5): what they claim, and how they are told."""

import json
from dataclasses import fields as record_fields
from dataclasses import replace

import pytest
from corpora import NOW, a_corpus, a_head
from pushes import CHIEF, push, targets

from graphmem.corpus.push_attempts import proved
from graphmem.corpus.push_result import (
    PushCode,
    PushResult,
    shown,
    sound,
    store_away,
    user_message,
    with_states,
    work_of,
)
from graphmem.model.corpus import (
    CorpusState,
    Section,
    Verification,
)


def test_technical_details_are_told_on_request_alone():
    plan = push(a_corpus(experience=[CHIEF]), a_head(3))
    good = proved(plan, plan.documents)
    bad = push(a_corpus(), has_repository=False)

    assert "Saved to memory/corpus. (reason push_verified, revision 4)" == user_message(
        good, is_technical=True
    )
    assert "Couldn't save to memory. (reason api_404, code memory_repo_not_found)" == user_message(
        bad, is_technical=True
    )


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_store_that_is_away_is_said_to_have_persisted_nothing(is_kept):
    found = store_away(is_kept=is_kept)

    assert (False, False, is_kept) == (found.ok, found.persisted, found.fallback_used)
    assert "Couldn't save to memory. NOT PERSISTED." == user_message(found, is_technical=False)
    assert found.is_failed_write


def test_an_answer_has_every_result_field_of_the_source():
    answer = shown(push(a_corpus(), has_repository=False), is_technical=False)

    assert {
        *("ok", "pushed", "persisted", "retry_count", "method", "remote_blob_sha"),
        *("remote_commit_sha", "remote_file_sha", "remote_branch", "verification", "reason"),
        *("error_code", "validated", "validation_ran", "local_saved", "remote_written"),
        *("verify_ok", "status_changed", "user_message", "fallback_used"),
    } == set(answer)
    assert ("graph_utf8_split", {"ok": False, "error": None}) == (
        answer["method"],
        answer["verification"],
    )
    assert json.dumps(answer)


def test_a_claim_to_persist_without_a_push_and_its_proof_is_invalid():
    claim = PushResult(ok=True, persisted=True, reason="push_verified")

    for lie in (claim, replace(claim, pushed=True), replace(claim, verify_ok=True)):
        found = sound(lie)
        assert (False, False, PushCode.PERSIST_CLAIM_INVALID) == (
            found.ok,
            found.persisted,
            found.error_code,
        )
    assert sound(replace(claim, pushed=True, verify_ok=True)).persisted


@pytest.mark.parametrize("reason", ["not_dirty", "hashes_unchanged"])
def test_what_did_not_change_may_claim_to_be_persisted(reason):
    assert sound(PushResult(ok=True, persisted=True, reason=reason)).persisted


def test_a_result_says_whether_the_state_changed():
    result = PushResult(ok=True, reason="x")

    assert with_states(result, CorpusState.NO_REPO, CorpusState.REPO_NO_CORPUS).status_changed
    assert not with_states(result, CorpusState.NO_REPO, CorpusState.NO_REPO).status_changed


@pytest.mark.parametrize(
    ("code", "is_failed"),
    [
        (
            code,
            code
            in {
                "ref_conflict",
                "transport_corruption",
                "persist_claim_invalid",
                "store_unavailable",
            },
        )
        for code in PushCode
    ],
)
def test_only_failures_of_the_last_two_steps_are_failed_writes(code, is_failed):
    assert is_failed == PushResult(ok=False, reason="x", error_code=code).is_failed_write


def test_a_status_tells_of_a_push_what_happened_there():
    plan = push(a_corpus(experience=[CHIEF]), a_head())
    good = work_of(proved(plan, plan.documents), number=3, now=NOW)
    bad = work_of(proved(plan, {}), number=4, now=NOW)
    early = work_of(
        push(a_corpus(), a_head(), (), request=targets(Section.SKILLS)), number=5, now=NOW
    )
    clean = work_of(push(a_corpus(), a_head(), ()), number=6, now=NOW)

    assert (True, True, "graph_utf8_split", Verification.OK, False) == (
        good.validated,
        good.persisted,
        good.method,
        good.verification,
        good.has_failed,
    )
    assert (False, Verification.FAILED, True) == (
        bad.persisted,
        bad.verification,
        bad.has_failed,
    )
    for work in (early, clean):
        assert (None, None, None, Verification.NOT_RUN) == (
            work.validated,
            work.persisted,
            work.method,
            work.verification,
        )
    assert (True, False) == (early.has_failed, clean.has_failed)


def test_every_field_of_a_result_is_shown_or_told_in_another_way():
    apart = {"problems", "revision", "state"}

    assert {each.name for each in record_fields(PushResult)} - apart <= set(
        shown(PushResult(ok=True, reason="x"), is_technical=False)
    )
