"""Feedback transfer: what was said of the memories of a space as lines of an export, and back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marshmallow import fields, validate

from graphmem.gateway.workbench import Workbench
from graphmem.intake.jsonl_format import Line, Moment, checked
from graphmem.intake.record_transfer import Loaded, RecordTransfer, TakeInRecords, check_uid
from graphmem.model.feedback import NOTE_MAX_CHARS, Feedback
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind
from graphmem.store.feedback import FeedbackReader, take_in_feedback
from graphmem.text.times import iso

_PLAIN = ("recall", "memory", "useful", "note", "is_vote", "is_example")


class _FeedbackLine(Line):
    recall = fields.String(required=True)
    memory = fields.String(required=True)
    useful = fields.Boolean(required=True)
    note = fields.String(
        allow_none=True, load_default=None, validate=validate.Length(1, NOTE_MAX_CHARS)
    )
    at = Moment(required=True)
    is_vote = fields.Boolean(load_default=True)
    is_example = fields.Boolean(load_default=False)


class TakeInFeedback(TakeInRecords):
    """Write what another store kept of feedback."""

    kind = TraceKind.FEEDBACK


@dataclass(frozen=True, kw_only=True)
class FeedbackTransfer(RecordTransfer):
    """What was said of the memories of a space; their counts follow from it."""

    feedback: FeedbackReader
    kind = "feedback"
    plural = "feedback"
    operation = TakeInFeedback

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """All that was said of the memories of a space."""
        for each in self.feedback.of_space(space):
            yield {name: getattr(each, name) for name in _PLAIN} | {"at": iso(each.at)}

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """What a line says of a memory."""
        values = checked(_FeedbackLine(), self.kind, value)
        for name in ("recall", "memory"):
            check_uid(f"{self.kind}.{name}", values[name], f"a {name}")
        given = Feedback(space=space, **values)
        return Loaded(key=given.key, record=given, texts=[given.note] if given.note else [])

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Write what was said of memories that are here, and let these count it."""
        return take_in_feedback(transaction, records)
