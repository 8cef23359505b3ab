"""What paths of the lifecycle name."""

from flask import g

from api.lookup import space_in_path
from api.service import service
from graphmem.errors import Forbidden
from graphmem.lifecycle.keeper import LifecycleKeeper
from graphmem.model.caller import Role
from graphmem.model.space import Space


def keeper() -> LifecycleKeeper:
    """The service of the lifecycle."""
    return service().of(LifecycleKeeper)


def writable_space(name: str) -> Space:
    """The space that a path names, which the key may write.

    Raises:
        InvalidInput: the name is not valid.
        Forbidden: the key may not write there.
    """
    space = space_in_path(name)
    if not g.caller.may(Role.WRITER, space):
        raise Forbidden
    return space
