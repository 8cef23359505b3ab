"""Messages: what a schema says of nested values, path by path."""

from collections.abc import Iterator, Mapping
from typing import Any

_SCHEMA = "_schema"  # marshmallow's name for what is wrong with a whole


def flat_messages(messages: Mapping[Any, Any], whole: str = "") -> dict[str, list[str]]:
    """Nested messages of marshmallow as ``path.to.field`` → texts; ``whole`` is the empty path."""
    flat: dict[str, list[str]] = {}
    for path, text in _leaves(messages, ()):
        flat.setdefault(".".join(path) or whole, []).append(text)
    return flat


def _leaves(messages: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ANN401 - nested
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            yield from _leaves(inner, path if name == _SCHEMA else (*path, str(name)))
    else:
        for text in messages if isinstance(messages, list) else [messages]:
            yield path, str(text)
