"""Spaces: which ones there are, how much they hold, and the policy that holds in them."""

from collections import Counter, defaultdict
from typing import Any

from flask import Response, g, jsonify
from marshmallow import Schema, fields

from api.auth import requires
from api.fields import RequestSchema
from api.json_blueprint import JsonBlueprint
from api.lookup import space_in_path
from api.paging import PageQuery, cursor_of, page_answer, page_of
from api.service import service
from api.space_fields import SpaceField
from graphmem.bounded_fields import Table
from graphmem.errors import InvalidInput
from graphmem.model.caller import Role
from graphmem.model.memory import Status, shown_status
from graphmem.model.orchestrator_config import KEYS, config_values
from graphmem.model.policy.layers import DEFAULT
from graphmem.model.policy.overrides import override_problems, policy_values, renamed
from graphmem.model.space import Space, SpaceKind
from graphmem.model.upkeep_rows import TopicRow
from graphmem.store.spaces import SpaceCounts
from graphmem.store.upkeep import Upkeep

blueprint = JsonBlueprint("spaces", __name__, url_prefix="/v1/spaces", description="The walls")


class SpaceAnswer(Schema):
    """A space and how many memories it holds."""

    space = fields.String()
    memories = fields.Integer()
    counts = fields.Dict(
        keys=fields.String(),
        values=fields.Dict(),
        metadata={"description": "type → status → how many"},
    )


SpaceList = page_of(SpaceAnswer, "SpaceList", "One page of spaces, by name.")


class TopicAnswer(Schema):
    """A word that stands out."""

    topic = fields.String()
    score = fields.Float()
    memories = fields.Integer(metadata={"description": "How many active memories had it"})
    uids = fields.List(
        fields.String(), metadata={"description": "The memories that are most about it"}
    )


TopicList = page_of(TopicAnswer, "TopicList", "The topics of a space, best first.")


class PolicyQuery(RequestSchema):
    """Whose policy to show."""

    space = SpaceField(required=True)


class PolicyBody(RequestSchema):
    """What a space has of its own policy, instead of what it had."""

    space = SpaceField(required=True, metadata={"example": "user:ada"})
    overrides = Table(
        keys=fields.String(),
        required=True,
        metadata={"example": {"recall.fused.k": 12}, "description": "Path in the policy → value"},
    )


class PolicyAnswer(Schema):
    """The policy that holds in a space."""

    space = fields.String()
    overrides = fields.Dict(metadata={"description": "What the space has of its own"})
    policy = fields.Dict(
        metadata={"description": "What holds: defaults, under the file, the kind, the space"}
    )
    origins = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        metadata={"description": "Whence each value: default, file, environment, kind or space"},
    )
    memory = fields.Dict(
        metadata={
            "description": (
                "In orchestrator spaces the memory.* keys (002), each with its value and origin"
            )
        }
    )


@blueprint.get("")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, SpaceList)
def listing(query: dict[str, Any]) -> Response:
    """List the spaces with memories that the key may read, counted by type and status."""
    page = service().spaces.page(
        g.caller.visible_prefixes,
        g.caller.visible_spaces,
        limit=query["limit"],
        after=cursor_of(query),
    )
    return page_answer(page, _view)


@blueprint.get("/policy")
@requires(Role.READER)
@blueprint.query(PolicyQuery)
@blueprint.response(200, PolicyAnswer)
def policy(query: dict[str, Any]) -> Response:
    """Show the policy that holds in a space."""
    return jsonify(_policy(query["space"]))


@blueprint.put("/policy")
@requires(Role.CURATOR)
@blueprint.arguments(PolicyBody)
@blueprint.response(200, PolicyAnswer)
def set_policy(values: dict[str, Any]) -> Response:
    """Set what a space has of its own policy. It holds within ten seconds in every process."""
    space: Space = values["space"]
    overrides = renamed(values["overrides"])
    if problems := override_problems(overrides, service().policies.defaults, of_space=True):
        raise InvalidInput({f"overrides.{path}": texts for path, texts in problems.items()})
    service().policies.save(space, overrides)
    return jsonify(_policy(space))


@blueprint.get("/<path:name>/policy")
@requires(Role.READER)
@blueprint.response(200, PolicyAnswer)
def policy_of(name: str) -> Response:
    """Show the policy that holds in a space, and where each value came from."""
    return jsonify(_policy(space_in_path(name)))


@blueprint.get("/<path:name>/topics")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, TopicList)
def topics(query: dict[str, Any], name: str) -> Response:
    """The words that stand out in a space (TF-IDF), best first; the consolidate job makes them."""
    space = space_in_path(name)
    page = service().of(Upkeep).topics(space.key, limit=query["limit"], after=cursor_of(query))
    return page_answer(page, _topic)


def _topic(row: TopicRow) -> dict[str, Any]:
    return {
        "topic": row.topic,
        "score": row.score,
        "memories": row.memories,
        "uids": list(row.uids),
    }


def _policy(space: Space) -> dict[str, Any]:
    policies = service().policies
    policy, origins = policies.of(space), policies.layer(space).origins
    values = policy_values(policy, of_space=True)
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
    by_type: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, status, number in counts.by_type_and_status:
        by_type[kind][shown_status(Status(status), counts.space)] += number
    memories = sum(number for _, _, number in counts.by_type_and_status)
    return {"space": counts.space.name, "memories": memories, "counts": by_type}
