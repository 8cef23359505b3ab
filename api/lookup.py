"""Finding what a path names, within what the key may see."""

from flask import Response, g, request
from marshmallow import ValidationError

from api.service import service
from api.space_fields import visible_space
from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.validation import is_uid
from graphmem.model.edge import Edge
from graphmem.model.memory import Memory, memory_key
from graphmem.model.space import Space


def found_memory(uid: str, space: Space | None) -> Memory:
    """The memory of a uid, if this key may read it; that it exists elsewhere is not said."""
    if not is_uid(uid):
        raise NotFound
    if space:
        found = list(service().memories.by_key([memory_key(space, uid)]).values())
    else:
        everywhere = service().memories.by_uid(g.caller.tenant, uid)
        found = [memory for memory in everywhere if g.caller.may_see(memory.space)]
    if not found:
        raise NotFound
    if len(found) > 1:
        raise InvalidInput({"space": ["Several spaces have a memory of that uid: name one."]})
    return found[0]


def space_in_path(name: str) -> Space:
    """The space that a path names.

    Raises:
        InvalidInput: the name is not valid.
        Forbidden: the key may not see it.
    """
    try:
        return visible_space(name)
    except ValidationError as error:
        raise InvalidInput({"space": [str(text) for text in error.messages]}) from error


def found_edge(uid: str, space: Space | None) -> tuple[Space, Edge]:
    """The edge of a uid and its space, if this key may see it."""
    if not is_uid(uid):
        raise NotFound
    found = [
        (its, edge)
        for its, edge in service().edges.by_uids(g.caller.tenant, [uid])
        if (its == space if space else g.caller.may_see(its))
    ]
    if not found:
        raise NotFound
    if len(found) > 1:
        raise InvalidInput({"space": ["Several spaces have an edge of that uid: name one."]})
    return found[0]


def tagged(response: Response, memory: Memory) -> Response:
    """A response with the version of a memory as its ETag."""
    response.set_etag(str(memory.version))
    return response


def expected_version(memory: Memory) -> int | None:
    """The version that If-Match asks for, or None where it asks for none.

    Raises:
        Conflict: the memory has another version now.
    """
    if not request.if_match or request.if_match.star_tag:
        return None
    if not request.if_match.contains_weak(str(memory.version)):
        message = (
            f"The memory is at version {memory.version}, which If-Match does not name:"
            " get it again."
        )
        raise Conflict(message)
    return memory.version
