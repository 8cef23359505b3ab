"""The app factory: one Flask app over a built service."""

from collections.abc import Mapping, Sequence

from flask import Flask
from flask.json.provider import DefaultJSONProvider

from api import admin, docs, health, spaces
from api.bodies import limit_bodies
from api.browser import views as browser
from api.companion import messages, personas, users
from api.companion import recall as companion_recall
from api.conversations import views as conversations
from api.conversations.segments import keep_segments
from api.corpus import drafts as corpus_drafts
from api.corpus import files as corpus_files
from api.corpus import pushes as corpus_pushes
from api.corpus import statuses as corpus_statuses
from api.corpus import views as corpora
from api.edges import views as edges
from api.entities import views as entities
from api.errors import GraphmemApi, register_error_handlers
from api.governance import calls as governed_calls
from api.governance import contracts, states
from api.intake import bulletins, contexts, ingest, write_backs
from api.json_blueprint import JsonBlueprint
from api.lifecycle import contexts as lifecycle_contexts
from api.lifecycle import feedback, notebooks
from api.lifecycle import sharing_views as sharing
from api.lifecycle import views as lifecycle
from api.memories import changes
from api.memories import views as memories
from api.observability import observe_requests
from api.rates import CallRate
from api.readiness import Readiness
from api.recall import traces
from api.recall import views as recall
from api.relations import views as relations
from api.upkeep import jobs
from graphmem import __version__
from graphmem.bootstrap import Graphmem

_MIB = 1024 * 1024
_DESCRIPTION = (
    "A memory service for AI applications on a real graph database.\n\n"
    "Every call needs an API key: `Authorization: Bearer gm_…` or `X-API-Key: gm_…`."
    " All bodies are JSON, all times\nISO 8601 with a zone. Every error has the same body:"
    ' `{"error": {"code", "message", "fields", "request_id"}}`.'
)
_CONFIG: Mapping[str, object] = {
    "API_TITLE": "graphmem",
    "API_VERSION": __version__,
    "OPENAPI_VERSION": "3.1.0",
    "OPENAPI_URL_PREFIX": "/",
    "OPENAPI_JSON_PATH": "openapi.json",
    "MAX_FORM_PARTS": 1,
    "API_SPEC_OPTIONS": {
        "info": {"description": _DESCRIPTION, "license": {"name": "Apache-2.0"}},
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "api_key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            }
        },
        "security": [{"bearer": []}, {"api_key": []}],
    },
}

BLUEPRINTS: tuple[JsonBlueprint, ...] = (
    memories.blueprint,
    changes.blueprint,
    conversations.blueprint,
    lifecycle.blueprint,
    notebooks.blueprint,
    lifecycle_contexts.blueprint,
    sharing.blueprint,
    feedback.blueprint,
    personas.blueprint,
    users.blueprint,
    messages.blueprint,
    companion_recall.blueprint,
    contracts.blueprint,
    governed_calls.blueprint,
    states.blueprint,
    corpora.blueprint,
    corpus_drafts.blueprint,
    corpus_pushes.blueprint,
    corpus_statuses.blueprint,
    corpus_files.blueprint,
    edges.blueprint,
    recall.blueprint,
    entities.blueprint,
    relations.blueprint,
    traces.blueprint,
    spaces.blueprint,
    jobs.blueprint,
    write_backs.blueprint,
    ingest.blueprint,
    bulletins.blueprint,
    contexts.blueprint,
    admin.blueprint,
    health.blueprint,
)


class _Json(DefaultJSONProvider):
    """JSON in the order of our answers."""

    sort_keys = False
    ensure_ascii = False
    compact = True


def create_app(
    graphmem: Graphmem,
    readiness: Readiness | None = None,
    *,
    blueprints: Sequence[JsonBlueprint] = BLUEPRINTS,
) -> Flask:
    """The HTTP API of a built service; without a readiness every call is let in."""
    app = Flask("graphmem", static_folder=None)
    app.json = _Json(app)
    app.config.update(_CONFIG)
    app.extensions["graphmem"] = graphmem
    app.extensions["graphmem_readiness"] = readiness or Readiness()
    app.extensions["graphmem_rate"] = CallRate(graphmem.settings.server.calls_per_minute)
    observe_requests(app)
    limit_bodies(app, graphmem.settings.server.body_max_mib * _MIB)
    register_error_handlers(app)
    keep_segments(app)
    api = GraphmemApi(app)
    for blueprint in blueprints:
        api.register_blueprint(blueprint)
    app.register_blueprint(docs.blueprint)
    app.register_blueprint(browser.blueprint)
    return app
