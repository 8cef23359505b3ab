"""Pushes of corpora: what writes a revision, and what became of it."""

from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.corpus.drafts import draft_view
from api.corpus.paths import corpus_space, keeper
from api.corpus.results import away_answer, error_of, may_refuse, push_answer
from api.corpus.schemas import (
    CorpusPullAnswer,
    CorpusPullBody,
    CorpusPushAnswer,
    CorpusPushBody,
    CorpusRevertBody,
    SessionQuery,
    TransitionList,
)
from api.json_blueprint import JsonBlueprint
from api.paging import PageQuery, cursor_of, page_answer
from graphmem.corpus.fallback import StoreAway
from graphmem.corpus.push_plan import PushRequest
from graphmem.model.caller import Role
from graphmem.model.corpus import Transition
from graphmem.text.times import iso

blueprint = JsonBlueprint(
    "corpus pushes",
    __name__,
    url_prefix="/v1/corpora",
    description="Verified writes of corpora, and the states that they lead to (000)",
)


@blueprint.post("/<owner>/push")
@requires(Role.WRITER, while_away=True)
@blueprint.arguments(CorpusPushBody)
@blueprint.query(SessionQuery)
@may_refuse(blueprint)
@blueprint.response(200, CorpusPushAnswer)
def push(values: dict[str, Any], query: dict[str, Any], owner: str) -> Response:
    """Let the draft be the next revision: checked, written, read back, and only then claimed."""
    space = corpus_space(owner, Role.WRITER)
    targets = values["target_sections"]
    request = PushRequest(
        targets=None if targets is None else tuple(dict.fromkeys(targets)),
        message=values["message"],
        scaffold=values["scaffold"],
        is_technical=values["technical"],
    )
    try:
        result = keeper().push(space, query["session"], request, caller=g.caller)
    except StoreAway as away:
        return away_answer(away)
    return push_answer(space, result, is_technical=values["technical"])


@blueprint.post("/<owner>/revert")
@requires(Role.WRITER)
@blueprint.arguments(CorpusRevertBody)
@may_refuse(blueprint)
@blueprint.response(200, CorpusPushAnswer)
def revert(values: dict[str, Any], owner: str) -> Response:
    """Let an earlier revision be the next one too, verified like any."""
    space = corpus_space(owner, Role.WRITER)
    result = keeper().revert(space, values["revision"], caller=g.caller)
    return push_answer(space, result, is_technical=True)


@blueprint.post("/<owner>/repair")
@requires(Role.WRITER)
@may_refuse(blueprint)
@blueprint.response(200, CorpusPushAnswer)
def repair(owner: str) -> Response:
    """Set an invalid corpus aside as a revision; the owner begins anew."""
    space = corpus_space(owner, Role.WRITER)
    return push_answer(space, keeper().repair(space, caller=g.caller), is_technical=True)


@blueprint.post("/<owner>/pull")
@requires(Role.WRITER)
@blueprint.arguments(CorpusPullBody)
@blueprint.query(SessionQuery)
@may_refuse(blueprint)
@blueprint.response(200, CorpusPullAnswer)
def pull(values: dict[str, Any], query: dict[str, Any], owner: str) -> Response:
    """Take the last verified revision into the draft; an edited draft is kept aside."""
    space = corpus_space(owner, Role.WRITER)
    session = query["session"]
    result = keeper().pull(space, session, force=values["force"], caller=g.caller)
    fields = {"ok": result.ok, "reason": result.reason, "changed": result.changed}
    if result.error_code:
        return error_of(result.error_code, fields)
    kept = {"kept_as": result.kept_as} if result.kept_as else {}
    return jsonify(fields | {"draft": draft_view(keeper().draft(space, session)) | kept})


@blueprint.get("/<owner>/transitions")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, TransitionList)
def transitions(query: dict[str, Any], owner: str) -> Response:
    """List the changes of state, the newest first."""
    page = keeper().corpora.transitions(
        corpus_space(owner), cursor_of(query, size=1), limit=query["limit"]
    )
    return page_answer(page, _transition_view)


def _transition_view(listed: tuple[int, Transition]) -> dict[str, Any]:
    _, change = listed
    return {
        "before": change.before.value,
        "after": change.after.value,
        "at": iso(change.at),
        "cause": change.cause,
        "extension": change.extension,
    }
