"""Transfer lines: the forms of the room's lines in an export."""

from marshmallow import fields, validate

from graphmem.companion.summaries import SPINE_SECTIONS
from graphmem.intake.jsonl_format import Line, Moment

_COUNT = validate.Range(0, 1_000_000_000)
_UID = validate.Length(1, 128)
_NAME = validate.Length(1, 256)
_SHORT, _TEXT = validate.Length(max=4_000), validate.Length(max=32_000)
_FEW, _MANY = validate.Length(max=1_000), validate.Length(max=100_000)
_NAME_MAX_CHARS, _EMAIL_MAX_CHARS = 100, 320
_EMAIL = validate.And(validate.Email(), validate.Length(max=_EMAIL_MAX_CHARS))


class PersonaLine(Line):
    """A persona of the tenant."""

    slug = fields.String(required=True)
    name = fields.String(required=True, validate=validate.Length(1, _NAME_MAX_CHARS))
    prompt = fields.String(load_default="", validate=_TEXT)
    enable_spine = fields.Boolean(load_default=True)
    is_active = fields.Boolean(load_default=True)
    created_at = Moment(required=True)
    updated_at = Moment(required=True)


class CompanionUserLine(Line):
    """A user whom personas know."""

    email = fields.String(allow_none=True, load_default=None, validate=_EMAIL)
    seed = fields.String(allow_none=True, load_default=None, validate=_TEXT)
    seeded_at = Moment(allow_none=True, load_default=None)
    spine_messages = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    spine_version = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    overrides = fields.Dict(keys=fields.String(), values=fields.String(), load_default=dict)
    created_at = Moment(required=True)
    updated_at = Moment(required=True)


class _CuratorLine(Line):
    last_run_at = Moment(required=True)
    last_memory_count_at_run = fields.Integer(strict=True, required=True, validate=_COUNT)


class _RollingErrorLine(Line):
    reason = fields.String(required=True, validate=_NAME)
    detail = fields.String(allow_none=True, load_default=None, validate=_SHORT)


class SessionStateLine(Line):
    """What lasts of a user with a persona; ``unrolled``: his rolling summary is made anew."""

    message_count = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    last_interaction = Moment(allow_none=True, load_default=None)
    last_user_message = fields.String(allow_none=True, load_default=None, validate=_SHORT)
    last_user_at = Moment(allow_none=True, load_default=None)
    curator = fields.Nested(_CuratorLine, allow_none=True, load_default=None)
    last_rolling_attempt_at = Moment(allow_none=True, load_default=None)
    last_rolling_success_at = Moment(allow_none=True, load_default=None)
    last_rolling_error = fields.Nested(_RollingErrorLine, allow_none=True, load_default=None)
    rolling_summary = fields.String(allow_none=True, load_default=None, validate=_TEXT)
    rolled_count = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    unrolled = fields.Boolean(load_default=False)


class _SummaryLine(Line):
    one_liner = fields.String(required=True, validate=_SHORT)
    what_mattered = fields.List(fields.String(validate=_SHORT), load_default=list, validate=_FEW)
    open_loops = fields.List(fields.String(validate=_SHORT), load_default=list, validate=_FEW)
    commitments = fields.List(fields.String(validate=_SHORT), load_default=list, validate=_FEW)
    people = fields.List(fields.String(validate=_SHORT), load_default=list, validate=_FEW)
    tone = fields.String(load_default="unknown", validate=_SHORT)
    model = fields.String(load_default="rules", validate=_NAME)
    parse_error = fields.Boolean(load_default=False)
    truncated = fields.Boolean(load_default=False)
    created_at = Moment(required=True)


class _LeftLine(Line):
    turn = fields.String(required=True, validate=_UID)
    uid = fields.String(required=True, validate=_UID)
    said_by = fields.String(required=True, validate=validate.Length(1, 4_000))
    words = fields.String(
        allow_none=True, load_default=None, validate=validate.Regexp("[0-9a-f]{64}$")
    )


class SessionLine(Line):
    """A session with its messages; ``left`` is what these left with the user."""

    uid = fields.String(required=True)
    started_at = Moment(required=True)
    last_activity_at = Moment(required=True)
    ended_at = Moment(allow_none=True, load_default=None)
    turn_count = fields.Integer(strict=True, required=True, validate=_COUNT)
    turns = fields.List(fields.String(validate=_UID), load_default=list, validate=_MANY)
    unjudged = fields.List(fields.String(validate=_UID), load_default=list, validate=_MANY)
    summary = fields.Nested(_SummaryLine, allow_none=True, load_default=None)
    unsummed = fields.Boolean(allow_none=True, load_default=None)  # else where it has no summary
    left = fields.List(fields.Nested(_LeftLine), load_default=list, validate=_MANY)


class RollingSummaryLine(Line):
    """A rolling summary with the messages that it rests on."""

    uid = fields.String(required=True)
    text = fields.String(required=True, validate=validate.Length(1, 32_000))
    model = fields.String(load_default="rules", validate=_NAME)
    created_at = Moment(required=True)
    turns = fields.List(fields.String(validate=_UID), load_default=list, validate=_FEW)


class _SpineLine(Line):
    text = fields.String(required=True, validate=_TEXT)
    uid = fields.String(required=True, validate=_UID)
    persona = fields.String(allow_none=True, load_default=None)


class SpinePartLine(Line):
    """A part of a version of the long summary of a user."""

    version = fields.Integer(strict=True, required=True, validate=validate.Range(1, 1_000_000_000))
    message_count = fields.Integer(strict=True, load_default=0, validate=_COUNT)
    sections = fields.Dict(
        keys=fields.String(validate=validate.OneOf(SPINE_SECTIONS)),
        values=fields.List(fields.Nested(_SpineLine), validate=_FEW),
        required=True,
    )
    created_at = Moment(required=True)
