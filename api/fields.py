"""Fields and schemas that several nouns share."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, pre_load, validate

from graphmem.model.entity import EntityRef
from graphmem.text.normalise import is_storable, nfc, one_line
from graphmem.text.times import has_zone

_FIELDS_MAX = 100  # of a request


def invalid_as(kind: str, failure: str) -> dict[str, str | list[Any] | dict[Any, Any]]:
    """The messages of a field of a kind, with the name that 002 gives the failure."""
    return {"invalid": f"Must be {kind} ({failure})."}


def unknown_as(failure: str) -> dict[str, str | list[Any] | dict[Any, Any]]:
    """The messages of a field that takes one of some names, with 002's name of the failure."""
    return {"unknown": f"Must be one of: {{choices}} ({failure})."}


# of a field that 002 needs
MISSING: dict[str, str | list[Any] | dict[Any, Any]] = {
    "required": "Missing data for required field (MissingField).",
    "null": "Must not be null (MissingField).",
}


class RequestSchema(Schema):
    """A request body: unknown fields are refused."""

    class Meta:
        """How marshmallow reads it."""

        unknown = RAISE

    @pre_load
    def _few(self, values: Any, **_: object) -> Any:  # noqa: ANN401 - any JSON
        """So many fields no request has; each unknown one would have a message of its own."""
        if isinstance(values, Mapping) and len(values) > _FIELDS_MAX:
            message = f"At most {_FIELDS_MAX} fields."
            raise ValidationError(message)
        return values


class WithoutNulls(RequestSchema):
    """A request body in which a null says the same as an absent field."""

    @pre_load
    def _without_nulls(self, values: Any, **_: object) -> Any:  # noqa: ANN401 - any JSON
        if not isinstance(values, Mapping):
            return values
        return {name: value for name, value in values.items() if value is not None}


class UtcDateTime(fields.AwareDateTime):
    """A time with a zone, such as 2026-03-01T09:30:00Z, kept in UTC."""

    default_error_messages = {  # noqa: RUF012 - marshmallow's form
        "invalid": "Must be an ISO 8601 time with a zone, such as 2026-03-01T09:30:00Z.",
        "invalid_awareness": "Must have a zone, such as 2026-03-01T09:30:00Z.",
    }

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> datetime:  # noqa: ANN401
        if isinstance(value, str) and not has_zone(value):
            raise self.make_error("invalid_awareness")
        moment = super()._deserialize(value, attr, data, **options)
        try:
            return moment.astimezone(UTC)
        except OverflowError as error:
            message = "Must lie in the years 1 to 9999."
            raise ValidationError(message) from error


class Text(fields.String):
    """A text without NUL and lone surrogates."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> str:  # noqa: ANN401
        text: str = super()._deserialize(value, attr, data, **options)
        if not is_storable(text):
            message = "Must not contain NUL or lone surrogates."
            raise ValidationError(message)
        return text


NOT_EMPTY = validate.Length(min=1)


class Id(Text):
    """An id of the caller's, in the form that it is kept in."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> str:  # noqa: ANN401
        return nfc(super()._deserialize(value, attr, data, **options))


class Line(Text):
    """A name in the form that it is kept in: one line, without blanks at its ends."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> str:  # noqa: ANN401
        return one_line(super()._deserialize(value, attr, data, **options))


class Flag(fields.Boolean):
    """A JSON truth value; a text or number that looks like one is refused."""

    truthy = {True}  # noqa: RUF012 - marshmallow's form
    falsy = {False}  # noqa: RUF012 - marshmallow's form


class Number(fields.Float):
    """A JSON number; a text that looks like one is refused."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> float:  # noqa: ANN401
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.make_error("invalid", input=value)
        number: float = super()._deserialize(value, attr, data, **options)
        return number


class EntityField(fields.Field[EntityRef]):
    """An entity: ``"person:john_doe"`` or ``{"key": …, "label": …}``."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> EntityRef:  # noqa: ANN401, ARG002
        if isinstance(value, str):
            return EntityRef(key=value)
        if isinstance(value, Mapping):
            unknown = sorted(set(value) - {"key", "label"})
            label = value.get("label")
            if (
                isinstance(value.get("key"), str)
                and not unknown
                and (label is None or isinstance(label, str))
            ):
                return EntityRef(key=value["key"], label=label)
        message = 'Must be "type:name" or {"key": "type:name", "label": "…"}.'
        raise ValidationError(message)


class VectorField(fields.Field[tuple[float, ...]]):
    """A vector: a list of numbers."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> tuple[float, ...]:  # noqa: ANN401, ARG002
        if not isinstance(value, list) or not {type(number) for number in value} <= {int, float}:
            message = "Must be a list of numbers (InvalidEmbedding)."
            raise ValidationError(message)
        try:
            return tuple(map(float, value))
        except OverflowError as error:
            message = "Must be finite numbers (InvalidEmbedding)."
            raise ValidationError(message) from error


class ErrorDetail(Schema):
    """What went wrong."""

    code = fields.String(required=True, metadata={"description": "A stable code"})
    message = fields.String(required=True)
    reason = fields.String(metadata={"description": "Why the policy refused"})
    fields_ = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.String()),
        data_key="fields",
        metadata={"description": "Path of a field → what is wrong with it"},
    )
    request_id = fields.String(required=True)


class ErrorSchema(Schema):
    """The one error body."""

    error = fields.Nested(ErrorDetail, required=True)
    results = fields.List(
        fields.Dict(),
        metadata={
            "description": "Of an atomic batch that was rolled back: what became of each item"
        },
    )
    trace_id = fields.String(metadata={"description": "Of such a batch"})
