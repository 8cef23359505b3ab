"""Admin: API keys."""

from typing import Any

from flask import Response, g, jsonify
from marshmallow import Schema, ValidationError, fields, validate

from api.auth import requires
from api.fields import RequestSchema, Text
from api.json_blueprint import JsonBlueprint
from api.paging import page_answer, page_of
from api.service import service
from graphmem.bounded_fields import Several
from graphmem.errors import Forbidden
from graphmem.model.caller import STARS_MAX, Role, is_pattern
from graphmem.model.page import Page
from graphmem.model.space import FIRST_TENANT, SpaceKind, is_tenant_name
from graphmem.text.times import iso

blueprint = JsonBlueprint(
    "admin", __name__, url_prefix="/v1/admin", description="Running the service"
)


def _check_pattern(pattern: str) -> None:
    if not is_pattern(pattern):
        message = (
            f"Must be * or kind:owner with at most {STARS_MAX} * as wild cards;"
            f" the kinds are {', '.join(SpaceKind)}."
        )
        raise ValidationError(message)


def _check_tenant(tenant: str) -> None:
    if not is_tenant_name(tenant):
        message = "Must be 1 to 128 characters without blanks, control characters or / : |."
        raise ValidationError(message)


class KeyRequest(RequestSchema):
    """A key to be made."""

    name = Text(required=True, validate=validate.Length(1, 128))
    role = fields.Enum(Role, by_value=True, required=True)
    spaces = Several(
        Text(validate=[validate.Length(1, 300), _check_pattern]),
        most=64,
        required=True,
        validate=validate.Length(1),
    )
    tenant = Text(validate=_check_tenant)


class KeyAnswer(Schema):
    """What may be shown of a key."""

    id = fields.String()
    name = fields.String()
    tenant = fields.String()
    role = fields.String()
    spaces = fields.List(fields.String())
    created_at = fields.DateTime()
    revoked_at = fields.DateTime(allow_none=True)
    key = fields.String(metadata={"description": "The key itself, shown this once"})


KeyList = page_of(KeyAnswer, "KeyList", "The keys of a tenant.")


@blueprint.get("/keys")
@requires(Role.ADMIN)
@blueprint.response(200, KeyList)
def listing() -> Response:
    """List the keys of the tenant that can do no more than one's own, oldest first."""
    keys = tuple(service().keys.held_by(g.caller))
    return page_answer(Page(items=keys, total=len(keys)), _view)


@blueprint.post("/keys")
@requires(Role.ADMIN)
@blueprint.arguments(KeyRequest)
@blueprint.response(201, KeyAnswer)
def create(values: dict[str, Any]) -> Response:
    """Make a key. An admin key of the first tenant with ``*`` may name another tenant."""
    tenant = values.get("tenant", g.caller.tenant)
    is_first = g.caller.tenant == FIRST_TENANT and "*" in g.caller.spaces
    if tenant != g.caller.tenant and not is_first:
        raise Forbidden
    if not (g.caller.holds(values["spaces"]) and g.caller.role.includes(values["role"])):
        message = "A key cannot be given spaces that your own key does not have."
        raise Forbidden(message)
    made = service().keys.create(
        name=values["name"], role=values["role"], tenant=tenant, spaces=values["spaces"]
    )
    response = jsonify(_view(made))
    response.status_code = 201
    return response


@blueprint.delete("/keys/<key_id>")
@requires(Role.ADMIN)
@blueprint.response(200, KeyAnswer)
def revoke(key_id: str) -> Response:
    """Revoke a key that can do no more than one's own.

    Other processes may honour it for five more seconds.
    """
    revoked = service().keys.revoke(key_id, tenant=g.caller.tenant, by=g.caller)
    return jsonify(_view(revoked))


def _view(key: Any) -> dict[str, Any]:  # noqa: ANN401 - a mapping
    return {**key, "created_at": iso(key["created_at"]), "revoked_at": iso(key["revoked_at"])}
