"""Loop keys: what an open loop is known by, however it is worded (001, Shadow Judge). Pure."""

import hashlib
import re
from collections.abc import Iterator

from graphmem.companion.judge import normalised_content
from graphmem.model.companion import TodoKind
from graphmem.model.names import slug
from graphmem.text.analysis import STOP_WORDS, stem, words
from graphmem.text.normalise import is_storable
from graphmem.text.wording import wording

_WORDS_MIN, _WORDS_MAX = 3, 8
_KEY_MAX_CHARS, _SIGNATURE_MAX_CHARS, _DIGEST_CHARS = 200, 400, 16
_NOT_OF_KEYS = re.compile(r"[^a-z0-9]+")
_KEYS = wording("graphmem.companion", "keys")
_UNSAID = STOP_WORDS | frozenset(_KEYS["unsaid"].split())
_SAME = {each: group.split()[0] for group in _KEYS["same"] for each in group.split()}


def loop_key(kind: TodoKind, plain: str) -> str:
    """Three to eight words in snake_case: those of content, stemmed and in alphabetical order.

    Words of intent and of time do not count, so a paraphrase or another day changes nothing.
    Where two or less are left the kind stands before them; where none is, there is no key.
    """
    found = list(dict.fromkeys(_content_words(plain)))[:_WORDS_MAX]
    if not found:
        return ""
    before = (kind.lower(), "to")[: max(0, _WORDS_MIN - len(found))]
    return "_".join((*before, *sorted(found)))


def key_of(text: str) -> str:
    """A key of a to z, digits and underscores; of other scripts the letters stay."""
    text = text[:_KEY_MAX_CHARS]
    key = _NOT_OF_KEYS.sub("_", text.lower()).strip("_")
    return key or (slug(text) if is_storable(text) else "")


def signature_by_content(content: str) -> str:
    """What a loop without a key is known by; a long one by how it begins and its digest."""
    said = normalised_content(content)
    if len(said) <= _SIGNATURE_MAX_CHARS:
        return said
    digest = hashlib.sha256(said.encode()).hexdigest()[:_DIGEST_CHARS]
    return f"{said[: _SIGNATURE_MAX_CHARS - _DIGEST_CHARS - 1]} {digest}"


def _content_words(plain: str) -> Iterator[str]:
    for word in words(plain):
        if word not in _UNSAID and not word[0].isdigit():
            yield stem(_SAME.get(word, word))
