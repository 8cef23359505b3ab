"""Transfer: relations of entities as lines of an export, and back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marshmallow import fields, validate

from graphmem.errors import GraphmemError, StoreUnavailable
from graphmem.gateway.relations import RelationKeeper, RelationRequest
from graphmem.intake.jsonl_format import Line, Moment, checked
from graphmem.intake.record_transfer import check_uid
from graphmem.model.caller import Caller
from graphmem.model.relation import MEMORIES_MAX, Relation
from graphmem.model.space import Space
from graphmem.store.relations import Relations
from graphmem.text.times import iso

_LABEL = validate.Length(1, 2_048)  # as long as older ones may be


class _RelationLine(Line):
    uid = fields.String(required=True)
    start = fields.String(required=True, data_key="from")
    end = fields.String(required=True, data_key="to")
    from_label = fields.String(allow_none=True, load_default=None, validate=_LABEL)
    to_label = fields.String(allow_none=True, load_default=None, validate=_LABEL)
    label = fields.String(required=True)
    weight = fields.Float(load_default=1.0)
    since = Moment(allow_none=True, load_default=None)
    until = Moment(allow_none=True, load_default=None)
    created_at = Moment(allow_none=True, load_default=None)
    memories = fields.List(
        fields.String(), load_default=list, validate=validate.Length(max=MEMORIES_MAX)
    )
    by_hand = fields.Boolean(load_default=False)


@dataclass(frozen=True, kw_only=True)
class RelationTransfer:
    """The relations that rest on a space, whether they hold today or not."""

    relations: Relations
    keeper: RelationKeeper
    kind: str = "relation"

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The relations of a space, as far as they rest on it."""
        for relation in self.relations.of_space(space):
            yield _line(relation)

    def write(
        self, space: Space, values: Sequence[Any], *, caller: Caller
    ) -> Iterable[str | GraphmemError]:
        """Post relations under their uids."""
        return [self._posted(space, value, caller) for value in values]

    def _posted(self, space: Space, value: Any, caller: Caller) -> str | GraphmemError:  # noqa: ANN401 - any JSON
        try:
            done = self.keeper.post(_request(value, space), caller=caller)
        except StoreUnavailable:
            raise
        except GraphmemError as error:
            return error
        return "relations" if done.answer.is_changed else "unchanged"


def _line(relation: Relation) -> dict[str, Any]:
    return {
        "uid": relation.uid,
        "from": relation.start.key,
        "from_label": relation.start.label,
        "to": relation.end.key,
        "to_label": relation.end.label,
        "label": relation.label,
        "weight": relation.weight,
        "since": iso(relation.since),
        "until": iso(relation.until),
        "created_at": iso(relation.created_at),
        "memories": list(relation.memories),
        "by_hand": relation.by_hand,
    }


def _request(value: Any, space: Space) -> RelationRequest:  # noqa: ANN401 - any JSON
    values = checked(_RelationLine(), "relation", value)
    check_uid("relation.uid", values["uid"], "a relation")
    labels = values.pop("from_label"), values.pop("to_label")
    memories = tuple(values.pop("memories"))
    return RelationRequest(space=space, memories=memories, labels=labels, **values)
