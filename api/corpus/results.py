"""Results of writes of corpora as answers: the fields at the top, or beside an error."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar

from flask import Response, jsonify

from api.corpus.paths import keeper
from api.corpus.schemas import CorpusWriteRefused
from api.errors import error_response
from api.json_blueprint import JsonBlueprint
from graphmem.corpus.fallback import StoreAway
from graphmem.corpus.push_result import PushCode, PushResult, shown, store_away
from graphmem.model.space import Space

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


View = TypeVar("View", bound=Callable[..., Response])


def may_refuse(blueprint: JsonBlueprint) -> Callable[[View], View]:
    """Document that a view may be refused with the fields of a result beside the error."""

    def decorate(view: View) -> View:
        for status in sorted({*STATUSES.values(), HTTPStatus.FORBIDDEN}):
            documented = blueprint.alt_response(
                status, schema=CorpusWriteRefused, description="It came to nothing"
            )
            view = documented(view)
        return view

    return decorate


def push_answer(space: Space, result: PushResult, *, is_technical: bool) -> Response:
    """The result fields at the top of the answer, or beside an error."""
    fields = dict(shown(result, is_technical=is_technical))
    if result.error_code:
        problems: dict[str, list[str]] = {}
        for each in result.problems:
            problems.setdefault(each.path, []).append(each.message)
        return error_of(result.error_code, fields, problems)
    if is_technical:
        fields["revision"] = result.revision
    state = result.state or keeper().view(space).state
    return jsonify(fields | {"state": state.value})


def error_of(
    code: PushCode, beside: Mapping[str, Any], problems: Mapping[str, list[str]] | None = None
) -> Response:
    """The answer that a write came to nothing."""
    return error_response(
        STATUSES[code], code.value, MESSAGES[code], beside=beside, fields=problems
    )


def away_answer(away: StoreAway) -> Response:
    """That the store did not take something, and whether it lies in a file."""
    fields = shown(store_away(is_kept=away.is_kept), is_technical=False)
    return error_of(PushCode.STORE_UNAVAILABLE, fields)
