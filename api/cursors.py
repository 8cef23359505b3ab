"""Cursors: where a page ended, as a text that callers hand back."""

import base64
from collections.abc import Sequence
from datetime import UTC, datetime

from graphmem.errors import InvalidInput
from graphmem.model.space import Space
from graphmem.store.memories import Place


def cursor_text(place: Place) -> str:
    """The cursor of a place."""
    return encoded(f"{place.created_at.isoformat()} {place.key}")


def encoded(text: str) -> str:
    """A text that says nothing at first sight and needs no escaping in an address."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decoded(cursor: str) -> str:
    """The text behind a cursor.

    Raises:
        InvalidInput: it is no cursor.
    """
    try:
        return base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode()
    except ValueError as error:
        raise InvalidInput({"cursor": ["Must be the next_cursor of a list."]}) from error


def place_of(cursor: str, spaces: Sequence[Space]) -> Place:
    """The place of a cursor; one from other spaces is not valid here.

    Raises:
        InvalidInput: it is not a cursor of such a list.
    """
    try:
        moment, _, key = decoded(cursor).partition(" ")
        place = Place(created_at=datetime.fromisoformat(moment).astimezone(UTC), key=key)
        ours = key.partition("|")[0] in {space.key for space in spaces}
    except (ValueError, OverflowError):
        ours = False
    if not ours:
        raise InvalidInput({"cursor": ["Must be the next_cursor of a list of the same spaces."]})
    return place
