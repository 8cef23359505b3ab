"""Statuses of corpora, and the interview by which one comes to be."""

from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.corpus.paths import corpus_space, keeper
from api.corpus.schemas import (
    AudienceQuery,
    CorpusIngestionAnswer,
    CorpusIngestionBody,
    CorpusNormaliseAnswer,
    CorpusNormaliseBody,
    CorpusOnboardingAnswer,
    CorpusStatusAnswer,
    CorpusStatusBody,
    SessionQuery,
)
from api.json_blueprint import JsonBlueprint
from graphmem.corpus.normalise import summary
from graphmem.corpus.onboarding import receipt
from graphmem.corpus.schema import check_value
from graphmem.corpus.status import Status, emission_policy
from graphmem.model.caller import Role

blueprint = JsonBlueprint(
    "corpus statuses",
    __name__,
    url_prefix="/v1/corpora",
    description="How a corpus stands, and the interview by which it comes to be (000)",
)


@blueprint.post("/<owner>/status")
@requires(Role.WRITER)
@blueprint.arguments(CorpusStatusBody)
@blueprint.response(200, CorpusStatusAnswer)
def tell(values: dict[str, Any], owner: str) -> Response:
    """Tell an audience how a corpus stands, where that is to be shown, and remember what it saw."""
    found = keeper().tell(
        corpus_space(owner, Role.WRITER),
        values["audience"],
        intent=values["intent"],
        emission=emission_policy(values["policy"]),
        caller=g.caller,
    )
    return jsonify({"show": found.show, "reason": found.reason.value, **_status_view(found)})


@blueprint.get("/<owner>/status")
@requires(Role.READER)
@blueprint.query(AudienceQuery)
@blueprint.response(200, CorpusStatusAnswer)
def status(query: dict[str, Any], owner: str) -> Response:
    """Read how a corpus stands; nothing is remembered."""
    return jsonify(_status_view(keeper().status(corpus_space(owner), query.get("audience"))))


def _status_view(found: Status) -> dict[str, Any]:
    return {
        "state": found.state.value,
        "text": found.text,
        "fenced": found.fenced,
        "fields": dict(found.fields),
    }


@blueprint.post("/<owner>/ingestions")
@requires(Role.WRITER)
@blueprint.arguments(CorpusIngestionBody)
@blueprint.response(200, CorpusIngestionAnswer)
def ingest(values: dict[str, Any], owner: str) -> Response:
    """Say what was read of a source; nothing of it is stored or judged."""
    corpus_space(owner, Role.WRITER)
    content = values["text"] if "text" in values else values["document"]
    check_value(content)
    found = receipt(values["source"], content)
    return jsonify(
        source=found.source,
        read_confirmed=found.read_confirmed,
        sections_detected=list(found.sections_detected),
        gaps_detected=list(found.gaps_detected),
    )


@blueprint.post("/<owner>/normalise")
@requires(Role.WRITER)
@blueprint.arguments(CorpusNormaliseBody)
@blueprint.response(200, CorpusNormaliseAnswer)
def normalise(values: dict[str, Any], owner: str) -> Response:
    """Give a document in its one form, and what a person should look at; nothing is stored."""
    corpus_space(owner, Role.WRITER)
    check_value(values["document"])
    found = summary(values["document"])
    return jsonify(
        document=found.document,
        detected_sections=list(found.detected_sections),
        counts=dict(found.counts),
        ambiguous_fields=list(found.ambiguous_fields),
    )


@blueprint.get("/<owner>/onboarding")
@requires(Role.READER)
@blueprint.query(SessionQuery)
@blueprint.response(200, CorpusOnboardingAnswer)
def onboarding(query: dict[str, Any], owner: str) -> Response:
    """Say what the interview asks next, what there is of it, and what the draft lacks."""
    found = keeper().onboarding(corpus_space(owner), query["session"])
    return jsonify(
        next_section=found.next_section,
        preview=found.preview,
        content_sha256=found.content_sha256,
        gaps=list(found.gaps),
        missing=list(found.missing),
    )
