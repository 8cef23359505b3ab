"""Notes over HTTP."""

from flask import g, jsonify
from marshmallow import RAISE, Schema, fields

from api.auth import requires
from api.fields import RequestSchema, Text
from api.json_blueprint import JsonBlueprint
from api.paging import PageQuery, cursor_of, page_answer, page_of
from api.service import service
from api.space_fields import SpaceField
from graphmem.model.caller import Role
from notes_room.room import NoteService

blueprint = JsonBlueprint("notes", __name__, url_prefix="/v1/notes", description="Notes")


class NoteBody(RequestSchema):
    """A note."""

    space = SpaceField(required=True)
    uid = Text(required=True)
    text = Text(required=True)


class NoteQuery(PageQuery):
    """Whose notes."""

    space = SpaceField(required=True)


class NoteAnswer(Schema):
    """A note."""

    uid = fields.String()
    text = fields.String()
    is_stale = fields.Boolean()


class AddedNote(Schema):
    """A note and its trace."""

    note = fields.Nested(NoteAnswer)
    trace_id = fields.String()


NoteList = page_of(NoteAnswer, "NoteList", "One page of notes.")


@blueprint.route("", methods=["GET"])
@requires(Role.READER)
@blueprint.arguments(NoteQuery, location="query", unknown=RAISE)
@blueprint.response(200, NoteList)
def listing(query):
    """List the notes of a space."""
    notes = service().of(NoteService).notes
    return page_answer(notes.page(query["space"], cursor_of(query), limit=query["limit"]), view)


@blueprint.route("", methods=["POST"])
@requires(Role.WRITER)
@blueprint.arguments(NoteBody)
@blueprint.response(201, AddedNote)
def add(values):
    """Write a note."""
    done = service().of(NoteService).add(values["space"], values["uid"], values["text"], g.caller)
    answer = jsonify(note=view(done.answer), trace_id=done.trace_id)
    answer.status_code = 201
    return answer


def view(note):
    """A note as it is shown."""
    return {"uid": note.uid, "text": note.text, "is_stale": note.is_stale}
