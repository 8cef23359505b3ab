"""Push attempts: the one retry, the proof of what was written, the end of onboarding. Pure.

These are the steps 11 and 12 of a push (000).
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from graphmem.corpus.approvals import all_approved, is_dirty
from graphmem.corpus.assembly import assembled
from graphmem.corpus.documents import MANIFEST, changes, content_hash
from graphmem.corpus.join import joined, own_documents
from graphmem.corpus.manifest import with_ids
from graphmem.corpus.push_plan import PushPlan, planned
from graphmem.corpus.push_result import (
    VALID,
    PushCode,
    PushReason,
    PushResult,
    invalid,
    refused,
    sound,
)
from graphmem.corpus.schema import corpus_problems
from graphmem.corpus.service_metadata import completed, is_complete, with_metadata
from graphmem.corpus.verification import verified
from graphmem.model.corpus import Approval, Documents, Head
from graphmem.model.policy.corpus import CorpusPolicy

_COMPLETION = "Onboarding is complete"


def retried(
    plan: PushPlan, head: Head, policy: CorpusPolicy, *, now: datetime
) -> PushPlan | PushResult:
    """The one retry, once HEAD is another than expected: the changes of both, joined.

    A document that both changed ends the push; nobody's text is lost.
    """
    before = assembled(head.documents).corpus
    if before is None or corpus_problems(before, policy):
        return refused(PushCode.CORPUS_INVALID, retry_count=1)
    found = joined(plan.base.documents, plan.documents, head.documents, generated_at=now)
    if found.corpus is None:
        paths = ",".join(found.conflicts)
        return conflicted(replace(plan, retry_count=1), reason=f"ref_conflict:{paths}")
    corpus = with_metadata(found.corpus, before, now)
    if problems := corpus_problems(corpus, policy):
        result = invalid(PushCode.VALIDATION_FAILED, problems)
        return replace(result, retry_count=1, local_saved=True)
    if not is_dirty(before, corpus):
        unchanged = replace(VALID, persisted=True, reason=PushReason.HASHES_UNCHANGED)
        return replace(unchanged, retry_count=1)
    joint = planned(
        head,
        corpus,
        base=plan.base,
        files=plan.documents,
        message=plan.message,
        now=now,
        retry_count=1,
    )
    return replace(joint, withheld=plan.withheld)


def conflicted(plan: PushPlan, *, reason: str | None = None) -> PushResult:
    """A push whose HEAD was moved by somebody else; after the retry nothing more is tried."""
    return replace(
        VALID,
        ok=False,
        reason=reason or PushCode.REF_CONFLICT,
        error_code=PushCode.REF_CONFLICT,
        retry_count=plan.retry_count,
    )


def proved(plan: PushPlan, read: Documents) -> PushResult:
    """What became of a plan that was written, by what a new reading of its revision found."""
    found = verified(plan.changes, plan.tree, read)
    manifest = plan.documents[MANIFEST]
    result = replace(
        VALID,
        pushed=True,
        remote_written=True,
        retry_count=plan.retry_count,
        revision=plan.revision,
        remote_blob_sha=manifest.sha256,
        remote_commit_sha=plan.commit_sha,
        remote_file_sha=content_hash(manifest),
        verification=found,
        verify_ok=found.ok,
        persisted=found.ok,
        reason=found.error or PushReason.PUSH_VERIFIED,
    )
    if found.ok:
        return sound(result)
    return replace(result, ok=False, error_code=PushCode.TRANSPORT_CORRUPTION)


def reverted(
    head: Head,
    earlier: Head,
    policy: CorpusPolicy,
    *,
    now: datetime,
    new_id: Callable[[], str],
) -> PushPlan | PushResult:
    """The revision behind a head that holds the files of an earlier one, byte by byte.

    A corpus in one file is split, as that is never written.
    """
    corpus = assembled(earlier.documents).corpus
    if corpus is None or corpus_problems(corpus, policy):
        return refused(PushCode.CORPUS_INVALID)
    changed = changes(head.documents, earlier.documents)
    if not changed.paths:
        return replace(VALID, persisted=True, reason=PushReason.HASHES_UNCHANGED)
    message = f"Revert to revision {earlier.revision}"
    if MANIFEST not in earlier.documents:
        own = own_documents(head.documents)
        beside = replace(head, documents={**earlier.documents, **own})
        whole = with_ids(corpus, new_id)
        plan = planned(beside, whole, base=head, files={}, message=message, now=now)
        return replace(plan, changes=changes(head.documents, plan.documents))
    return PushPlan(
        expected_revision=head.revision,
        base=head,
        corpus=corpus,
        documents=earlier.documents,
        changes=changed,
        message=message,
        at=now,
    )


def completion(head: Head, approvals: tuple[Approval, ...], *, now: datetime) -> PushPlan | None:
    """The commit by which the service ends onboarding, once a proved head is approved as a whole.

    None where it is not, or onboarding has ended already (traps 32, 76).
    """
    corpus = assembled(head.documents).corpus
    is_split = MANIFEST in head.documents
    if corpus is None or not is_split or is_complete(corpus):
        return None
    if not all_approved(approvals, corpus):
        return None
    return planned(head, completed(corpus, now), base=head, files={}, message=_COMPLETION, now=now)
