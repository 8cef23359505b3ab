"""Spaces: which ones there are, how much they hold, and the policy that holds in them."""

from typing import Any

from flask import Response, g, jsonify
from flask.views import MethodView
from marshmallow import RAISE, Schema, fields, validate

from api.auth import requires
from api.cursors import decoded, encoded
from api.finding import named_spaces
from api.parsing import JsonBlueprint
from api.schemas.common import RequestSchema
from api.service import service
from graphmem.errors import Forbidden, InvalidInput
from graphmem.model.caller import Role
from graphmem.model.orchestrator_config import KEYS, config_values
from graphmem.model.policy_layers import DEFAULT
from graphmem.model.policy_overrides import override_problems, policy_values
from graphmem.model.space import Space, SpaceKind
from graphmem.store.spaces import SpaceCounts
from graphmem.store.upkeep import Upkeep

blueprint = JsonBlueprint("spaces", __name__, url_prefix="/v1/spaces", description="The walls")

_AT_ONCE = 200


class SpaceListQuery(RequestSchema):
    """A page of spaces."""

    limit = fields.Integer(load_default=50, validate=validate.Range(1, 200))
    cursor = fields.String(load_default=None)


class SpaceAnswer(Schema):
    """A space and how many memories it holds."""

    space = fields.String()
    memories = fields.Integer()
    counts = fields.Dict(
        keys=fields.String(),
        values=fields.Dict(),
        metadata={"description": "type → status → how many"},
    )


class SpaceList(Schema):
    """One page of spaces, by name."""

    items = fields.List(fields.Nested(SpaceAnswer))
    total = fields.Integer(metadata={"description": "How many are on this page"})
    next_cursor = fields.String(allow_none=True)


class TopicQuery(RequestSchema):
    """How many topics."""

    limit = fields.Integer(load_default=50, validate=validate.Range(1, 500))


class TopicAnswer(Schema):
    """A word that stands out."""

    topic = fields.String()
    score = fields.Float()
    memories = fields.Integer(metadata={"description": "How many active memories had it"})
    uids = fields.List(
        fields.String(), metadata={"description": "The memories that are most about it"}
    )


class TopicList(Schema):
    """The topics of a space, best first."""

    items = fields.List(fields.Nested(TopicAnswer))
    total = fields.Integer()
    next_cursor = fields.String(allow_none=True)


class PolicyQuery(RequestSchema):
    """Whose policy to show."""

    space = fields.String(required=True)


class PolicyBody(RequestSchema):
    """What a space has of its own policy, instead of what it had."""

    space = fields.String(required=True, metadata={"example": "user:ada"})
    overrides = fields.Dict(
        keys=fields.String(),
        required=True,
        metadata={"example": {"recall.fused.k": 12}, "description": "Path in the policy → value"},
    )


class PolicyAnswer(Schema):
    """The policy that holds in a space."""

    space = fields.String()
    overrides = fields.Dict(metadata={"description": "What the space has of its own"})
    policy = fields.Dict(
        metadata={"description": "What holds: defaults, under the file, under the space"}
    )
    origins = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        metadata={"description": "Where each value came from: default, file, environment or space"},
    )
    memory = fields.Dict(
        metadata={
            "description": "In orchestrator spaces the memory.* keys (002), each with its value and origin"
        }
    )


@blueprint.route("", methods=["GET"])
@requires(Role.READER)
@blueprint.arguments(SpaceListQuery, location="query", unknown=RAISE)
@blueprint.response(200, SpaceList)
def listing(query: dict[str, Any]) -> Response:
    """List the spaces that the key may read and that hold memories, with counts by type and status."""
    limit: int = query["limit"]
    behind = decoded(query["cursor"]) if query["cursor"] else ""
    prefixes = sorted(
        {f"{g.caller.tenant}/{pattern.partition('*')[0]}" for pattern in g.caller.spaces}
    )
    visible: list[SpaceCounts] = []
    while len(visible) <= limit and (
        page := service().spaces.page(prefixes, limit=_AT_ONCE, behind=behind)
    ):
        visible += [counts for counts in page if g.caller.may_see(counts.space)]
        behind = page[-1].space.key
    shown = visible[:limit]
    more = (
        encoded(shown[-1].space.key) if len(visible) > limit else None
    )  # never the name of one that is not shown
    return jsonify(items=[_view(counts) for counts in shown], total=len(shown), next_cursor=more)


@blueprint.route("/policy")
class PolicyView(MethodView):
    """The policy of a space."""

    @requires(Role.READER)
    @blueprint.arguments(PolicyQuery, location="query", unknown=RAISE)
    @blueprint.response(200, PolicyAnswer)
    def get(self, query: dict[str, Any]) -> Response:
        """Show the policy that holds in a space."""
        (space,) = named_spaces(query["space"])
        return jsonify(_policy(space))

    @requires(Role.CURATOR)
    @blueprint.arguments(PolicyBody)
    @blueprint.response(200, PolicyAnswer)
    def put(self, values: dict[str, Any]) -> Response:
        """Set what a space has of its own policy. It holds within ten seconds in every process."""
        (space,) = named_spaces(values["space"])
        if not g.caller.may(Role.CURATOR, space):
            raise Forbidden
        if problems := override_problems(values["overrides"]):
            raise InvalidInput({f"overrides.{path}": texts for path, texts in problems.items()})
        service().policies.save(space, values["overrides"])
        return jsonify(_policy(space))


@blueprint.route("/<path:name>/policy", methods=["GET"])
@requires(Role.READER)
@blueprint.response(200, PolicyAnswer)
def policy_of(name: str) -> Response:
    """Show the policy that holds in a space, and where each value came from."""
    (space,) = named_spaces(name)
    return jsonify(_policy(space))


@blueprint.route("/<path:name>/topics", methods=["GET"])
@requires(Role.READER)
@blueprint.arguments(TopicQuery, location="query", unknown=RAISE)
@blueprint.response(200, TopicList)
def topics(query: dict[str, Any], name: str) -> Response:
    """The words that stand out in a space (TF-IDF), best first; the consolidate job makes them."""
    (space,) = named_spaces(name)
    found = service().of(Upkeep).topics(space.key, limit=query["limit"])
    items = [
        {"topic": row.topic, "score": row.score, "memories": row.memories, "uids": list(row.uids)}
        for row in found
    ]
    return jsonify(items=items, total=len(items), next_cursor=None)


def _policy(space: Space) -> dict[str, Any]:
    policies = service().policies
    policy, origins = policies.of(space), policies.layer(space).origins
    values = policy_values(policy)
    shown = {
        "space": space.name,
        "overrides": dict(policies.overrides(space)),
        "policy": values,
        "origins": {path: origins.get(path, DEFAULT) for path in values},
    }
    if space.kind is SpaceKind.ORCHESTRATOR:
        shown["memory"] = {
            f"memory.{name}": {"value": value, "origin": origins.get(KEYS[name].path, DEFAULT)}
            for name, value in config_values(policy).items()
        }
    return shown


def _view(counts: SpaceCounts) -> dict[str, Any]:
    by_type: dict[str, dict[str, int]] = {}
    for kind, status, number in counts.by_type_and_status:
        by_type.setdefault(kind, {})[status] = number
    memories = sum(number for _, _, number in counts.by_type_and_status)
    return {"space": counts.space.name, "memories": memories, "counts": by_type}
