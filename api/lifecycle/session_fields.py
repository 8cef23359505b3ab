"""Fields that name a session, and its space where the request leaves that out."""

from collections.abc import Mapping
from typing import Any

from flask import g
from marshmallow import ValidationError, post_load, validates_schema

from api.fields import Id, WithoutNulls
from api.service import service
from api.space_fields import SpaceField
from graphmem.conversations.sayings import id_problem
from graphmem.errors import Forbidden
from graphmem.lifecycle.namespaces import space_of_session
from graphmem.model.space import Space

SESSION = {"example": "chat-7", "description": "The id of the conversation"}
_MISSING = "Missing data for required field."
_SPACE = {
    "example": "user:ada",
    "description": (
        "May be left out where `lifecycle.namespaces_enabled` is set: then the session tells it"
    ),
}


class SessionFields(WithoutNulls):
    """A session and its space, which the session tells where namespaces are switched on.

    Where a body need not name a session, it has to name one of the two.
    """

    space = SpaceField(metadata=_SPACE)
    session = Id(required=True, metadata=SESSION)

    @validates_schema(skip_on_field_errors=False)
    def _session(self, values: dict[str, Any], **_: object) -> None:
        session = values.get("session")
        if session is not None and (problem := id_problem(session)):
            raise ValidationError({"session": [problem]})

    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def _space(self, _: dict[str, Any], original: Any, **__: object) -> None:  # noqa: ANN401 - any JSON
        if not isinstance(original, Mapping) or original.get("space") is not None:
            return
        names_session = self.fields["session"].required or original.get("session") is not None
        if not (names_session and service().policy.lifecycle.namespaces_enabled):
            raise ValidationError({"space": [_MISSING]})

    @post_load
    def _with_space(self, values: dict[str, Any], **_: object) -> dict[str, Any]:
        return {"space": values.get("space") or visible_space_of(values["session"]), **values}


def visible_space_of(session: str) -> Space:
    """The space of a session that names none.

    Raises:
        Forbidden: the caller may not see it.
    """
    space = space_of_session(session, service().policy.lifecycle, tenant=g.caller.tenant)
    if not g.caller.may_see(space):
        raise Forbidden
    return space
