"""JSON answers: the value that a model wrote, whatever it wrote around it. Pure."""

import json
from typing import Any

_OPENING = "{["


def json_in(text: str) -> Any:  # noqa: ANN401 - any JSON
    """The one object or list of a text; code fences and words around it do not count.

    Raises:
        ValueError: there is none, or more than one.
    """
    starts = sorted(place for sign in _OPENING if (place := text.find(sign)) >= 0)
    for start in starts:  # a bracket in the words before it may be the first
        found = _read_at(text, start)
        if found is not None:
            return found
    message = "There is no single JSON object or list."
    raise ValueError(message)


def _read_at(text: str, start: int) -> Any:  # noqa: ANN401 - any JSON
    """The value that begins at a place and has no other behind it; None where there is none."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    is_alone = not any(sign in text[end:] for sign in _OPENING)
    return value if is_alone else None


def _refused(constant: str) -> float:
    message = f"{constant} is no JSON."
    raise ValueError(message)


_DECODER = json.JSONDecoder(parse_constant=_refused)
