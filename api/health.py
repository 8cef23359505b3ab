"""Health: whether the process lives, whether it can serve, what it is and what it did."""

from cachetools import TTLCache
from flask import Response, current_app, jsonify
from marshmallow import Schema, fields
from prometheus_client import generate_latest

from api.auth import authenticate, is_loopback
from api.json_blueprint import JsonBlueprint
from api.observability import metrics
from api.service import readiness, service
from graphmem import __version__
from graphmem.database import disk_space
from graphmem.errors import DiskLow, Forbidden, GraphmemError, StoreUnavailable
from graphmem.model.caller import Role

blueprint = JsonBlueprint("health", __name__, description="Whether the service works")

_ASKED_SECONDS = 30.0
_PARTLY = {"embedder", "disk"}  # without which the service still does something
_OPEN: dict[str, list[object]] = {"security": []}


class LiveAnswer(Schema):
    """The process lives."""

    status = fields.String()


class ReadyAnswer(Schema):
    """Whether each part can serve: "ok", or what is wrong with it."""

    status = fields.String()
    checks = fields.Dict(keys=fields.String(), values=fields.String())
    disk_free_mib = fields.Integer(
        metadata={"description": "Free where the data folder is; low: writes are 503 disk_low"}
    )


class VersionAnswer(Schema):
    """What is running."""

    version = fields.String()
    embedder = fields.String()


@blueprint.route("/health/live")
@blueprint.response(200, LiveAnswer)
@blueprint.doc(**_OPEN)
def live() -> Response:
    """Whether the process lives."""
    return jsonify(status="ok")


@blueprint.route("/health/ready")
@blueprint.response(200, ReadyAnswer)
@blueprint.alt_response(503, schema=ReadyAnswer)
@blueprint.doc(**_OPEN)
def ready() -> Response:
    """Whether Neo4j, the schema, the keys, the embedder and the disk can serve, each named."""
    checks = {"neo4j": "ok", "schema": "ok", "embedder": _embedder_state(), "keys": "ok"}
    disk = disk_space(service().settings)
    try:
        disk.check()
        checks["disk"] = "ok"
    except DiskLow as low:
        checks["disk"] = low.message
    try:
        if problem := service().connection.problem():
            raise problem
        service().check_schema()
        if not service().keys.exist():
            checks["keys"] = "There is no API key yet."
        readiness().check()
    except GraphmemError as error:
        checks["neo4j" if isinstance(error, StoreUnavailable) else "schema"] = error.message
    # without the embedder it still stores and finds by words, with a full disk it still recalls
    works = all(state == "ok" for part, state in checks.items() if part not in _PARTLY)
    status = "ok" if works else "unavailable"
    response = jsonify(status=status, checks=checks, disk_free_mib=disk.free_mib)
    response.status_code = 200 if works else 503
    return response


def _embedder_state() -> str:
    """Whether the embedder answers.

    An embedder that does is asked twice a minute at most, because an answer may cost money.
    """
    answers: TTLCache[str, str] = current_app.extensions.setdefault(
        "graphmem_embedder", TTLCache(1, _ASKED_SECONDS)
    )
    if "state" not in answers:
        try:
            service().embedder.embed_query("ready")
        except GraphmemError as error:
            return error.message
        answers["state"] = "ok"
    return answers["state"]


@blueprint.route("/version")
@blueprint.response(200, VersionAnswer)
@blueprint.doc(**_OPEN)
def version() -> Response:
    """What is running."""
    return jsonify(version=__version__, embedder=service().embedder.name)


@blueprint.route("/metrics")
@blueprint.response(200, content_type="text/plain")
@blueprint.doc(**_OPEN)
def prometheus() -> Response:
    """Prometheus metrics; open on loopback, elsewhere for admin keys."""
    if not is_loopback() and not authenticate().role.includes(Role.ADMIN):
        raise Forbidden
    return Response(generate_latest(metrics().registry), mimetype="text/plain; version=0.0.4")
