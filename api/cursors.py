"""Cursors: where a page ended, as a text that callers hand back."""

import base64
import binascii
from collections.abc import Sequence
from datetime import UTC, datetime

from graphmem.errors import InvalidInput
from graphmem.model.space import Space
from graphmem.store.memories import Place


def cursor_text(place: Place) -> str:
    """The cursor of a place."""
    text = f"{place.created_at.isoformat()} {place.key}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(cursor: str, spaces: Sequence[Space]) -> Place:
    """The place of a cursor; one from other spaces is not valid here.

    Raises:
        InvalidInput: it is not a cursor of such a list.
    """
    try:
        text = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode()
        moment, _, key = text.partition(" ")
        place = Place(created_at=datetime.fromisoformat(moment).astimezone(UTC), key=key)
        ours = key.partition("|")[0] in {space.key for space in spaces}
    except (ValueError, OverflowError, binascii.Error):
        ours = False
    if not ours:
        raise InvalidInput({"cursor": ["Must be the next_cursor of a list of the same spaces."]})
    return place
