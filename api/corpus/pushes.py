"""Pushes of corpora: what writes a revision, and what became of it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.corpus.drafts import draft_view
from api.corpus.paths import corpus_space, keeper
from api.corpus.schemas import (
    CorpusPullAnswer,
    CorpusPullBody,
    CorpusPushAnswer,
    CorpusPushBody,
    CorpusRevertBody,
    SessionQuery,
    TransitionList,
)
from api.errors import error_response
from api.json_blueprint import JsonBlueprint
from api.paging import PageQuery, cursor_of, page_answer
from graphmem.corpus.push_plan import PushRequest
from graphmem.corpus.push_result import PushCode, PushResult, shown
from graphmem.model.caller import Role
from graphmem.model.corpus import Transition
from graphmem.model.space import Space
from graphmem.text.times import iso

blueprint = JsonBlueprint(
    "corpus pushes",
    __name__,
    url_prefix="/v1/corpora",
    description="Verified writes of corpora, and the states that they lead to (000)",
)

STATUSES: Mapping[PushCode, HTTPStatus] = {
    PushCode.MEMORY_REPO_NOT_FOUND: HTTPStatus.NOT_FOUND,
    PushCode.CORPUS_INVALID: HTTPStatus.CONFLICT,
    PushCode.APPROVAL_MISSING: HTTPStatus.CONFLICT,
    PushCode.UNAPPROVED_SECTION_CHANGES: HTTPStatus.CONFLICT,
    PushCode.REF_CONFLICT: HTTPStatus.CONFLICT,
    PushCode.INVALID_INPUT: HTTPStatus.UNPROCESSABLE_ENTITY,
    PushCode.VALIDATION_FAILED: HTTPStatus.UNPROCESSABLE_ENTITY,
    PushCode.NOTES_POLICY_VIOLATION: HTTPStatus.UNPROCESSABLE_ENTITY,
    PushCode.TRANSPORT_CORRUPTION: HTTPStatus.SERVICE_UNAVAILABLE,
    PushCode.PERSIST_CLAIM_INVALID: HTTPStatus.SERVICE_UNAVAILABLE,
    PushCode.STORE_UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    PushCode.API_UNKNOWN: HTTPStatus.SERVICE_UNAVAILABLE,
}
MESSAGES: Mapping[PushCode, str] = {
    PushCode.MEMORY_REPO_NOT_FOUND: "This owner has no repository yet: bootstrap it first.",
    PushCode.CORPUS_INVALID: "The corpus that is there is not valid: repair it first.",
    PushCode.APPROVAL_MISSING: "A section is not approved as it is.",
    PushCode.UNAPPROVED_SECTION_CHANGES: "It changes what it is not meant for.",
    PushCode.REF_CONFLICT: "Somebody else changed the same document: pull, and correct it.",
    PushCode.INVALID_INPUT: "The list of target sections is empty.",
    PushCode.VALIDATION_FAILED: "The draft is no valid corpus.",
    PushCode.NOTES_POLICY_VIOLATION: "Notes speak of how the corpus is kept.",
    PushCode.TRANSPORT_CORRUPTION: "What was read back is not what was written.",
    PushCode.PERSIST_CLAIM_INVALID: "The write was not proved.",
    PushCode.STORE_UNAVAILABLE: "The graph store does not answer. NOT PERSISTED.",
    PushCode.API_UNKNOWN: "A part that writes is not there.",
}


@blueprint.post("/<owner>/push")
@requires(Role.WRITER)
@blueprint.arguments(CorpusPushBody)
@blueprint.query(SessionQuery)
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
    result = keeper().push(space, query["session"], request, caller=g.caller)
    return push_answer(space, result, is_technical=values["technical"])


@blueprint.post("/<owner>/revert")
@requires(Role.WRITER)
@blueprint.arguments(CorpusRevertBody)
@blueprint.response(200, CorpusPushAnswer)
def revert(values: dict[str, Any], owner: str) -> Response:
    """Let an earlier revision be the next one too, verified like any."""
    space = corpus_space(owner, Role.WRITER)
    result = keeper().revert(space, values["revision"], caller=g.caller)
    return push_answer(space, result, is_technical=True)


@blueprint.post("/<owner>/repair")
@requires(Role.WRITER)
@blueprint.response(200, CorpusPushAnswer)
def repair(owner: str) -> Response:
    """Set an invalid corpus aside as a revision; the owner begins anew."""
    space = corpus_space(owner, Role.WRITER)
    return push_answer(space, keeper().repair(space, caller=g.caller), is_technical=True)


@blueprint.post("/<owner>/pull")
@requires(Role.WRITER)
@blueprint.arguments(CorpusPullBody)
@blueprint.query(SessionQuery)
@blueprint.response(200, CorpusPullAnswer)
def pull(values: dict[str, Any], query: dict[str, Any], owner: str) -> Response:
    """Take the last verified revision into the draft; an edited draft is kept aside."""
    space = corpus_space(owner, Role.WRITER)
    session = query["session"]
    result = keeper().pull(space, session, force=values["force"], caller=g.caller)
    fields = {"ok": result.ok, "reason": result.reason, "changed": result.changed}
    if result.error_code:
        return _error(result.error_code, fields)
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


def push_answer(space: Space, result: PushResult, *, is_technical: bool) -> Response:
    """The result fields at the top of the answer, or beside an error."""
    fields = dict(shown(result, is_technical=is_technical))
    if result.error_code:
        problems: dict[str, list[str]] = {}
        for each in result.problems:
            problems.setdefault(each.path, []).append(each.message)
        return _error(result.error_code, fields, problems)
    if is_technical:
        fields["revision"] = result.revision
    return jsonify(fields | {"state": keeper().view(space).state.value})


def _error(
    code: PushCode, beside: Mapping[str, Any], problems: Mapping[str, list[str]] | None = None
) -> Response:
    return error_response(
        STATUSES[code], code.value, MESSAGES[code], beside=beside, fields=problems
    )
