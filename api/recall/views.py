"""Recall: answer a question with ranked memories."""

from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.json_blueprint import JsonBlueprint
from api.observability import metrics
from api.recall.schemas import RecallAnswer, RecallBody, bundle_view
from api.service import service
from graphmem.model.caller import Role
from graphmem.recall.request import RecallRequest

blueprint = JsonBlueprint("recall", __name__, url_prefix="/v1", description="Finding it again")


@blueprint.post("/recall")
@requires(Role.READER)
@blueprint.arguments(RecallBody)
@blueprint.response(200, RecallAnswer)
def recall(values: dict[str, Any]) -> Response:
    """Recall memories by meaning and words, best first. Scores of `fused` are 0 to 1."""
    explain = values.pop("explain")
    bundle = service().recall.recall(RecallRequest(**values), caller=g.caller)
    metrics().recalls.labels(bundle.ranker.value, bundle.mode.value).inc()
    return jsonify(bundle_view(bundle, explain=explain))
