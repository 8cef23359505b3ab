"""Join: the changes of two writers, where they are to different documents (000, retry). Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.corpus.assembly import assembled
from graphmem.corpus.blanks import is_blank
from graphmem.corpus.documents import MANIFEST, changes, content_hash, digest, parsed
from graphmem.corpus.manifest import CORE_FILES, ITEM_KEYS, has_corpus, has_id, section_of, split
from graphmem.corpus.schema import items_of
from graphmem.model.corpus import Corpus, Document, Documents, Section

# what the service writes with every change; it is made anew
_REMADE = frozenset({MANIFEST, CORE_FILES[Section.METADATA]})


@dataclass(frozen=True, kw_only=True, slots=True)
class Joined:
    """A corpus with the changes of both writers, or the documents that both changed."""

    corpus: Corpus | None = None
    conflicts: tuple[str, ...] = ()


def own_documents(documents: Documents) -> Documents:
    """The documents of a corpus among the files of a repository."""
    return {
        path: document
        for path, document in documents.items()
        if path == MANIFEST or section_of(path) is not None
    }


def as_split(documents: Documents, generated_at: datetime) -> Documents:
    """The documents of a corpus, also of one that still lies in one file."""
    corpus = None if MANIFEST in documents else assembled(documents).corpus
    if corpus is None:
        return own_documents(documents)
    return split(corpus, before={}, generated_at=generated_at)


def _can_be_joined(corpus: Corpus | None) -> bool:
    """Whether each item of a corpus is known by an id, so that two writers can mean the same."""
    if corpus is None:
        return False
    return all(has_id(item) for section in ITEM_KEYS for _, item in items_of(corpus, section))


def joined(
    base: Documents, mine: Documents, theirs: Documents, *, generated_at: datetime
) -> Joined:
    """What two writers made of the same documents, joined document by document.

    Items keep the order of theirs, unless only mine has another. What is no corpus, or has items
    without ids, is joined with nothing.
    """
    corpora = [assembled(each).corpus for each in (base, mine, theirs) if has_corpus(each)]
    if not all(_can_be_joined(corpus) for corpus in corpora):
        return Joined(conflicts=(MANIFEST,))
    before, own, other = (as_split(each, generated_at) for each in (base, mine, theirs))
    my_changes, their_changes = _told(before, own), _told(before, other)
    both = (path for path in my_changes & their_changes if _differ(own, other, path))
    if conflicts := tuple(sorted(both)):
        return Joined(conflicts=conflicts)
    one, two, three = (assembled(each).corpus or {} for each in (before, own, other))
    return _joined_corpora(one, two, three)


def _told(before: Documents, after: Documents) -> set[str]:
    """The documents that somebody changed; scaffold in place of nothing tells nothing."""
    paths = set(changes(before, after).paths) - _REMADE
    return {path for path in paths if _says(before.get(path)) or _says(after.get(path))}


def _says(document: Document | None) -> bool:
    """Whether a document tells something; what is no JSON does."""
    if document is None:
        return False
    try:
        return not is_blank(parsed(document.text))
    except ValueError:
        return True


def _differ(one: Documents, other: Documents, path: str) -> bool:
    return _hash(one.get(path)) != _hash(other.get(path))


def _hash(document: Document | None) -> str | None:
    return content_hash(document) if document else None


def _joined_corpora(base: Corpus, mine: Corpus, theirs: Corpus) -> Joined:
    """The corpus of both; only its version can still be changed by both."""
    values: dict[str, Any] = {}
    for name in {**theirs, **mine}:
        if name in {section.value for section in ITEM_KEYS}:
            values[name] = _joined_items(base, mine, theirs, name)
        else:
            values[name] = _later(base.get(name), mine.get(name), theirs.get(name))
    versions = {digest(each.get("schema_version")) for each in (base, mine, theirs)}
    is_conflict = len(versions) == len((base, mine, theirs))
    return Joined(conflicts=(MANIFEST,)) if is_conflict and base else Joined(corpus=values)


def _later(base: Any, mine: Any, theirs: Any) -> Any:  # noqa: ANN401 - any JSON
    """The value of who changed it; what is blank in place of nothing is no change."""
    has_theirs = theirs is not None and is_blank(base) and is_blank(mine)
    return theirs if mine == base or has_theirs else mine


def _joined_items(base: Corpus, mine: Corpus, theirs: Corpus, name: str) -> list[Any]:
    before, own, other = (_by_id(each, name) for each in (base, mine, theirs))
    items = {uid: _later(before.get(uid), own.get(uid), other.get(uid)) for uid in {**other, **own}}
    return [items[uid] for uid in _order(list(before), list(own), list(other)) if items[uid]]


def _by_id(corpus: Corpus, name: str) -> dict[str, Any]:
    return {item["id"]: item for _, item in items_of(corpus, name)}


def _order(base: list[str], mine: list[str], theirs: list[str]) -> Iterator[str]:
    """The order of theirs with my new ones behind, or the reverse where I alone reordered."""
    has_mine = _reorders(base, mine) and not _reorders(base, theirs)
    first, last = (mine, theirs) if has_mine else (theirs, mine)
    yield from first
    yield from (uid for uid in last if uid not in set(first))


def _reorders(base: list[str], ids: list[str]) -> bool:
    kept, there = set(ids), set(base)
    return [uid for uid in base if uid in kept] != [uid for uid in ids if uid in there]
