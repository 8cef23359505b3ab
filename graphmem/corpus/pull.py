"""Pull: what a session takes of a repository, and what becomes of its draft (000, Pull). Pure."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from graphmem.corpus.approvals import is_dirty
from graphmem.corpus.assembly import FaultKind, assembled
from graphmem.corpus.documents import LEGACY, MANIFEST, content_hash
from graphmem.corpus.manifest import has_corpus
from graphmem.corpus.push_result import PushCode
from graphmem.model.corpus import SESSION_CHARS_MAX, Corpus, CorpusDraft, Documents, Head

_KEPT = re.compile(r"\.kept-[0-9]+\Z")


class PullReason(StrEnum):
    """What a pull came to."""

    REMOTE_MISSING = "remote_missing"
    UNCHANGED = "sha_unchanged"
    PULLED = "pulled"
    FRESH = "skipped_prewrite_pull_local_fresh"


@dataclass(frozen=True, kw_only=True, slots=True)
class PullResult:
    """What became of a pull; ``kept_as`` is the session in which an edited draft lies now."""

    ok: bool
    reason: str
    changed: bool = False
    error_code: PushCode | None = None
    corpus: Corpus | None = None
    kept_as: str | None = None


def decide_pull(
    head: Head | None,
    draft: CorpusDraft | None,
    *,
    base: Documents,
    sessions: Collection[str],
    force: bool = False,
) -> PullResult:
    """What a pull takes, without a look at its schema.

    ``base`` are the documents that the draft was made from; ``head`` is None without a repository.
    An edited draft is never overwritten, it is kept under a name of its own.
    """
    if head is None:
        code = PushCode.MEMORY_REPO_NOT_FOUND
        return PullResult(ok=False, reason="api_404", error_code=code)
    if not has_corpus(head.documents):
        return PullResult(ok=True, reason=PullReason.REMOTE_MISSING)
    if draft and not force and seen_hash(base) == seen_hash(head.documents):
        return PullResult(ok=True, reason=PullReason.UNCHANGED)
    found = assembled(head.documents)
    if found.corpus is None:
        return _damaged(found.faults[0].kind, found.faults[0].reason)
    was_edited = draft is not None and is_dirty(assembled(base).corpus, draft.corpus)
    return PullResult(
        ok=True,
        reason=PullReason.PULLED,
        changed=True,
        corpus=found.corpus,
        kept_as=kept_name(draft.session, sessions) if draft and was_edited else None,
    )


def _damaged(kind: FaultKind, reason: str) -> PullResult:
    is_missing = kind is FaultKind.MISSING_FILE
    code = PushCode.TRANSPORT_CORRUPTION if is_missing else PushCode.CORPUS_INVALID
    return PullResult(ok=False, reason=reason, error_code=code)


def seen_hash(documents: Documents) -> str | None:
    """What a corpus is known by: the hash of its manifest, or of its one file."""
    known = documents.get(MANIFEST) or documents.get(LEGACY)
    return content_hash(known) if known else None


def kept_name(session: str, sessions: Collection[str]) -> str:
    """The session in which an edited draft is kept: ``default.kept-1``, or the next free one.

    A long name is cut, so that the session can be asked for.
    """
    stem = _KEPT.sub("", session)
    ends = (f".kept-{number}" for number in range(1, len(sessions) + 2))
    free = (f"{stem[: SESSION_CHARS_MAX - len(end)]}{end}" for end in ends)
    return next(name for name in free if name not in sessions)


def is_edited(draft: CorpusDraft, base: Head) -> bool:
    """Whether a draft says something else than what it was made from."""
    return is_dirty(assembled(base.documents).corpus, draft.corpus)


def pull_before_write(draft: CorpusDraft | None, base: Head, head: Head) -> PullResult | None:
    """The result of the pull that comes before a write, where it is left out; None: pull first.

    It is, where a draft is loaded that was made from the head, or from a newer revision that waits
    for its proof, or was edited since: what is edited is joined when it is pushed. ``base`` is what
    the draft was made from.
    """
    if draft is None:
        return None
    is_current = draft.revision >= head.revision or (
        seen_hash(base.documents) == seen_hash(head.documents)
    )
    is_fresh = is_current or is_edited(draft, base)
    return PullResult(ok=True, reason=PullReason.FRESH) if is_fresh else None
