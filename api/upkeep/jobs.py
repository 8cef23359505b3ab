"""Jobs: what keeps the store in order, when it runs, what it did, and running it now."""

from typing import Any

from flask import Response, g, jsonify
from marshmallow import Schema, fields

from api.auth import requires
from api.fields import RequestSchema
from api.json_blueprint import JsonBlueprint
from api.paging import PageQuery, cursor_of, page_answer, page_of
from api.service import service
from api.space_fields import SpaceField
from graphmem.errors import Forbidden
from graphmem.model.caller import Caller, Role
from graphmem.model.job import JobState, RunRecord
from graphmem.model.page import Page
from graphmem.model.space import FIRST_TENANT, Space, space_from_key
from graphmem.text.times import iso

blueprint = JsonBlueprint(
    "jobs", __name__, url_prefix="/v1/jobs", description="What keeps the store in order"
)


class RunRequest(RequestSchema):
    """What to run."""

    dry_run = fields.Boolean(
        load_default=False, metadata={"description": "Count the same, touch nothing"}
    )
    space = SpaceField(
        load_default=None, metadata={"description": "Only in this space", "example": "user:ada"}
    )
    repair = fields.Boolean(
        load_default=False, metadata={"description": "Let `integrity` mend what it finds"}
    )


class RunAnswer(Schema):
    """One run of a job."""

    uid = fields.String()
    job = fields.String()
    status = fields.String(
        metadata={
            "description": (
                "running, succeeded, partial (the next goes on), failed, abandoned or missed"
            )
        }
    )
    dry_run = fields.Boolean()
    space = fields.String(allow_none=True)
    by_hand = fields.Boolean()
    counts = fields.Dict(keys=fields.String(), values=fields.Integer())
    examples = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.String()),
        metadata={"description": "Some of what `integrity` found: space|uid by finding"},
    )
    degraded = fields.List(
        fields.String(), metadata={"description": "What did not work, so that rules had to do"}
    )
    error = fields.String(allow_none=True)
    started_at = fields.DateTime()
    finished_at = fields.DateTime(allow_none=True)
    seconds = fields.Float(allow_none=True)


class RunEnvelope(Schema):
    """What was run."""

    run = fields.Nested(RunAnswer)


RunList = page_of(RunAnswer, "RunList", "The newest runs of a job.")


class JobAnswer(Schema):
    """A job."""

    name = fields.String()
    does = fields.String()
    schedule = fields.String(allow_none=True)
    next_run_at = fields.DateTime(allow_none=True)
    totals = fields.Dict(keys=fields.String(), values=fields.Integer())
    last_started_at = fields.DateTime(allow_none=True)
    last_succeeded_at = fields.DateTime(allow_none=True)
    last_seconds = fields.Float(allow_none=True)
    holder = fields.String(allow_none=True, metadata={"description": "Who runs it now"})
    last_run = fields.Nested(RunAnswer, allow_none=True)


JobList = page_of(JobAnswer, "JobList", "All jobs, by name.")


@blueprint.get("")
@requires(Role.CURATOR)
@blueprint.response(200, JobList)
def listing() -> Response:
    """List the jobs: what each does, when it runs, and how its runs went.

    Only operators see what the runs did.
    """
    states = tuple(service().runner.states())
    return page_answer(Page(items=states, total=len(states)), _job_view)


@blueprint.post("/<name>/runs")
@requires(Role.CURATOR)
@blueprint.arguments(RunRequest)
@blueprint.response(200, RunEnvelope)
@blueprint.alt_response(409, description="It is running already; the message says who runs it.")
def run(values: dict[str, Any], name: str) -> Response:
    """Run a job now and wait for it, in one space or, for operators, in all.

    The answer is 409 while it is running elsewhere.
    """
    if service().runner.named(name).by_command_only:
        message = f"{name} is run from the command line: `graphmem jobs run {name}`."
        raise Forbidden(message)
    record = service().runner.run(
        name,
        dry_run=values["dry_run"],
        space_key=_space_key(values["space"]),
        by_hand=True,
        repair=values["repair"],
    )
    return jsonify(run=run_view(record))


@blueprint.get("/<name>/runs")
@requires(Role.CURATOR)
@blueprint.query(PageQuery)
@blueprint.response(200, RunList)
def runs(query: dict[str, Any], name: str) -> Response:
    """The newest runs of a job; keys that are no operator's see those in their spaces."""
    service().runner.named(name)
    page = service().runs.newest(
        name,
        limit=query["limit"],
        patterns=None if _is_operator(g.caller) else g.caller.visible_spaces,
        after=cursor_of(query),
    )
    return page_answer(page, run_view)


def run_view(record: RunRecord) -> dict[str, Any]:
    """A run as it is shown."""
    return {
        "uid": record.uid,
        "job": record.job,
        "status": record.status.value,
        "dry_run": record.dry_run,
        "space": space_from_key(record.space).name if record.space else None,
        "by_hand": record.by_hand,
        "counts": dict(record.counts),
        "examples": {
            what: [key.partition("/")[2] for key in keys] for what, keys in record.examples.items()
        },
        "degraded": list(record.degraded),
        "error": record.error,
        "started_at": iso(record.started_at),
        "finished_at": iso(record.finished_at),
        "seconds": record.seconds,
    }


def _job_view(state: JobState) -> dict[str, Any]:
    last = state.last_run
    is_operator = _is_operator(g.caller)
    return {
        "name": state.name,
        "does": state.does,
        "schedule": state.schedule,
        "next_run_at": iso(state.next_run_at),
        "totals": {status.value: number for status, number in state.totals.items()}
        if is_operator
        else {},
        "last_started_at": iso(state.last_started_at),
        "last_succeeded_at": iso(state.last_succeeded_at),
        "last_seconds": state.last_seconds,
        "holder": state.holder if is_operator else None,
        "last_run": run_view(last) if last and _may_see(last) else None,
    }


def _space_key(space: Space | None) -> str:
    """The key of the space that a job is to work in; only operators may leave it out.

    Raises:
        Forbidden: the key is no operator's and names none.
    """
    if space is None and not _is_operator(g.caller):
        message = (
            "Name a space: only an admin key of the first tenant for all spaces may run a job"
            " everywhere."
        )
        raise Forbidden(message)
    return space.key if space else ""


def _is_operator(caller: Caller) -> bool:
    return caller.tenant == FIRST_TENANT and caller.role is Role.ADMIN and "*" in caller.spaces


def _may_see(record: RunRecord) -> bool:
    return _is_operator(g.caller) or bool(
        record.space and g.caller.may_see(space_from_key(record.space))
    )
