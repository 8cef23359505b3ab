"""Model answers: the schemas that models are asked with, and the checks of what they say. Pure.

What a model says is never trusted: text of a wrong form counts as none, a wrong frame as no answer.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from graphmem.errors import ModelUnavailable
from graphmem.text.normalise import is_storable

TEXT: Mapping[str, Any] = {"type": "string"}
TEXTS: Mapping[str, Any] = {"type": "array", "items": TEXT}


def object_of(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON Schema
    """The schema of an object that has all of these properties, and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def array_of(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON Schema
    """The schema of a list of such objects."""
    return {"type": "array", "items": object_of(**properties)}


def one_of(*words: str) -> dict[str, Any]:
    """The schema of one of some words."""
    return {"type": "string", "enum": list(words)}


def object_in(value: object) -> Mapping[str, Any]:
    """The object that a value is, alone or in a list; an empty one for anything else."""
    only = value[0] if isinstance(value, list) and len(value) == 1 else value
    return only if isinstance(only, Mapping) else {}


def objects_in(values: object) -> list[Mapping[str, Any]]:
    """A list of objects.

    Raises:
        ModelUnavailable: it is anything else.
    """
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        message = "The language model's answer is not of the form that it was asked for."
        raise ModelUnavailable(message)
    return values


def texts_in(values: object, most: int) -> Iterator[str]:
    """The texts of a list, each with its first ``most`` characters; none where it is no list."""
    for value in values if isinstance(values, list) else ():
        if text := text_in(value, most):
            yield text


def text_in(value: object, most: int) -> str:
    """The first ``most`` characters of a text; nothing where it is none that can be stored."""
    if not isinstance(value, str) or not is_storable(value):
        return ""
    return value.strip()[:most]


def places_in(values: object, size: int) -> tuple[int, ...]:
    """The places in a list of ``size`` things that another list names, each once, in its order."""
    named = values if isinstance(values, list) else ()
    numbers = [each for each in named if isinstance(each, int) and not isinstance(each, bool)]
    return tuple(dict.fromkeys(each for each in numbers if 0 <= each < size))


def share_in(value: object) -> float | None:
    """A number from 0 to 1; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None  # type: ignore[arg-type, operator]
