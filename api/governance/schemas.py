"""Bodies and answers of governed memory (004)."""

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.fields import NOT_EMPTY, RequestSchema, Text
from api.paging import PageQuery, page_of
from api.space_fields import SpaceField, SpacesField
from graphmem.governance.keeper import CallView
from graphmem.governance.request import tool_text
from graphmem.model.governance import FactKey, ItemKind
from graphmem.text.normalise import shows_something

TEXT_MOST_CHARS = 32_000
_ROOT_MOST_CHARS = 4_096
_TOOL_EVENTS_MOST = 1_000
_TEXT = validate.Length(1, TEXT_MOST_CHARS)


class _Spoken(Text):
    """A text that shows something."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> str:  # noqa: ANN401
        text = super()._deserialize(value, attr, data, **options)
        if not shows_something(text):
            message = "Must not be blank."
            raise ValidationError(message)
        return text


class GovernedRecallBody(RequestSchema):
    """What an AI is asked, by whom, and about which project."""

    input = _Spoken(required=True, validate=_TEXT)
    state = fields.Dict(keys=fields.String(), load_default=dict)
    identity = fields.Dict(keys=fields.String(), load_default=dict)
    project_root = Text(validate=validate.Length(1, _ROOT_MOST_CHARS))
    project = Text(validate=NOT_EMPTY)


class GovernedRecordBody(GovernedRecallBody):
    """What an AI was asked, what it answered, and what its tools did."""

    output = _Spoken(required=True, validate=_TEXT)
    tool_events = fields.List(
        fields.Dict(keys=fields.String()),
        load_default=list,
        validate=validate.Length(max=_TOOL_EVENTS_MOST),
    )

    @validates_schema
    def _short_enough(self, values: dict[str, Any], **_: object) -> None:
        try:
            text = tool_text(values["tool_events"])
        except (ValueError, RecursionError) as error:
            message = "Must be objects of JSON."
            raise ValidationError(message, "tool_events") from error
        if len(text) > TEXT_MOST_CHARS:
            message = f"At most {TEXT_MOST_CHARS:,} characters as JSON."
            raise ValidationError(message, "tool_events")


class CallQuery(RequestSchema):
    """What of the events an answer shows; all of them are kept."""

    events = fields.Boolean(load_default=True)
    snapshots = fields.Boolean(load_default=True)


class _ItemAnswer(Schema):
    id = fields.String()
    kind = fields.Enum(ItemKind, by_value=True)
    text = fields.String()
    source = fields.String()
    created_at = fields.Integer(metadata={"description": "A tick of the person's clock"})
    importance = fields.Integer()
    scope = fields.String()
    meta = fields.Dict()


class _ContextAnswer(Schema):
    short_term = fields.List(fields.Nested(_ItemAnswer))
    semantic = fields.List(fields.Nested(_ItemAnswer))
    profile = fields.List(fields.Nested(_ItemAnswer))


class _CallAnswer(Schema):
    events = fields.List(fields.Dict(), metadata={"description": "In their order (004, events)"})
    clock = fields.Integer(metadata={"description": "The next tick of the person"})
    trace_id = fields.String()


class GovernedRecallAnswer(_CallAnswer):
    """What came back, also by kind."""

    context = fields.Nested(_ContextAnswer)
    recalled = fields.List(fields.Nested(_ItemAnswer))


class RecordAnswer(_CallAnswer):
    """What was stored."""

    written = fields.List(fields.Nested(_ItemAnswer))


class WholeCallAnswer(_CallAnswer):
    """What came back and what was stored."""

    recalled = fields.List(fields.Nested(_ItemAnswer))
    written = fields.List(fields.Nested(_ItemAnswer))


class ContractAnswer(Schema):
    """A contract that holds."""

    profile = fields.String()
    version = fields.Integer()
    contract = fields.Dict()


class ContractVersion(ContractAnswer):
    """A version of a contract."""

    created_at = fields.DateTime()
    key_id = fields.String(allow_none=True)


ContractList = page_of(ContractAnswer, "ContractList", "One page of contracts, by profile.")


ContractVersionList = page_of(
    ContractVersion,
    "ContractVersionList",
    "One page of the versions of a contract, the newest first.",
)


class PhaseListQuery(PageQuery):
    """The phases of a space."""

    space = SpaceField(required=True)


class PhaseView(Schema):
    """A phase of a space."""

    phase_id = fields.String()
    phase_index = fields.Integer()
    phase_started_at = fields.Integer()
    phase_reason = fields.String()
    phase_name = fields.String(allow_none=True)
    has_ledger = fields.Boolean()


PhaseList = page_of(PhaseView, "PhaseList", "One page of the phases of a space, the newest first.")


class PhaseDiffQuery(RequestSchema):
    """Two phases of a space."""

    space = SpaceField(required=True)
    from_ = fields.String(required=True, data_key="from")
    to = fields.String(required=True)


class PhaseDiffAnswer(Schema):
    """What two phases differ in."""

    space = fields.String()
    owner = fields.String()
    from_phase_id = fields.String()
    to_phase_id = fields.String()
    added_count = fields.Integer()
    deleted_count = fields.Integer()
    replaced_count = fields.Integer()
    top_changes = fields.List(fields.Dict())
    summary_lines = fields.List(fields.String())


class GovernedItemQuery(PageQuery):
    """Which items of a space are asked for."""

    space = SpaceField(required=True)
    kind = fields.Enum(ItemKind, by_value=True, required=True)
    status = fields.String(load_default="", validate=validate.OneOf(["present", "absent"]))


class GovernedItemView(_ItemAnswer):
    """An item, and whether it is present."""

    uid = fields.String(metadata={"description": "Of its memory"})
    status = fields.String()
    reason = fields.String(allow_none=True)
    is_present = fields.Boolean()


GovernedItemList = page_of(
    GovernedItemView, "GovernedItemList", "One page of items, the newest first."
)


class _ToldAnswer(Schema):
    trace_id = fields.String()
    events = fields.List(fields.Dict())


ItemEventList = page_of(
    _ToldAnswer, "ItemEventList", "One page of the life of an item, the oldest first."
)


class ImposedBody(RequestSchema):
    """An item of the highest authority, and the space where it is to hold."""

    space = SpaceField(required=True)
    kind = fields.Enum(ItemKind, by_value=True, required=True)
    text = _Spoken(required=True, validate=_TEXT)
    key = fields.Enum(FactKey, by_value=True)

    @validates_schema
    def _fits(self, values: dict[str, Any], **_: object) -> None:
        is_fact = values["kind"] is ItemKind.PROFILE
        if values["kind"] is ItemKind.SHORT_TERM:
            message = "Must be semantic or profile."
            raise ValidationError(message, "kind")
        if is_fact != ("key" in values):
            message = "Must be given with profile, and only then."
            raise ValidationError(message, "key")


class ImposedAnswer(Schema):
    """The item that was imposed, and the events that say so."""

    item = fields.Nested(_ItemAnswer)
    events = fields.List(fields.Dict())
    trace_id = fields.String()


class ContractPreviewBody(RequestSchema):
    """A contract, and the spaces whose present items are looked at."""

    contract = fields.Dict(keys=fields.String(), required=True)
    spaces = SpacesField()


class _FoundAnswer(Schema):
    id = fields.String()
    reason = fields.String()


class ContractPreviewAnswer(Schema):
    """What a contract would do; each list has at most 200, the counts have all."""

    denied = fields.List(fields.Nested(_FoundAnswer))
    expiring = fields.List(fields.Nested(_FoundAnswer))
    promotable = fields.List(fields.Nested(_FoundAnswer))
    counts = fields.Dict(keys=fields.String(), values=fields.Integer())


def call_view(call: CallView, query: dict[str, Any], *names: str) -> dict[str, Any]:
    """What a call gave, with those parts of it that are named."""
    parts: dict[str, Any] = {"recalled": list(call.recalled), "written": list(call.written)}
    answer = {name: parts[name] for name in names}
    if query["events"]:
        answer["events"] = [
            {
                name: value
                for name, value in event.items()
                if query["snapshots"] or name not in {"policy", "policy_snapshot"}
            }
            for event in call.events
        ]
    return answer | {"clock": call.clock, "trace_id": call.trace_id}
