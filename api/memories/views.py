"""Memories: add one, add many, get one, list."""

from collections import Counter
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify
from marshmallow import ValidationError

from api.auth import requires
from api.errors import WHOLE, error_detail, error_response, status_of
from api.idempotency import IDEMPOTENCY_HEADER, idempotency_key
from api.json_blueprint import JsonBlueprint
from api.lookup import found_memory, tagged
from api.memories.schemas import (
    AddAnswer,
    BatchAnswer,
    BatchRequest,
    ListQuery,
    MemoryAnswer,
    MemoryList,
    MemoryRequest,
    SpaceQuery,
    memory_view,
    write_request,
)
from api.observability import metrics
from api.paging import cursor_of, page_answer
from api.service import service
from graphmem.errors import Conflict, GraphmemError, InvalidInput
from graphmem.gateway.writing import RolledBack
from graphmem.messages import flat_messages
from graphmem.model.caller import Role
from graphmem.model.memory import Memory
from graphmem.model.space import Space
from graphmem.model.writing import Outcome, WriteReport, WriteRequest, WriteResult
from graphmem.store.memories import MemoryFilter

blueprint = JsonBlueprint(
    "memories", __name__, url_prefix="/v1/memories", description="What is remembered"
)

_one = MemoryRequest()


@blueprint.get("")
@requires(Role.READER)
@blueprint.query(ListQuery)
@blueprint.response(200, MemoryList)
def listing(query: dict[str, Any]) -> Response:
    """List memories, newest first."""
    spaces = query["space"]
    page = service().memories.page(
        MemoryFilter(
            spaces=spaces,
            status=query["status"],
            as_of=query["as_of"],
            known_at=query["known_at"],
            types=query["type"],
            tags=query["tag"],
            entities=_entities(query["entity"], spaces),
            conversation_id=query["conversation_id"],
            created_after=query["created_after"],
            created_before=query["created_before"],
        ),
        limit=query["limit"],
        after=cursor_of(query),
    )
    return page_answer(page, memory_view)


@blueprint.post("")
@requires(Role.WRITER)
@blueprint.arguments(MemoryRequest)
@blueprint.response(201, AddAnswer)
@blueprint.alt_response(200, schema=AddAnswer, description="Nothing new was stored")
@blueprint.doc(parameters=[IDEMPOTENCY_HEADER])
def add(values: dict[str, Any]) -> Response:
    """Add a memory. 201 when something new was stored, 200 when it was known."""
    report = _write([write_request(values)])
    result = report.results[0]
    if result.error:
        raise result.error
    memory = _stored(result)
    response = jsonify(
        outcome=result.outcome.value,
        memory=memory_view(memory),
        **_notes(result),
        trace_id=report.trace_id,
    )
    is_new = result.outcome in {
        Outcome.CREATED,
        Outcome.SUPERSEDED,
        Outcome.SUPERSEDED_BY_NEWER,
    }
    response.status_code = HTTPStatus.CREATED if is_new else HTTPStatus.OK
    return tagged(response, memory)


@blueprint.post("/batch")
@requires(Role.WRITER)
@blueprint.arguments(BatchRequest)
@blueprint.response(200, BatchAnswer)
@blueprint.doc(parameters=[IDEMPOTENCY_HEADER])
def add_many(values: dict[str, Any]) -> Response:
    """Add up to 500 memories in one transaction; each item is answered, in order.

    An atomic batch that is rolled back has the status of its first cause.
    """
    report = _write([_item(raw) for raw in values["items"]], atomic=values["atomic"])
    if values["atomic"] and (causes := _causes(report)):
        return _rolled_back(report, causes)
    counts = Counter(result.outcome.value for result in report.results)
    return jsonify(
        results=[_result_view(result) for result in report.results],
        counts={outcome.value: counts[outcome.value] for outcome in Outcome},
        trace_id=report.trace_id,
    )


@blueprint.get("/<uid>")
@requires(Role.READER)
@blueprint.query(SpaceQuery)
@blueprint.response(200, MemoryAnswer)
def one(query: dict[str, Any], uid: str) -> Response:
    """Get one memory.

    The space may be left out where the uid is unique among the readable ones.
    """
    memory = found_memory(uid, query["space"])
    return tagged(jsonify(memory_view(memory)), memory)


def _write(requests: list[WriteRequest | GraphmemError], *, atomic: bool = False) -> WriteReport:
    report = service().writing.write(
        requests, caller=g.caller, atomic=atomic, idempotency=idempotency_key()
    )
    for result in report.results:
        metrics().writes.labels(result.outcome.value).inc()
    return report


def _item(raw: Any) -> WriteRequest | GraphmemError:  # noqa: ANN401 - any JSON
    """The request of one batch item, or what is wrong with it."""
    try:
        return write_request(_one.load(raw))
    except ValidationError as error:
        return InvalidInput(flat_messages(error.messages_dict, WHOLE))


def _result_view(result: WriteResult) -> dict[str, Any]:
    view: dict[str, Any] = {"index": result.index, "outcome": result.outcome.value}
    if result.memory:
        view["uid"] = result.memory.uid
    view |= _notes(result)
    if result.error:
        view["error"] = error_detail(result.error)
    return view


def _notes(result: WriteResult) -> dict[str, Any]:
    """What stands beside an outcome, where there is something to say."""
    notes = {
        "not_taken": list(result.not_taken),
        "retracted_before": result.retracted_before,
    }
    return {name: value for name, value in notes.items() if value}


def _causes(report: WriteReport) -> dict[int, GraphmemError]:
    """Why an atomic batch was rolled back: the errors of single items, by index."""
    return {
        result.index: result.error
        for result in report.results
        if result.error and not isinstance(result.error, RolledBack)
    }


def _rolled_back(report: WriteReport, causes: Mapping[int, GraphmemError]) -> Response:
    """The error of the first cause, with the fields of all, and what became of each item."""
    first = causes[min(causes)]
    fields = {
        f"items.{index}.{path}": texts
        for index, error in causes.items()
        if isinstance(error, InvalidInput)
        for path, texts in error.fields.items()
    }
    detail = error_detail(first) | {"fields": fields}
    return error_response(
        status_of(first),
        beside={
            "results": [_result_view(result) for result in report.results],
            "trace_id": report.trace_id,
        },
        **detail,
    )


def _stored(result: WriteResult) -> Memory:
    if result.memory is None:
        message = "What this request once stored is no longer there."
        raise Conflict(message)
    return result.memory


def _entities(name: str | None, spaces: Sequence[Space]) -> Sequence[str]:
    return service().recall.entities_meant([name], spaces, field="entity")[0] if name else ()
