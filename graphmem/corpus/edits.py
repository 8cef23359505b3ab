"""Edits: changes of a draft as data, so that one that the store did not take can be made later."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from graphmem.corpus.draft import merged, upserted, with_section, without_item
from graphmem.corpus.drafting import DraftChange
from graphmem.corpus.words import words_of, words_of_files
from graphmem.model.corpus import Corpus, CorpusDraft, Document, Documents, Section


class EditKind(StrEnum):
    """What an edit does."""

    PATCH = "patch"
    SECTION = "section"
    ITEM = "item"
    REMOVE = "remove"
    WHOLE = "whole"  # what a push had read


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """One change of a draft."""

    kind: EditKind
    value: Any = None
    section: Section | None = None
    uid: str = ""
    match: tuple[str, ...] = ()
    allows_blank: bool = False
    revision: int = 0  # that a whole draft was made from
    files: Documents = field(default_factory=dict)  # and those that it was imported from

    @property
    def words(self) -> tuple[str, ...]:
        """All that it puts into words, for the screening."""
        names = (*self.match, *filter(None, (self.uid,)))
        return (*words_of(self.value), *names, *words_of_files(self.files))

    @property
    def shown(self) -> dict[str, Any]:
        """The edit as it is kept."""
        return {
            "kind": self.kind.value,
            "value": self.value,
            "section": self.section.value if self.section else None,
            "uid": self.uid,
            "match": list(self.match),
            "allows_blank": self.allows_blank,
            "revision": self.revision,
            "files": {path: document.text for path, document in self.files.items()},
        }


def edit_of(kept: Mapping[str, Any]) -> Edit:
    """The edit that was kept."""
    return Edit(
        kind=EditKind(kept["kind"]),
        value=kept["value"],
        section=Section(kept["section"]) if kept["section"] else None,
        uid=kept["uid"],
        match=tuple(kept["match"]),
        allows_blank=kept["allows_blank"],
        revision=kept.get("revision", 0),
        files={
            path: Document(path=path, text=text) for path, text in kept.get("files", {}).items()
        },
    )


def whole(draft: CorpusDraft) -> Edit:
    """The edit that puts a whole draft in the place of another."""
    return Edit(kind=EditKind.WHOLE, value=draft.corpus, revision=draft.revision, files=draft.files)


def edited(corpus: Corpus, edit: Edit, new_id: Callable[[], str]) -> DraftChange:
    """A draft with an edit.

    Raises:
        InvalidInput: several items are meant, or none can join.
        NotFound: there is no such item.
    """
    if edit.kind is EditKind.WHOLE:
        return DraftChange(corpus=edit.value)
    if edit.kind is EditKind.PATCH:
        taken = merged(corpus, edit.value, allows_blank=edit.allows_blank)
        return DraftChange(corpus=taken.value, not_taken=taken.not_taken)
    assert edit.section is not None  # noqa: S101 - all others name one
    if edit.kind is EditKind.REMOVE:
        return DraftChange(corpus=without_item(corpus, edit.section, edit.uid))
    if edit.kind is EditKind.SECTION:
        taken = with_section(corpus, edit.section, edit.value, allows_blank=edit.allows_blank)
        return DraftChange(corpus=taken.value, not_taken=taken.not_taken)
    found = upserted(
        corpus,
        edit.section,
        edit.value,
        match=edit.match,
        new_id=new_id,
        allows_blank=edit.allows_blank,
    )
    return DraftChange(
        corpus=found.corpus, not_taken=found.not_taken, item=found.id, is_new=found.is_new
    )
