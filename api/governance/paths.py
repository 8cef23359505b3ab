"""What the paths and bodies of governed memory name: profiles, owners, phases and items."""

import re

from flask import g

from api.service import service
from graphmem.errors import Forbidden, InvalidInput
from graphmem.governance.contract import SPACES
from graphmem.governance.keeper import GovernanceKeeper
from graphmem.model.caller import Role
from graphmem.model.governance import ItemKind
from graphmem.model.space import Space, parse_space

_ITEM = re.compile(
    rf"(?P<space>{'|'.join(SPACES)}):(?P<owner>[^:]+):(?P<kind>{'|'.join(ItemKind)}):(?P<number>[0-9]{{1,15}})"
)


def keeper() -> GovernanceKeeper:
    """The keeper of governed memory."""
    return service().of(GovernanceKeeper)


def item_of_path(item_id: str) -> tuple[Space, ItemKind, int]:
    """The space, kind and number of an item by its id, in a space that the key may read.

    Raises:
        InvalidInput: it is no id of an item.
        Forbidden: the key may not read the space.
    """
    found = _ITEM.fullmatch(item_id)
    if found is None:
        raise InvalidInput({"item_id": ["Must be the id of an item: session:s1:semantic:1."]})
    try:
        space = parse_space(f"{found['space']}:{found['owner']}", tenant=g.caller.tenant)
    except ValueError as error:
        raise InvalidInput({"item_id": [str(error)]}) from error
    if not g.caller.may(Role.READER, space):
        raise Forbidden
    return space, ItemKind(found["kind"]), int(found["number"])
