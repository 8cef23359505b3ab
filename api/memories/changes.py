"""Corrections: change a memory, its status, and see what it was and what is around it."""

from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.edges.schemas import EVERY_TYPE, NeighbourQuery, edge_view
from api.json_blueprint import JsonBlueprint
from api.lookup import expected_version, found_memory, tagged
from api.memories.history import HistoryAnswer, HistoryQuery, lineage_view, memory_versions
from api.memories.neighbours import NeighbourAnswer
from api.memories.schemas import (
    AddAnswer,
    PatchRequest,
    SourceList,
    SourcesQuery,
    SpaceQuery,
    StatusRequest,
    UnfoldAnswer,
    correction_request,
    memory_view,
)
from api.paging import cursor_of, page_answer
from api.relations.schemas import relation_view
from api.service import service
from graphmem.gateway.folding import Unfold
from graphmem.gateway.status import ChangeStatus
from graphmem.intake.jsonl_format import source_values
from graphmem.model.caller import Role
from graphmem.model.memory import Memory, Status
from graphmem.model.page import Page
from graphmem.model.writing import WriteResult
from graphmem.recall.spaces import readable_spaces

blueprint = JsonBlueprint(
    "corrections", __name__, url_prefix="/v1/memories", description="Correcting memories"
)

_IF_MATCH = {
    "in": "header",
    "name": "If-Match",
    "schema": {"type": "string"},
    "description": (
        "The ETag that the change was decided on; another version is 409 and nothing changes."
    ),
}


@blueprint.patch("/<uid>")
@requires(Role.WRITER)
@blueprint.query(SpaceQuery)
@blueprint.arguments(PatchRequest)
@blueprint.response(200, AddAnswer)
@blueprint.doc(parameters=[_IF_MATCH])
def revise(query: dict[str, Any], values: dict[str, Any], uid: str) -> Response:
    """Change the named fields of a memory; its earlier version stays in the history."""
    memory = found_memory(uid, query["space"])
    request = correction_request(memory, values)
    result, trace_id = service().writing.correct(
        request, caller=g.caller, expected_version=expected_version(memory)
    )
    return _changed(result, trace_id)


@blueprint.post("/<uid>/retract")
@requires(Role.WRITER)
@blueprint.query(SpaceQuery)
@blueprint.arguments(StatusRequest)
@blueprint.response(200, AddAnswer)
@blueprint.doc(parameters=[_IF_MATCH])
def retract(query: dict[str, Any], values: dict[str, Any], uid: str) -> Response:
    """Take a memory back: it was wrong. It is never recalled again, and stays in the history."""
    return _with_status(found_memory(uid, query["space"]), Status.RETRACTED, values["reason"])


@blueprint.post("/<uid>/archive")
@requires(Role.WRITER)
@blueprint.query(SpaceQuery)
@blueprint.arguments(StatusRequest)
@blueprint.response(200, AddAnswer)
@blueprint.doc(parameters=[_IF_MATCH])
def archive(query: dict[str, Any], values: dict[str, Any], uid: str) -> Response:
    """Put a memory away: it is true but no longer of use. Recalls find it with include_archived."""
    return _with_status(found_memory(uid, query["space"]), Status.ARCHIVED, values["reason"])


@blueprint.post("/<uid>/restore")
@requires(Role.WRITER)
@blueprint.query(SpaceQuery)
@blueprint.arguments(StatusRequest)
@blueprint.response(200, AddAnswer)
@blueprint.doc(parameters=[_IF_MATCH])
def restore(query: dict[str, Any], values: dict[str, Any], uid: str) -> Response:
    """Make a memory current again.

    What was superseded comes back once its successor is retracted or archived.
    """
    return _with_status(found_memory(uid, query["space"]), Status.ACTIVE, values["reason"])


@blueprint.post("/<uid>/unfold")
@requires(Role.WRITER)
@blueprint.query(SpaceQuery)
@blueprint.response(200, UnfoldAnswer)
@blueprint.doc(parameters=[_IF_MATCH])
def unfold(query: dict[str, Any], uid: str) -> Response:
    """Take a folded memory apart: its members are active again, and it is archived."""
    memory = found_memory(uid, query["space"])
    done = service().gateway.execute(
        Unfold(
            folded=memory,
            members=service().histories.folded_from(memory),
            expected_version=expected_version(memory),
        ),
        g.caller,
    )
    result = done.answer.result
    memory = _stored(result)
    answer = {"outcome": result.outcome.value, "memory": memory_view(memory)}
    restored = list(done.answer.restored)
    return tagged(jsonify(answer | {"restored": restored, "trace_id": done.trace_id}), memory)


@blueprint.get("/<uid>/history")
@requires(Role.READER)
@blueprint.query(HistoryQuery)
@blueprint.response(200, HistoryAnswer)
def history(query: dict[str, Any], uid: str) -> Response:
    """The versions of a memory, newest first, each with its changes, and its lineage."""
    memory = found_memory(uid, query["space"])
    after = cursor_of(query)
    found = service().histories.of(
        memory, limit=query["limit"], after=int(after[0]) if after else None
    )
    last = found.revisions[-1].memory.version if found.has_more else None
    page = Page(
        items=memory_versions(memory, found, begins=after is None),
        total=found.total + 1,
        next=(last,) if last else None,
    )
    return page_answer(page, dict, lineage=lineage_view(found, g.caller))


@blueprint.get("/<uid>/sources")
@requires(Role.READER)
@blueprint.query(SourcesQuery)
@blueprint.response(200, SourceList)
def sources(query: dict[str, Any], uid: str) -> Response:
    """All that said a memory, first to last."""
    memory = found_memory(uid, query["space"])
    page = service().sources.page(memory, cursor_of(query), limit=query["limit"])
    return page_answer(page, source_values)


@blueprint.get("/<uid>/neighbours")
@requires(Role.READER)
@blueprint.query(NeighbourQuery)
@blueprint.response(200, NeighbourAnswer)
def neighbours(query: dict[str, Any], uid: str) -> Response:
    """The memories within one to three edges of a memory, nearest first, and their edges."""
    memory = found_memory(uid, query["space"])
    found = service().edges.around(
        memory, depth=query["depth"], types=query["edge_type"] or EVERY_TYPE, limit=query["limit"]
    )
    spaces = readable_spaces([memory.space.name], g.caller, field="space")
    owner = memory.space.without_persona.key
    relations = service().relation_reader.of_entities(
        [f"{owner}|{ref.key}" for ref in found.entities], spaces, limit=query["limit"]
    )
    return jsonify(
        memories=[memory_view(each) for each in found.memories],
        edges=[edge_view(edge) for edge in found.edges],
        entities=[{"key": ref.key, "label": ref.label} for ref in found.entities],
        relations=[relation_view(each) for each in relations],
    )


def _with_status(memory: Memory, status: Status, reason: str | None) -> Response:
    is_superseded = status is Status.ACTIVE and memory.status is Status.SUPERSEDED
    change = ChangeStatus(
        memory=memory,
        status=status,
        reason=reason,
        expected_version=expected_version(memory),
        before=service().histories.last_active(memory) if is_superseded else None,
        restores_kept=service().restores_kept(memory),
    )
    done = service().gateway.execute(change, g.caller)
    return _changed(done.answer, done.trace_id)


def _changed(result: WriteResult, trace_id: str) -> Response:
    memory = _stored(result)
    return tagged(
        jsonify(outcome=result.outcome.value, memory=memory_view(memory), trace_id=trace_id), memory
    )


def _stored(result: WriteResult) -> Memory:
    assert result.memory is not None  # noqa: S101 - an error was raised before
    return result.memory
