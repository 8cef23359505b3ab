"""Approvals: what somebody said yes to, which is exactly one content of a section (000). Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.corpus.blanks import is_blank
from graphmem.corpus.documents import digest
from graphmem.corpus.scaffold import SCAFFOLDED, scaffold_of
from graphmem.errors import Conflict
from graphmem.model.corpus import SET_BY_SERVICE, Approval, Basis, Corpus, Section


def section_content(corpus: Corpus, section: Section) -> Any:  # noqa: ANN401 - any JSON
    """What a section says: of metadata only what the service does not set.

    One that is absent or empty says what its scaffold says, which a push writes for it.
    """
    content = corpus.get(section)
    if section is Section.METADATA:
        fields = content if isinstance(content, dict) else {}
        return {name: value for name, value in fields.items() if name not in SET_BY_SERVICE}
    is_empty = content is None or content in ({}, [])
    return scaffold_of(section) if is_empty and section in SCAFFOLDED else content


def section_hash(corpus: Corpus, section: Section) -> str:
    """The hash of what a section says, by which it is approved."""
    return digest(section_content(corpus, section))


def section_hashes(corpus: Corpus) -> Mapping[Section, str]:
    """The hashes of all seven sections."""
    return {section: section_hash(corpus, section) for section in Section}


def changed_sections(before: Corpus, after: Corpus) -> tuple[Section, ...]:
    """The sections of which two corpora say something else; one that is blank says nothing."""
    return tuple(section for section in Section if _is_changed(section, before, after))


def _is_changed(section: Section, before: Corpus, after: Corpus) -> bool:
    one, other = section_content(before, section), section_content(after, section)
    return digest(one) != digest(other) and not (is_blank(one) and is_blank(other))


def is_dirty(before: Corpus | None, draft: Corpus) -> bool:
    """Whether a draft says something else than a corpus; against none, whether it says anything."""
    if before is None:
        return not all(is_blank(draft.get(section)) for section in Section)
    is_reversioned = "schema_version" in draft and (
        draft["schema_version"] != before.get("schema_version")
    )
    return is_reversioned or bool(changed_sections(before, draft))


def approval_of(
    corpus: Corpus,
    section: Section,
    *,
    shown: str,
    basis: Basis,
    approved: bool,
    now: datetime,
) -> Approval:
    """The record of what somebody said of a section; ``shown`` is the hash of what he was shown.

    Raises:
        Conflict: the section says something else by now.
    """
    if shown != section_hash(corpus, section):
        message = f"The {section} section of the draft is not the one that was shown."
        raise Conflict(message)
    return Approval(section=section, content_sha256=shown, basis=basis, approved=approved, at=now)


def standing(approvals: Iterable[Approval], corpus: Corpus) -> Mapping[Section, Approval]:
    """The approvals that hold for a corpus.

    The last word on a content counts, whatever its time; an edit voids the approval of what it
    changes.
    """
    return _standing(approvals, section_hashes(corpus))


def _standing(
    approvals: Iterable[Approval], hashes: Mapping[Section, str]
) -> Mapping[Section, Approval]:
    latest = {(each.section, each.content_sha256): each for each in approvals}
    current = (latest.get(key) for key in hashes.items())
    return {each.section: each for each in current if each and each.approved}


@dataclass(frozen=True, kw_only=True, slots=True)
class SectionStanding:
    """What a section of a draft says, as a hash, and since when that is approved."""

    content_sha256: str
    approved_at: datetime | None = None

    @property
    def approved(self) -> bool:
        """Whether it is approved."""
        return self.approved_at is not None


def section_standings(
    approvals: Iterable[Approval], corpus: Corpus
) -> Mapping[Section, SectionStanding]:
    """Where each section of a draft stands."""
    return standings_of(approvals, section_hashes(corpus))


def standings_of(
    approvals: Iterable[Approval], hashes: Mapping[Section, str]
) -> Mapping[Section, SectionStanding]:
    """Where sections stand that say what has these hashes."""
    approved = _standing(approvals, hashes)
    return {
        section: SectionStanding(
            content_sha256=content,
            approved_at=approved[section].at if section in approved else None,
        )
        for section, content in hashes.items()
    }


def all_approved(approvals: Iterable[Approval], corpus: Corpus) -> bool:
    """Whether all seven sections of a corpus are approved."""
    return len(standing(approvals, corpus)) == len(Section)
