"""Write-backs: what an orchestrator heard, made and found out becomes memories (002)."""

from typing import Any

from flask import Response, g, jsonify
from marshmallow import Schema, fields, validate

from api.auth import requires
from api.edges.schemas import check_uid
from api.errors import error_detail
from api.fields import Text
from api.json_blueprint import JsonBlueprint
from api.memories.schemas import MemoryAnswer, memory_view
from api.service import service
from api.space_fields import OrchestratorRequest
from graphmem.bounded_fields import Several, Table
from graphmem.errors import InvalidInput
from graphmem.gateway.edges import EdgeRequest
from graphmem.intake.room import Intake
from graphmem.intake.write_back_writer import Written, accepted
from graphmem.intake.write_backs import RELATED_WEIGHT, TEXT_MAX_CHARS, diagnostics, finding_uid
from graphmem.model.caller import Role
from graphmem.model.edge import EdgeType
from graphmem.model.writing import Outcome, WriteReport

blueprint = JsonBlueprint(
    "write_backs", __name__, url_prefix="/v1/write-backs", description="What orchestrators learn"
)

_NOTHING = "nothing"  # the outcome of a blank content
_ID = validate.Length(1, 256)
_CONTENT = validate.Length(max=TEXT_MAX_CHARS)


class TranscriptBody(OrchestratorRequest):
    """A message that came in."""

    message_id = Text(required=True, validate=_ID)
    conversation_id = Text(required=True, validate=_ID)
    content = Text(required=True, validate=_CONTENT)


class WorkflowOutputBody(OrchestratorRequest):
    """What a step of a workflow made, by key."""

    workflow_run_id = Text(required=True, validate=validate.Length(1, 128))
    step_id = Text(required=True, validate=validate.Length(1, 128))
    attempt = fields.Integer(required=True, validate=validate.Range(0, 1_000_000))
    outputs = Table(
        keys=Text(validate=validate.Length(1, 128)),
        values=Text(validate=_CONTENT),
        required=True,
        validate=validate.Length(1, 64),
        metadata={"example": {"decision": "Ship on Friday.", "todo_list": "Write the notes."}},
    )


class DiagnosticsBody(OrchestratorRequest):
    """What an investigation found, and the memories that it is about."""

    finding_id = Text(required=True, validate=_ID)
    content = Text(required=True, validate=_CONTENT)
    related = Several(fields.String(validate=check_uid), most=32, load_default=list)


class WrittenAnswer(Schema):
    """What became of a write-back; ``nothing`` where the content is blank."""

    outcome = fields.String()
    memory = fields.Nested(MemoryAnswer, allow_none=True)
    trace_id = fields.String(allow_none=True)


class OutputResult(Schema):
    """What became of one output."""

    key = fields.String()
    outcome = fields.String()
    uid = fields.String(allow_none=True)
    error = fields.Dict(metadata={"description": "Where it is refused: its memory is retracted"})


class OutputsAnswer(Schema):
    """What became of the outputs of a step."""

    results = fields.List(fields.Nested(OutputResult))
    trace_id = fields.String(allow_none=True)


@blueprint.post("/transcript")
@requires(Role.WRITER)
@blueprint.arguments(TranscriptBody)
@blueprint.response(200, WrittenAnswer)
def write_transcript(values: dict[str, Any]) -> Response:
    """Keep a message that came in; the same message again changes nothing."""
    report = service().of(Intake).write_backs.transcript(**values, caller=g.caller)
    return _written(report)


@blueprint.post("/workflow-output")
@requires(Role.WRITER)
@blueprint.arguments(WorkflowOutputBody)
@blueprint.response(200, OutputsAnswer)
def write_outputs(values: dict[str, Any]) -> Response:
    """Keep what a step made: all of it or nothing, but for what was retracted.

    A later attempt revises the same memories.
    """
    written = service().of(Intake).write_backs.outputs(**values, caller=g.caller)
    outputs = [_output(name, written) for name in sorted(values["outputs"])]
    return jsonify(results=outputs, trace_id=written.trace_id)


def _output(name: str, written: Written) -> dict[str, Any]:
    if problem := written.refused.get(name):
        error = error_detail(problem)
        return {"key": name, "outcome": Outcome.REFUSED.value, "uid": None, "error": error}
    result = written.results.get(name)
    if result is None:
        return {"key": name, "outcome": _NOTHING, "uid": None}
    uid = result.memory.uid if result.memory else None
    return {"key": name, "outcome": result.outcome.value, "uid": uid}


@blueprint.post("/diagnostics")
@requires(Role.WRITER)
@blueprint.arguments(DiagnosticsBody)
@blueprint.response(200, WrittenAnswer)
def write_finding(values: dict[str, Any]) -> Response:
    """Keep a finding, with edges from the memories that it is about.

    A missing one is 422 and nothing is written.
    """
    space = values["space"]
    request = diagnostics(space.name, finding_id=values["finding_id"], content=values["content"])
    found = finding_uid(values["finding_id"])
    edges = [
        EdgeRequest(
            space=space, from_uid=uid, to_uid=found, type=EdgeType.RELATED_TO, weight=RELATED_WEIGHT
        )
        for uid in values["related"]
    ]
    if request is None:
        return _written(None)
    try:
        report = service().writing.write([request], edges=edges, caller=g.caller)
        return _written(report)
    except InvalidInput as error:
        raise InvalidInput(
            {_related(path): texts for path, texts in error.fields.items()}
        ) from error


def _related(path: str) -> str:
    """Where a caller named the start of an edge: edges.3.from is related.3."""
    return path.replace("edges.", "related.").removesuffix(".from")


def _written(report: WriteReport | None) -> Response:
    if report is None:
        return jsonify(outcome=_NOTHING, memory=None, trace_id=None)
    result = accepted(report)
    view = memory_view(result.memory) if result.memory else None
    return jsonify(outcome=result.outcome.value, memory=view, trace_id=report.trace_id)
