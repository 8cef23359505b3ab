"""Orchestrators: calls that are only about their spaces (002)."""

from api.finding import named_spaces
from graphmem.adapters.workspaces import NO_ORCHESTRATOR
from graphmem.errors import InvalidInput
from graphmem.model.space import Space, SpaceKind


def orchestrator_space(name: str) -> Space:
    """The orchestrator space that a request names, if the key may see it.

    Raises:
        InvalidInput: it is no orchestrator's.
        Forbidden: the key may not see it.
    """
    (space,) = named_spaces(name)
    if space.kind is not SpaceKind.ORCHESTRATOR or space.persona:
        raise InvalidInput({"space": [NO_ORCHESTRATOR]})
    return space
