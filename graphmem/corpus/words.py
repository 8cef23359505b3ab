"""Words: all that a value or a file puts into words, for the screening (000). Pure."""

import json
import re
from collections.abc import Iterator
from typing import Any

from graphmem.corpus.documents import parsed
from graphmem.corpus.schema import depth_problem
from graphmem.errors import InvalidInput
from graphmem.gateway.screening import leaves
from graphmem.model.corpus import Documents

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)


def words_of(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - any JSON
    """All texts and names of a value, and texts with their names.

    Raises:
        InvalidInput: it is nested too deeply to be walked through.
    """
    if problem := depth_problem(value):
        raise InvalidInput({problem.path: [problem.message]})
    return tuple(dict.fromkeys(leaves(value)))


def words_of_files(files: Documents) -> tuple[str, ...]:
    """All that files say: their names, and what a reader of their JSON or of their text finds."""
    return tuple(
        dict.fromkeys(
            word for path, document in files.items() for word in (path, *_said(document.text))
        )
    )


def _said(text: str) -> Iterator[str]:
    """Each value of a JSON text, of two of one name both; else the text, without escapes too."""
    try:
        parsed(text)
        yield from leaves(json.loads(text, object_pairs_hook=_fields))
    except ValueError:
        yield text
        yield _ESCAPE.sub(_meant, text)


def _meant(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else escape[2]


def _fields(pairs: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value} for name, value in pairs]
