"""Documents: canonical JSON, what a document hashes to, and how it can be read. Pure."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn

from graphmem.corpus.recent import Recent
from graphmem.model.corpus import Document, Documents, text_digest

MANIFEST = "corpus_index.json"
LEGACY = "career_corpus.json"  # a corpus in one file: it is read, and never written
DEPTH_MAX = 32  # of a JSON value; a corpus has five
_TOO_DEEP = "It is nested too deeply."
GENERATED_AT = "generated_at_utc"  # of a manifest; it stays out of its hash (trap 31)


def canonical_json(value: Any) -> str:  # noqa: ANN401 - any JSON
    """The one text of a JSON value: sorted keys, no blanks, other letters as they are."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(value: Any) -> str:  # noqa: ANN401 - any JSON
    """SHA-256 of the canonical JSON of a value, in hex."""
    return text_digest(canonical_json(value))


def parsed(text: str) -> Any:  # noqa: ANN401 - any JSON
    """The value of a JSON text.

    Raises:
        ValueError: it is no JSON; numbers that are not finite, lone surrogates and what is nested
            too deeply are none.
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    may_be_deep = text.count("[") + text.count("{") > DEPTH_MAX
    if may_be_deep and is_too_deep(value):
        raise ValueError(_TOO_DEEP)
    if "\\u" in text:
        canonical_json(value).encode()  # a lone surrogate has no bytes
    return value


def _finite(number: str) -> float:
    return float(number) if isfinite(float(number)) else _refuse(number)


def is_too_deep(value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether a JSON value is nested deeper than rules walk through it."""
    level = [value]
    for _ in range(DEPTH_MAX):
        level = [inner for each in level for inner in _inner(each)]
        if not level:
            return False
    return True


def _inner(value: Any) -> Iterable[Any]:  # noqa: ANN401 - any JSON
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _refuse(constant: str) -> NoReturn:
    message = f"{constant} is no JSON."
    raise ValueError(message)


_HASHES_KEPT = 20_000
_content_hashes: Recent[str] = Recent(_HASHES_KEPT)


def content_hash(document: Document) -> str:
    """What a document says, as a hash: layout does not count, nor the time of a manifest."""
    key = (document.path == MANIFEST, document.sha256)
    found = _content_hashes.get(key)
    if found is None:
        found = _content_hash(document)
        _content_hashes.put(key, found)
    return found


def _content_hash(document: Document) -> str:
    try:
        value = parsed(document.text)
    except ValueError:
        return document.sha256
    if document.path == MANIFEST and isinstance(value, dict):
        value.pop(GENERATED_AT, None)
    return digest(value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """Which documents a corpus changes, and which leave, by their paths in order."""

    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.changed, *self.deleted)


def changes(before: Documents, after: Documents) -> Changes:
    """What differs in content from documents that were there."""
    return Changes(
        changed=tuple(path for path in sorted(after) if _differs(before.get(path), after[path])),
        deleted=tuple(sorted(before.keys() - after.keys())),
    )


def _differs(before: Document | None, after: Document) -> bool:
    if before is None:
        return True
    return before.text != after.text and content_hash(before) != content_hash(after)


@dataclass(frozen=True, kw_only=True, slots=True)
class Payload:
    """Figures of a document that is written, which show what a transport did to it."""

    char_len: int
    byte_len: int
    sha256: str
    contains_non_ascii: bool
    newline_count: int


def payload(document: Document) -> Payload:
    """The figures of a document."""
    return Payload(
        char_len=len(document.text),
        byte_len=len(document.text.encode("utf-8", "surrogatepass")),
        sha256=document.sha256,
        contains_non_ascii=not document.text.isascii(),
        newline_count=document.text.count("\n"),
    )


def tree_of(documents: Documents) -> Mapping[str, str]:
    """The tree of a commit: the hash of each document by its path."""
    return {path: documents[path].sha256 for path in sorted(documents)}
