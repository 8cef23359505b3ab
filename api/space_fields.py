"""Fields that name spaces: each resolves and authorises them, so that no view forgets the wall."""

from typing import Any

from flask import g
from marshmallow import ValidationError, fields

from api.fields import RequestSchema
from graphmem.adapters.workspaces import NO_ORCHESTRATOR
from graphmem.errors import Forbidden
from graphmem.model.space import Space, SpaceKind, parse_space
from graphmem.recall.spaces import readable_spaces

_SPACES_MAX = 8


def visible_space(name: str) -> Space:
    """The space of a name, if the caller may see it.

    Raises:
        ValidationError: the name is not valid.
        Forbidden: the caller may not see it.
    """
    try:
        space = parse_space(name, tenant=g.caller.tenant)
    except ValueError as error:
        raise ValidationError(str(error)) from error
    if not g.caller.may_see(space):
        raise Forbidden
    return space


class SpaceField(fields.String):
    """One space, such as user:ada, that the caller may see."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> Any:  # noqa: ANN401
        return visible_space(super()._deserialize(value, attr, data, **options))


class OrchestratorField(SpaceField):
    """The space of an orchestrator that the caller may see (002)."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> Any:  # noqa: ANN401
        space: Space = super()._deserialize(value, attr, data, **options)
        if space.kind is not SpaceKind.ORCHESTRATOR:
            raise ValidationError(NO_ORCHESTRATOR)
        return space


class SpacesField(fields.List[str]):
    """One to eight spaces that the caller may read; behind a persona its owner's is read too."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - marshmallow's
        super().__init__(
            fields.String(),
            required=True,
            metadata={"minItems": 1, "maxItems": _SPACES_MAX},
            **options,
        )

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> Any:  # noqa: ANN401
        is_long = isinstance(value, list) and len(value) > _SPACES_MAX
        names = value if is_long else super()._deserialize(value, attr, data, **options)
        if not 1 <= len(names) <= _SPACES_MAX:
            message = f"Length must be between 1 and {_SPACES_MAX}."
            raise ValidationError(message)
        return readable_spaces([str(name) for name in names], g.caller, field="space")


class OrchestratorRequest(RequestSchema):
    """A request about one orchestrator."""

    space = OrchestratorField(required=True, metadata={"example": "orchestrator:main"})
