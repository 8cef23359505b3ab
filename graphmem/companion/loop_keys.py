"""Loop keys: what an open loop is known by, however it is worded (001, Shadow Judge). Pure."""

from collections.abc import Iterator

from graphmem.model.companion import TodoKind
from graphmem.text.analysis import STOP_WORDS, stem, words
from graphmem.text.wording import wording

_WORDS_MIN, _WORDS_MAX = 3, 8
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


def _content_words(plain: str) -> Iterator[str]:
    for word in words(plain):
        if word not in _UNSAID and not word[0].isdigit():
            yield stem(_SAME.get(word, word))
