"""Plain view: a trace without brackets, one value a line (004, Studio). Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ESCAPES = str.maketrans({"\r": "\\r", "\n": "\\n", "\t": "\\t"})


def plain_view(value: Mapping[str, Any]) -> str:
    """An object line by line: names sorted, nested ones with dots, lists numbered from 1."""
    return "".join(f"{name}: {text}\n" for name, text in _lines("", value))


def _lines(path: str, value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    if isinstance(value, Mapping):
        for name in sorted(value):
            yield from _lines(f"{path}.{name}" if path else str(name), value[name])
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield f"{path}.count", str(len(value))
        for number, each in enumerate(value, start=1):
            yield from _lines(f"{path}.{number}", each)
    else:
        yield path, _text(value)


def _text(value: Any) -> str:  # noqa: ANN401 - a value of JSON
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).translate(_ESCAPES)
