"""Ingest: files that are dropped for orchestrators become memories (002)."""

from typing import Any

from flask import Response, g, jsonify
from marshmallow import Schema, fields, validate

from api.auth import requires
from api.fields import Text
from api.json_blueprint import JsonBlueprint
from api.service import service
from api.space_fields import OrchestratorRequest
from graphmem.intake.manifests import Manifest
from graphmem.intake.room import Intake
from graphmem.model.caller import Role

blueprint = JsonBlueprint(
    "ingest", __name__, url_prefix="/v1/ingest", description="Files for orchestrators"
)


class UploadBody(OrchestratorRequest):
    """A file to be taken in."""

    filename = Text(
        required=True, validate=validate.Length(1, 1_000), metadata={"example": "notes.md"}
    )
    content = fields.String(required=True, metadata={"example": "We ship on Friday."})


class ScanBody(OrchestratorRequest):
    """Whose ingest folder to look into."""


class ManifestError(Schema):
    """Why a file was not taken in."""

    code = fields.String()
    message = fields.String()


class ManifestAnswer(Schema):
    """What became of a file: its manifest, and the name under which both lie."""

    file = fields.String()
    status = fields.String(metadata={"enum": ["processed", "duplicate", "rejected"]})
    idempotency_key = fields.String(data_key="idempotencyKey")
    memories_written = fields.Integer(data_key="memoriesWritten")
    edges_written = fields.Integer(data_key="edgesWritten")
    source_path = fields.String(data_key="sourcePath")
    error = fields.Nested(ManifestError)


class ScanAnswer(Schema):
    """What became of the files of a folder."""

    processed = fields.Integer()
    duplicate = fields.Integer()
    rejected = fields.Integer()
    waiting = fields.List(
        fields.String(), metadata={"description": "Files that are still being written"}
    )
    left = fields.Integer(metadata={"description": "How many were not looked at: scan again"})
    manifests = fields.List(fields.Nested(ManifestAnswer))


@blueprint.post("")
@requires(Role.WRITER)
@blueprint.arguments(UploadBody)
@blueprint.response(200, ManifestAnswer)
def upload(values: dict[str, Any]) -> Response:
    """Drop a file and take it in.

    The answer is its manifest, also where the file is rejected.
    """
    space = values["space"]
    return jsonify(
        _view(
            service()
            .of(Intake)
            .ingest.upload(space, values["filename"], values["content"], caller=g.caller)
        )
    )


@blueprint.post("/scan")
@requires(Role.WRITER)
@blueprint.arguments(ScanBody)
@blueprint.response(200, ScanAnswer)
def scan(values: dict[str, Any]) -> Response:
    """Take in what lies in the ingest folder now, 1,000 files at most.

    The ingest job does so every 30 seconds.
    """
    done = service().of(Intake).ingest.scan(values["space"], caller=g.caller)
    return jsonify(
        processed=done.count("processed"),
        duplicate=done.count("duplicate"),
        rejected=done.count("rejected"),
        waiting=list(done.waiting),
        left=done.left,
        manifests=[_view(manifest) for manifest in done.manifests],
    )


def _view(manifest: Manifest) -> dict[str, object]:
    return {"file": manifest.file, **manifest.values}
