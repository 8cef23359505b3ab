"""Push result: what became of a push, and how it is told (000, Write flow). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from graphmem.corpus.schema import Problem
from graphmem.model.corpus import CorpusState, CorpusWork, Verification

METHOD = "graph_utf8_split"
BRANCH = "HEAD"
NOT_PERSISTED = "NOT PERSISTED"
_ATTEMPTS_MAX = 2  # the first, and exactly one more


class PushCode(StrEnum):
    """Why a push came to nothing: the stable code."""

    MEMORY_REPO_NOT_FOUND = "memory_repo_not_found"
    CORPUS_INVALID = "corpus_invalid"
    INVALID_INPUT = "invalid_input"  # an empty list of targets
    APPROVAL_MISSING = "approval_missing"
    API_UNKNOWN = "api_unknown"
    VALIDATION_FAILED = "validation_failed"
    NOTES_POLICY_VIOLATION = "notes_policy_violation"
    UNAPPROVED_SECTION_CHANGES = "unapproved_section_changes"
    REF_CONFLICT = "ref_conflict"
    TRANSPORT_CORRUPTION = "transport_corruption"
    PERSIST_CLAIM_INVALID = "persist_claim_invalid"
    STORE_UNAVAILABLE = "store_unavailable"


# only these are writes that failed (steps 11 and 12)
FAILED_WRITES = frozenset(
    {
        PushCode.REF_CONFLICT,
        PushCode.TRANSPORT_CORRUPTION,
        PushCode.PERSIST_CLAIM_INVALID,
        PushCode.STORE_UNAVAILABLE,
    }
)


class PushReason(StrEnum):
    """Why a push went well."""

    NOT_DIRTY = "not_dirty"
    HASHES_UNCHANGED = "hashes_unchanged"
    PUSH_VERIFIED = "push_verified"


class Wording(StrEnum):
    """What a person is told of a push."""

    SAVED = "Saved to memory/corpus."
    FAILED = "Couldn't save to memory."
    NOTHING = "No memory changes to save."


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """What a second reading found; without ``error`` it proved what was written."""

    ok: bool
    error: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PushResult:
    """What became of a push. ``validated`` and ``persisted`` claim only what was checked."""

    ok: bool
    reason: str
    error_code: PushCode | None = None
    pushed: bool = False
    persisted: bool = False
    retry_count: int = 0
    method: str = METHOD
    revision: int | None = None
    remote_blob_sha: str | None = None  # of the bytes of the manifest
    remote_commit_sha: str | None = None
    remote_file_sha: str | None = None  # of what the manifest says
    remote_branch: str = BRANCH
    verification: Verified | None = None  # None: it did not run
    validated: bool = False
    validation_ran: bool = False
    local_saved: bool = False
    remote_written: bool = False
    verify_ok: bool = False
    fallback_used: bool = False
    status_changed: bool = False
    state: CorpusState | None = None  # afterwards, where it is known
    problems: tuple[Problem, ...] = ()

    @property
    def is_failed_write(self) -> bool:
        """Whether a write was attempted and not proved: the state is PERSIST_FAILED then."""
        return self.error_code in FAILED_WRITES

    @property
    def was_attempted(self) -> bool:
        """Whether anything was to be written."""
        return self.pushed or self.is_failed_write

    @property
    def wording(self) -> Wording:
        """What a person is told."""
        if not self.ok:
            return Wording.FAILED
        return Wording.SAVED if self.pushed else Wording.NOTHING


# what a push says that has passed all checks
VALID = PushResult(ok=True, reason="", validated=True, validation_ran=True, local_saved=True)


def refused(code: PushCode, reason: str | None = None, **fields: Any) -> PushResult:  # noqa: ANN401
    """A push that came to nothing."""
    return PushResult(ok=False, reason=reason or code, error_code=code, **fields)


def invalid(code: PushCode, problems: tuple[Problem, ...]) -> PushResult:
    """A push whose corpus the validator did not let pass."""
    return refused(code, validation_ran=True, problems=problems)


def user_message(result: PushResult, *, is_technical: bool) -> str:
    """What a person is told of a push; code, reason and revision only who asks for them."""
    said = [str(result.wording)]
    if result.fallback_used or result.error_code is PushCode.STORE_UNAVAILABLE:
        said.append(f"{NOT_PERSISTED}.")
    if is_technical:
        details = {
            "reason": result.reason,
            "code": result.error_code,
            "revision": result.revision,
        }
        shown = ", ".join(f"{name} {value}" for name, value in details.items() if value)
        said.append(f"({shown})")
    return " ".join(said)


def shown(result: PushResult, *, is_technical: bool) -> Mapping[str, Any]:
    """The result fields of an answer, in the order of the source."""
    verification = result.verification or Verified(ok=False)
    return {
        "ok": result.ok,
        "pushed": result.pushed,
        "persisted": result.persisted,
        "retry_count": result.retry_count,
        "method": result.method,
        "remote_blob_sha": result.remote_blob_sha,
        "remote_commit_sha": result.remote_commit_sha,
        "remote_file_sha": result.remote_file_sha,
        "remote_branch": result.remote_branch,
        "verification": {"ok": verification.ok, "error": verification.error},
        "reason": result.reason,
        "error_code": result.error_code,
        "validated": result.validated,
        "validation_ran": result.validation_ran,
        "local_saved": result.local_saved,
        "remote_written": result.remote_written,
        "verify_ok": result.verify_ok,
        "fallback_used": result.fallback_used,
        "status_changed": result.status_changed,
        "user_message": user_message(result, is_technical=is_technical),
    }


def with_states(result: PushResult, before: CorpusState, after: CorpusState) -> PushResult:
    """A result that says whether the state is another one now."""
    return replace(result, status_changed=before is not after, state=after)


def sound(result: PushResult) -> PushResult:
    """A result whose claim to persist rests on a push and its proof, or on nothing to write."""
    is_unchanged = result.reason in {PushReason.NOT_DIRTY, PushReason.HASHES_UNCHANGED}
    is_proved = result.pushed and result.verify_ok
    if not result.persisted or is_proved or (is_unchanged and not result.pushed):
        return result
    return replace(
        result,
        ok=False,
        persisted=False,
        reason=PushCode.PERSIST_CLAIM_INVALID,
        error_code=PushCode.PERSIST_CLAIM_INVALID,
    )


def store_away(*, is_kept: bool) -> PushResult:
    """A push that the store did not take; ``is_kept`` says that its documents lie in a file."""
    return refused(PushCode.STORE_UNAVAILABLE, local_saved=is_kept, fallback_used=is_kept)


def may_retry(result: PushResult) -> bool:
    """Whether a push is tried once more, with a fresh head: after a lost race, never twice."""
    is_conflict = result.error_code is PushCode.REF_CONFLICT
    return is_conflict and result.retry_count + 1 < _ATTEMPTS_MAX


def work_of(result: PushResult, *, number: int, now: datetime) -> CorpusWork:
    """What a status tells of a push."""
    verification = Verification.NOT_RUN
    if result.verification:
        verification = Verification.OK if result.verification.ok else Verification.FAILED
    return CorpusWork(
        number=number,
        at=now,
        has_failed=not result.ok,
        validated=result.validated if result.validation_ran else None,
        persisted=result.persisted if result.was_attempted else None,
        fallback_used=result.fallback_used,
        method=result.method if result.was_attempted else None,
        retry_count=result.retry_count,
        verification=verification,
    )
