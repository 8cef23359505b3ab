"""Packing: a revision as one file, and what two revisions differ in. Pure."""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

from graphmem.corpus.assembly import assembled
from graphmem.corpus.documents import tree_of
from graphmem.corpus.file_names import check_paths
from graphmem.corpus.manifest import section_of
from graphmem.corpus.verification import tree_changes
from graphmem.model.corpus import Corpus, Documents, Head, Section

_ALWAYS = (2000, 1, 1, 0, 0, 0)  # so that the same documents are the same file


def zipped(documents: Documents) -> bytes:
    """Documents in one file, byte by byte; the same ones are always the same file.

    Raises:
        InvalidInput: one could lie outside the folder that it is unpacked in.
    """
    check_paths(documents)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(documents):
            entry = zipfile.ZipInfo(path, date_time=_ALWAYS)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, documents[path].text.encode())
    return packed.getvalue()


def corpus_in(documents: Documents) -> Corpus | None:
    """The corpus that documents are; None where they are none."""
    return assembled(documents).corpus


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentDiff:
    """What became of a document; a text is None where there was none."""

    path: str
    before: str | None
    after: str | None

    @property
    def change(self) -> str:
        """Whether the document was added, removed or changed."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"


def differences(one: Head, other: Head) -> Iterator[DocumentDiff]:
    """The documents in which two revisions differ, by their paths."""
    changed = tree_changes(tree_of(one.documents), tree_of(other.documents))
    for path in sorted(changed.paths):
        before, after = one.documents.get(path), other.documents.get(path)
        yield DocumentDiff(
            path=path,
            before=before.text if before else None,
            after=after.text if after else None,
        )


def sections_in(found: list[DocumentDiff]) -> list[Section]:
    """The sections of which some documents are."""
    named = {section_of(each.path) for each in found}
    return [section for section in Section if section in named]
