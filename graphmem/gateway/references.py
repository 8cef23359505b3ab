"""References: the memories that a request names, and the edges to them. Pure."""

from graphmem.errors import Conflict, InvalidInput
from graphmem.gateway.draft import Draft
from graphmem.gateway.item import EDGE_FIELDS, Item
from graphmem.gateway.keeping import check_keeper
from graphmem.model.edge import EdgeType
from graphmem.model.memory import Memory, Status
from graphmem.model.writing import Outcome


def check_references(draft: Draft, item: Item) -> None:
    """Refuse an item that names what is not there, or what it may not update.

    Raises:
        InvalidInput: there is no such memory, or it is no turn of that conversation.
        KeptByRoom, Conflict: see check_keeper; it has several current successors.
    """
    missing = {
        path: ["There is no memory of that uid in this space."]
        for path, uid in item.references
        if item.key_of(uid) not in draft.memories
    }
    after = draft.memories.get(item.key_of(item.request.after)) if item.request.after else None
    if after and after.source.conversation_id != item.request.source.conversation_id:
        missing["after"] = ["Must be a turn of the same conversation."]
    if missing:
        raise InvalidInput(missing)
    for uid in item.request.updates:
        other = draft.memories[item.key_of(uid)]
        check_keeper(other, item.request.kept_by)
        _present_successors(draft, other, item.call)


def connect(draft: Draft, item: Item, memory: Memory) -> Outcome | None:
    """Draw the requested edges; the outcome of one that updates others."""
    outcome: Outcome | None = None
    for name, edge_type in EDGE_FIELDS.items():
        for uid in getattr(item.request, name):
            other = draft.named(item.key_of(uid))
            if other is None or other.key == memory.key:
                continue
            if (
                edge_type is EdgeType.UPDATES
                and memory.key in draft.created
                and memory.is_before(other)
            ):
                draft.draw(other, EdgeType.UPDATES, memory)
                memory = draft.put_before(draft.memories[memory.key], other.began)
                if memory.status is Status.SUPERSEDED:
                    outcome = Outcome.SUPERSEDED_BY_NEWER
            elif edge_type is EdgeType.UPDATES:
                successors = _present_successors(draft, other, item.call)
                draft.supersede(memory, other)
                draft.updaters.setdefault(other.key, []).append((item.call, memory.key))
                for successor in successors:
                    if successor.key != memory.key:
                        draft.supersede(memory, successor)
                outcome = Outcome.SUPERSEDED
            else:
                draft.draw(memory, edge_type, other)
    return outcome


def _present_successors(draft: Draft, other: Memory, call: int) -> list[Memory]:
    """The memory that had taken the place of another before this call, if it is current.

    Items of one call that update the same memory stand side by side.

    Raises:
        Conflict: there are several; the message names them.
    """
    if other.status is not Status.SUPERSEDED:
        return []
    earlier = [key for number, key in draft.updaters.get(other.key, ()) if number != call]
    keys = dict.fromkeys((*draft.before.updaters.get(other.key, ()), *earlier))
    found = [draft.memories.get(key) for key in keys]
    current = [each for each in found if each and each.status is Status.ACTIVE]
    if len(current) > 1:
        names = ", ".join(each.uid for each in current)
        message = f"The memory {other.uid} has several current successors: {names}. Update those."
        raise Conflict(message)
    return current
