"""Differences: what a plain reading of a file does not say of its record. Pure."""

import json
from collections.abc import Mapping
from typing import Any

OURS = "graphmem"  # the key of the front matter that says it
_FORM = {"form": 1}  # so that our files are known as ours


def with_value(front: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a front matter that have a value."""
    return {name: value for name, value in front.items() if value not in (None, "", [], {})}


def unsaid(line: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a record that reading what a file says of it does not give."""
    return {
        name: value
        for name, value in line.items()
        if name not in said or _form(said[name]) != _form(value)
    }


def _form(value: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(value, sort_keys=True, default=repr)


def with_ours(front: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """A front matter with what it does not say under a key of its own."""
    return {**front, OURS: {**_FORM, **dict(sorted(more.items()))}}


def with_unsaid(said: Mapping[str, Any], front: Mapping[str, Any]) -> dict[str, Any]:
    """A record as a file says it, with what only our own key says."""
    more = front.get(OURS)
    ours = more if isinstance(more, Mapping) else {}
    return {**said, **{name: value for name, value in ours.items() if name not in _FORM}}


def is_ours(front: Mapping[str, Any] | None) -> bool:
    """Whether an export of ours wrote a front matter."""
    return OURS in (front or {})
