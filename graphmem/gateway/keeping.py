"""Keeping: a memory that a room keeps is changed by that room alone (rooms)."""

from graphmem.errors import KeptByRoom
from graphmem.model.memory import Memory


def check_keeper(memory: Memory, room: str | None) -> None:
    """Refuse a change of a memory by anybody but its keeper; plain memories are kept by none.

    Raises:
        KeptByRoom: another room keeps it, or none does.
    """
    if memory.kept_by == room:
        return
    if memory.kept_by:
        message = f"The room {memory.kept_by} keeps the memory {memory.uid}: use its calls."
    else:
        message = f"The room {room} does not keep the memory {memory.uid}."
    raise KeptByRoom(message)
