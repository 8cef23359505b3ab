"""Found: a record that a folder holds, or what could not be read of it, and why."""

from collections.abc import Callable, Mapping
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.intake.export_import import Record, Unread
from graphmem.lifecycle.files.folder import Unfit

Found = Record | Unread
Value = Callable[[Any], Any]
_ELSEWHERE = ("kept_by", "from_space", "to_space")


def record_of(place: str, kind: str, said: Any, read: Value) -> Found:  # noqa: ANN401 - any JSON
    """The record that something says, or why it could not be read."""
    try:
        return Record(place=place, kind=kind, value=read(said))
    except InvalidInput as error:
        return Unread(place=place, error=error)


def own(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """A record that belongs to the space of the folder alone.

    Raises:
        InvalidInput: a room keeps it, or it leads to another space.
    """
    if isinstance(value, Mapping):
        for name in _ELSEWHERE:
            if value.get(name) is not None:
                raise InvalidInput({name: ["Is not taken from a folder."]})
    return value


def left_out(unfit: Unfit) -> Unread:
    """A file that is none of the layout."""
    return unread(unfit.path, unfit.reason)


def unread(place: str, reason: str) -> Unread:
    """What is left out of a folder."""
    return Unread(place=place, error=InvalidInput({"file": [reason]}))
