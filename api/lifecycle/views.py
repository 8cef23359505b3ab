"""The lifecycle: turns that are extracted, buffers, extractions and threads."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.json_blueprint import JsonBlueprint
from api.lifecycle.paths import keeper, writable_space
from api.lifecycle.schemas import (
    ActivityList,
    ActivityQuery,
    BufferList,
    ExtractionAnswer,
    ExtractionList,
    ExtractionListQuery,
    ExtractionQuery,
    ExtractionWithTurns,
    FlushAnswer,
    FlushBody,
    HeedAnswer,
    HeedBatchAnswer,
    HeedBatchBody,
    HeedBody,
    PreviewBody,
    ThreadList,
    activity_view,
    buffer_view,
    extraction_view,
    heard_of,
    heeded_batch_view,
    heeded_view,
    preview_view,
    saying_of,
    thread_view,
    with_turns_view,
)
from api.lookup import space_in_path
from api.paging import PageQuery, cursor_of, page_answer
from api.service import service
from graphmem.errors import Forbidden, InvalidInput, NotFound
from graphmem.model.caller import Role

blueprint = JsonBlueprint(
    "lifecycle",
    __name__,
    url_prefix="/v1",
    description="From a conversation turn to a kept fact",
)
_OF_THE_TURN = "turns.0."


@blueprint.post("/turns")
@requires(Role.WRITER)
@blueprint.arguments(HeedBody)
@blueprint.response(201, HeedAnswer)
@blueprint.alt_response(200, schema=HeedAnswer, description="A message of that id was there")
def heed(values: dict[str, Any]) -> Response:
    """Keep a turn of a session, and extract what it says, now or with those after it.

    A high signal is extracted at once; else the turn waits in the buffer of its session.
    """
    try:
        heeded = keeper().heed(
            values["space"],
            values["session"],
            [saying_of(values)],
            caller=g.caller,
            wait=values["wait"],
        )
    except InvalidInput as error:
        raise _named_as_here(error, _OF_THE_TURN) from error
    response = jsonify(heeded_view(heeded))
    is_new = heeded.arrived.turns[0].is_new
    response.status_code = HTTPStatus.CREATED if is_new else HTTPStatus.OK
    return response


def _named_as_here(error: InvalidInput, prefix: str = "") -> InvalidInput:
    """What is wrong, by the names that these requests have for it, without a prefix."""
    names = {"id": "session"}
    paths = {path.removeprefix(prefix): texts for path, texts in error.fields.items()}
    return InvalidInput({names.get(path, path): texts for path, texts in paths.items()})


@blueprint.post("/turns/batch")
@requires(Role.WRITER)
@blueprint.arguments(HeedBatchBody)
@blueprint.response(201, HeedBatchAnswer)
def heed_batch(values: dict[str, Any]) -> Response:
    """Keep turns of a session in their order, all or none, decided as if they came one by one."""
    sayings = [saying_of(each) for each in values["turns"]]
    try:
        heeded = keeper().heed(
            values["space"], values["session"], sayings, caller=g.caller, wait=values["wait"]
        )
    except InvalidInput as error:
        raise _named_as_here(error) from error
    response = jsonify(heeded_batch_view(heeded))
    response.status_code = HTTPStatus.CREATED
    return response


@blueprint.get("/spaces/<path:name>/buffers")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, BufferList)
def buffers(query: dict[str, Any], name: str) -> Response:
    """List the sessions of a space with how many turns wait for their extraction."""
    space = space_in_path(name)
    page = keeper().buffers.page(space, cursor_of(query, size=1), limit=query["limit"])
    return page_answer(page, buffer_view)


@blueprint.post("/spaces/<path:name>/buffers/flush")
@requires(Role.WRITER)
@blueprint.arguments(FlushBody)
@blueprint.response(200, FlushAnswer)
def flush(values: dict[str, Any], name: str) -> Response:
    """Extract what waits in a space, or in one session of it, now."""
    space = writable_space(name)
    done = list(keeper().flush(space, values.get("session"), caller=g.caller))
    return jsonify(
        extractions=[extraction_view(each.extraction) for each in done],
        trace_id=done[-1].trace_id if done else None,
    )


@blueprint.get("/spaces/<path:name>/threads")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, ThreadList)
def threads(query: dict[str, Any], name: str) -> Response:
    """List the threads of a space, the latest first; they are kept where its policy says so."""
    page = keeper().thread_page(space_in_path(name), cursor_of(query, size=2), limit=query["limit"])
    return page_answer(page, thread_view)


@blueprint.get("/extractions")
@requires(Role.READER)
@blueprint.query(ExtractionListQuery)
@blueprint.response(200, ExtractionList)
def extractions(query: dict[str, Any]) -> Response:
    """List what was extracted in a space, or in one session of it, the newest first."""
    page = keeper().page(
        query["space"], query["session"], cursor_of(query, size=2), limit=query["limit"]
    )
    return page_answer(page, extraction_view)


@blueprint.get("/extractions/<uid>")
@requires(Role.READER)
@blueprint.query(ExtractionQuery)
@blueprint.response(200, ExtractionWithTurns)
def extraction(query: dict[str, Any], uid: str) -> Response:
    """Get an extraction with the words of its turns."""
    return jsonify(with_turns_view(*keeper().find(query["space"], uid)))


@blueprint.post("/extractions/preview")
@requires(Role.WRITER)
@blueprint.arguments(PreviewBody)
@blueprint.response(200, ExtractionAnswer)
def preview(values: dict[str, Any]) -> Response:
    """Tell what would be extracted of some turns; nothing is written. Turns go by their numbers."""
    if not g.caller.may(Role.WRITER, values["space"]):
        raise Forbidden
    now = service().clock.now()
    turns = [heard_of(number, each, now) for number, each in enumerate(values["turns"])]
    plan = keeper().preview(values["space"], turns, caller=g.caller)
    return jsonify(preview_view(plan, len(turns)))


@blueprint.get("/entities/<key>/activity")
@requires(Role.READER)
@blueprint.query(ActivityQuery)
@blueprint.response(200, ActivityList)
def activity(query: dict[str, Any], key: str) -> Response:
    """What was last said of an entity in the turns of a space: the newest 20, newest first."""
    found = keeper().activity(query["space"], key)
    if found is None:
        raise NotFound
    return jsonify(items=list(map(activity_view, found)), total=len(found), next_cursor=None)
