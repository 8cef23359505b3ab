"""Drafts of corpora: what sessions work on, and what somebody approved of it."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.corpus.paths import corpus_space, keeper, kind_named, section_named
from api.corpus.results import away_answer, may_refuse
from api.corpus.schemas import (
    ApprovalList,
    ChangeQuery,
    CorpusApprovalAnswer,
    CorpusApprovalBody,
    CorpusDraftAnswer,
    CorpusValue,
    ItemQuery,
    SessionQuery,
)
from api.corpus.views import section_view
from api.json_blueprint import JsonBlueprint
from api.paging import PageQuery, cursor_of, page_answer
from graphmem.corpus.drafting import DraftChange, DraftView
from graphmem.corpus.edits import Edit, EditKind
from graphmem.corpus.fallback import StoreAway
from graphmem.errors import InvalidInput
from graphmem.model.caller import Role
from graphmem.model.corpus import Corpus
from graphmem.model.space import Space
from graphmem.text.times import iso

blueprint = JsonBlueprint(
    "corpus drafts",
    __name__,
    url_prefix="/v1/corpora",
    description="What sessions work on, and what somebody approved of it (000)",
)


@blueprint.get("/<owner>/draft")
@requires(Role.READER)
@blueprint.query(SessionQuery)
@blueprint.response(200, CorpusDraftAnswer)
def draft(query: dict[str, Any], owner: str) -> Response:
    """Get the draft of a session; one that has none sees the last verified revision."""
    return jsonify(draft_view(keeper().draft(corpus_space(owner), query["session"])))


@blueprint.patch("/<owner>/draft")
@requires(Role.WRITER, while_away=True)
@blueprint.arguments(CorpusValue)
@blueprint.query(ChangeQuery)
@may_refuse(blueprint)
@blueprint.response(200, CorpusDraftAnswer)
def patch(values: Any, query: dict[str, Any], owner: str) -> Response:  # noqa: ANN401 - any JSON
    """Merge a patch into the draft: objects merge, lists and single values take their place."""
    edit = Edit(kind=EditKind.PATCH, value=_object(values), allows_blank=query["allow_blank"])
    return _edited(owner, query, edit)


@blueprint.put("/<owner>/draft/sections/<section>")
@requires(Role.WRITER, while_away=True)
@blueprint.arguments(CorpusValue)
@blueprint.query(ChangeQuery)
@may_refuse(blueprint)
@blueprint.response(200, CorpusDraftAnswer)
def put_section(values: Any, query: dict[str, Any], owner: str, section: str) -> Response:  # noqa: ANN401
    """Put another value in the place of a section."""
    edit = Edit(
        kind=EditKind.SECTION,
        section=section_named(section),
        value=values,
        allows_blank=query["allow_blank"],
    )
    return _edited(owner, query, edit)


@blueprint.put("/<owner>/draft/<kind>")
@requires(Role.WRITER, while_away=True)
@blueprint.arguments(CorpusValue)
@blueprint.query(ItemQuery)
@may_refuse(blueprint)
@blueprint.response(201, CorpusDraftAnswer)
@blueprint.alt_response(200, schema=CorpusDraftAnswer, description="It joined one that was there")
def put_item(values: Any, query: dict[str, Any], owner: str, kind: str) -> Response:  # noqa: ANN401
    """Put one item: it joins the one that it means, by id, match or its natural key."""
    match = (name.strip() for name in query.get("match", "").split(","))
    edit = Edit(
        kind=EditKind.ITEM,
        section=kind_named(kind),
        value=_object(values),
        match=tuple(filter(None, match)),
        allows_blank=query["allow_blank"],
    )
    return _edited(owner, query, edit)


@blueprint.delete("/<owner>/draft/<kind>/<uid>")
@requires(Role.WRITER, while_away=True)
@blueprint.query(SessionQuery)
@may_refuse(blueprint)
@blueprint.response(200, CorpusDraftAnswer)
def delete_item(query: dict[str, Any], owner: str, kind: str, uid: str) -> Response:
    """Take an item out of the draft."""
    edit = Edit(kind=EditKind.REMOVE, section=kind_named(kind), uid=uid)
    return _edited(owner, query, edit)


@blueprint.post("/<owner>/draft/restore")
@requires(Role.WRITER)
@blueprint.query(SessionQuery)
@blueprint.response(200, CorpusDraftAnswer)
def restore(query: dict[str, Any], owner: str) -> Response:
    """Take what the store did not take, and what lies in a file since, into the draft."""
    space, session = corpus_space(owner, Role.WRITER), query["session"]
    return _draft_answer(space, session, keeper().restore(space, session, caller=g.caller))


def _object(values: Any) -> Corpus:  # noqa: ANN401 - any JSON
    if not isinstance(values, dict):
        raise InvalidInput({"body": ["Must be an object."]})
    return values


def _edited(owner: str, query: dict[str, Any], edit: Edit) -> Response:
    """Make an edit of a draft, and show it; one that the store did not take may lie in a file."""
    space, session = corpus_space(owner, Role.WRITER), query["session"]
    try:
        made = keeper().edit(space, session, edit, caller=g.caller)
        return _draft_answer(space, session, made)
    except StoreAway as away:
        return away_answer(away)


def _draft_answer(space: Space, session: str, made: DraftChange) -> Response:
    shown = draft_view(keeper().draft(space, session, made))
    named = {"id": made.item, "kept_as": made.kept_as}
    response = jsonify(shown | {name: value for name, value in named.items() if value})
    response.status_code = HTTPStatus.CREATED if made.is_new else HTTPStatus.OK
    return response


@blueprint.post("/<owner>/approvals")
@requires(Role.WRITER)
@blueprint.arguments(CorpusApprovalBody)
@blueprint.query(SessionQuery)
@blueprint.response(201, CorpusApprovalAnswer)
def approve(values: dict[str, Any], query: dict[str, Any], owner: str) -> Response:
    """Approve a section, or take that back, for exactly the content that was shown."""
    approval = keeper().approve(
        corpus_space(owner, Role.WRITER),
        query["session"],
        values["section"],
        shown=values["content_sha256"],
        basis=values["basis"],
        approved=values["approved"],
        caller=g.caller,
    )
    response = jsonify(
        section=approval.section.value,
        content_sha256=approval.content_sha256,
        basis=approval.basis.value,
        approved=approval.approved,
        approved_at_utc=iso(approval.at),
    )
    response.status_code = HTTPStatus.CREATED
    return response


@blueprint.get("/<owner>/approvals")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, ApprovalList)
def approvals(query: dict[str, Any], owner: str) -> Response:
    """List what was said of contents, the newest first."""
    page = keeper().corpora.approvals(
        corpus_space(owner), cursor_of(query, size=1), limit=query["limit"]
    )
    return page_answer(page, _approval_view)


def _approval_view(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row
    names = ("section", "content_sha256", "basis", "approved", "key_id")
    return {**{name: row[name] for name in names}, "approved_at_utc": row["at"]}


def draft_view(view: DraftView) -> dict[str, Any]:
    """A draft as answers show it."""
    return {
        "session": view.draft.session,
        "revision": view.draft.revision,
        "dirty": view.is_dirty,
        "corpus": view.draft.corpus,
        "problems": [{"path": each.path, "message": each.message} for each in view.problems],
        "sections": {name.value: section_view(each) for name, each in view.sections.items()},
    }
