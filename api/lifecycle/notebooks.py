"""Notebooks: what the lifecycle keeps of spaces beside their memories."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.json_blueprint import JsonBlueprint
from api.lifecycle.notebook_schemas import (
    ArtefactList,
    BoxAnswer,
    BoxList,
    BoxListQuery,
    LinesAnswer,
    NotedQuestionList,
    QuestionListQuery,
    ReflectedAnswer,
    ReflectionBody,
    ResolveBody,
    ResolvedAnswer,
    SealAnswer,
    TopicTraceAnswer,
    TopicTraceList,
    artefact_view,
    box_view,
    lines_view,
    question_view,
    reflection_view,
    topic_trace_view,
)
from api.lifecycle.paths import keeper, writable_space
from api.lookup import space_in_path
from api.paging import PageQuery, cursor_of, page_answer
from graphmem.lifecycle.notebook_keeper import NotebookKeeper
from graphmem.model.caller import Role
from graphmem.model.notebook import SealReason

blueprint = JsonBlueprint(
    "notebooks",
    __name__,
    url_prefix="/v1/spaces",
    description="What the lifecycle keeps of a space beside its memories",
)


def _notebooks() -> NotebookKeeper:
    return keeper().notebooks


@blueprint.get("/<path:name>/boxes")
@requires(Role.READER)
@blueprint.query(BoxListQuery)
@blueprint.response(200, BoxList)
def boxes(query: dict[str, Any], name: str) -> Response:
    """List the boxes of a space, the latest first; they are kept where its policy says so."""
    page = _notebooks().box_page(
        space_in_path(name),
        cursor_of(query, size=2),
        limit=query["limit"],
        is_open=query["open"],
        days=query["days"],
        session=query["session"],
    )
    return page_answer(page, box_view)


@blueprint.get("/<path:name>/boxes/<uid>")
@requires(Role.READER)
@blueprint.response(200, BoxAnswer)
def box(name: str, uid: str) -> Response:
    """Get a box of a space."""
    return jsonify(box_view(_notebooks().box(space_in_path(name), uid)))


@blueprint.post("/<path:name>/boxes/seal")
@requires(Role.WRITER)
@blueprint.response(200, SealAnswer)
def seal(name: str) -> Response:
    """Seal the open box of a space, so that what is told next begins another."""
    done = _notebooks().seal(writable_space(name), SealReason.FORCED, g.caller)
    shown = _notebooks().shown(done.answer)
    return jsonify(
        box=box_view(shown) if shown else None,
        trace_id=done.trace_id if done.answer else None,
    )


@blueprint.get("/<path:name>/topic-traces")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, TopicTraceList)
def topic_traces(query: dict[str, Any], name: str) -> Response:
    """List the topic traces of a space, the latest first."""
    page = _notebooks().trace_page(
        space_in_path(name), cursor_of(query, size=2), limit=query["limit"]
    )
    return page_answer(page, topic_trace_view)


@blueprint.get("/<path:name>/topic-traces/<uid>")
@requires(Role.READER)
@blueprint.response(200, TopicTraceAnswer)
def topic_trace(name: str, uid: str) -> Response:
    """Get a topic trace of a space."""
    return jsonify(topic_trace_view(_notebooks().trace(space_in_path(name), uid)))


@blueprint.get("/<path:name>/artefacts")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, ArtefactList)
def artefacts(query: dict[str, Any], name: str) -> Response:
    """List what turns of a space say word for word, as long as their memories are current."""
    page = _notebooks().artefact_page(
        space_in_path(name), cursor_of(query, size=2), limit=query["limit"]
    )
    return page_answer(page, artefact_view)


@blueprint.get("/<path:name>/profile")
@requires(Role.READER)
@blueprint.response(200, LinesAnswer)
def profile(name: str) -> Response:
    """Get the profile of a space: how somebody works and wants to be treated."""
    return jsonify(lines_view(_notebooks().profile(space_in_path(name))))


@blueprint.get("/<path:name>/identity")
@requires(Role.READER)
@blueprint.response(200, LinesAnswer)
def identity(name: str) -> Response:
    """Get the reflections of a space, the oldest first; they rest on no memories."""
    return jsonify(lines_view(_notebooks().identity(space_in_path(name))))


@blueprint.post("/<path:name>/identity")
@requires(Role.WRITER)
@blueprint.arguments(ReflectionBody)
@blueprint.response(201, ReflectedAnswer)
def reflect(values: dict[str, Any], name: str) -> Response:
    """Add a reflection to the identity of a space: at most one an hour."""
    done = _notebooks().reflect(writable_space(name), values["text"], caller=g.caller)
    response = jsonify(reflection=reflection_view(done.answer), trace_id=done.trace_id)
    response.status_code = HTTPStatus.CREATED
    return response


@blueprint.get("/<path:name>/questions")
@requires(Role.READER)
@blueprint.query(QuestionListQuery)
@blueprint.response(200, NotedQuestionList)
def questions(query: dict[str, Any], name: str) -> Response:
    """List what is worth asking in a space, what matters most first."""
    page = _notebooks().question_page(
        space_in_path(name),
        cursor_of(query, size=2),
        limit=query["limit"],
        is_open=query["open"],
    )
    return page_answer(page, question_view)


@blueprint.post("/<path:name>/questions/<uid>/resolve")
@requires(Role.WRITER)
@blueprint.arguments(ResolveBody)
@blueprint.response(200, ResolvedAnswer)
def resolve(values: dict[str, Any], name: str, uid: str) -> Response:
    """Resolve a question, with its answer if there is one; a second time is 409."""
    space = writable_space(name)
    done = _notebooks().resolve(space, uid, values.get("answer"), caller=g.caller)
    return jsonify(question=question_view(done.answer), trace_id=done.trace_id)


@blueprint.get("/<path:name>/entity-index")
@requires(Role.READER)
@blueprint.response(200, LinesAnswer)
def entity_index(name: str) -> Response:
    """Get the entities that a space knows most of, best first, each with what is told of it."""
    return jsonify(lines_view(_notebooks().entity_index(space_in_path(name))))
