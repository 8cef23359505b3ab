"""Blanks: what says nothing, and may therefore not take the place of what says something. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphmem.corpus.schema import Place, dotted


def is_blank(value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether a JSON value says nothing: null, blanks, or only what says nothing."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, Mapping):
        return all(is_blank(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return all(is_blank(inner) for inner in value)
    return value is None


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """A value after a change, and the paths at which a blank was not taken."""

    value: Any
    not_taken: tuple[str, ...] = ()


def replaced(before: Any, after: Any, place: Place = ()) -> Taken:  # noqa: ANN401 - any JSON
    """A value in place of another, without blanks in place of content.

    Objects are looked at field by field, items of lists by their ids.
    """
    if is_blank(after) and not is_blank(before):
        return Taken(value=before, not_taken=(dotted(place),))
    if isinstance(before, dict) and isinstance(after, dict):
        return _replaced_fields(before, after, place)
    if isinstance(before, list) and isinstance(after, list):
        return _replaced_items(before, after, place)
    return Taken(value=after)


def _replaced_fields(before: dict[str, Any], after: dict[str, Any], place: Place) -> Taken:
    fields = {
        name: replaced(before.get(name), value, (*place, name)) for name, value in after.items()
    }
    return Taken(
        value={name: each.value for name, each in fields.items()},
        not_taken=tuple(path for each in fields.values() for path in each.not_taken),
    )


def _replaced_items(before: list[Any], after: list[Any], place: Place) -> Taken:
    known = {item["id"]: item for item in before if _has_id(item)}
    items = [
        replaced(known[item["id"]], item, (*place, number))
        if _has_id(item) and item["id"] in known
        else Taken(value=item)
        for number, item in enumerate(after)
    ]
    return Taken(
        value=[each.value for each in items],
        not_taken=tuple(path for each in items for path in each.not_taken),
    )


def _has_id(item: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(item, dict) and isinstance(item.get("id"), str)
