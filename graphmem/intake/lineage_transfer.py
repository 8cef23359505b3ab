"""Transfer: lineage as lines of an export, and back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from marshmallow import fields

from graphmem.errors import InvalidInput
from graphmem.gateway.validation import is_uid
from graphmem.gateway.workbench import Workbench
from graphmem.intake.jsonl_format import Line, Moment, checked
from graphmem.intake.record_transfer import Loaded, RecordTransfer, TakeInRecords
from graphmem.model.edge import LineageType
from graphmem.model.memory import memory_key
from graphmem.model.space import Space, parse_writable_space, space_from_key
from graphmem.model.trace import TraceKind
from graphmem.store.connection import Connection
from graphmem.store.lineage import Descent, descents_of, take_in_descents
from graphmem.text.times import iso

_ACROSS = (LineageType.FOLDED_FROM, LineageType.PROMOTED_FROM)  # may lead to another space


class LineageLine(Line):
    """That a memory was made from another one; both spaces are named where they differ."""

    made = fields.String(required=True, data_key="from")
    made_in = fields.String(allow_none=True, load_default=None, data_key="from_space")
    type = fields.Enum(LineageType, by_value=True, required=True)
    origin = fields.String(required=True, data_key="to")
    origin_in = fields.String(allow_none=True, load_default=None, data_key="to_space")
    created_at = Moment(allow_none=True, load_default=None)


class TakeInLineage(TakeInRecords):
    """Draw lineage that another store kept."""

    kind = TraceKind.EDGE


@dataclass(frozen=True, kw_only=True)
class LineageTransfer(RecordTransfer):
    """What the memories of a space were made from, as far as both ends are here.

    Where it leads from one space to another, the exports of both carry it, so the later import
    draws it. Imported under the name of another space it is left out: the memory at its other end
    has nothing to do with that one.
    """

    connection: Connection
    kind: ClassVar[str] = "lineage"
    plural: ClassVar[str] = "lineage"
    operation: ClassVar[type[TakeInRecords]] = TakeInLineage

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The lineage of a space."""
        for descent in descents_of(self.connection, space):
            made, origin = (_end(key) for key in (descent.made, descent.origin))
            is_inside = made[0] == origin[0]
            yield {
                "from": made[1],
                **({} if is_inside else {"from_space": made[0], "to_space": origin[0]}),
                "type": descent.type.value,
                "to": origin[1],
                "created_at": iso(descent.created_at),
            }

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """The descent of a line.

        Raises:
            InvalidInput: something is wrong with it.
        """
        values = checked(LineageLine(), self.kind, value)
        made_in = self._space(values["made_in"], space, "from_space")
        origin_in = self._space(values["origin_in"], space, "to_space")
        for name, uid in (("from", values["made"]), ("to", values["origin"])):
            if not is_uid(uid):
                raise InvalidInput({f"{self.kind}.{name}": ["Must be the uid of a memory."]})
        if (made_in, values["made"]) == (origin_in, values["origin"]):
            raise InvalidInput({f"{self.kind}.to": ["No memory was made from itself."]})
        if made_in != origin_in and values["type"] not in _ACROSS:
            problem = f"Only {' and '.join(_ACROSS)} lead to another space."
            raise InvalidInput({f"{self.kind}.type": [problem]})
        descent = Descent(
            made=memory_key(made_in, values["made"]),
            type=values["type"],
            origin=memory_key(origin_in, values["origin"]),
            created_at=values["created_at"],
        )
        ends = {made_in, origin_in}
        is_ours = space in ends
        return Loaded(
            key=descent.uid,
            record=(descent, is_ours),
            more_spaces=sorted(ends) if is_ours else (),
        )

    def _space(self, name: str | None, space: Space, field: str) -> Space:
        if name is None:
            return space
        try:
            return parse_writable_space(name, tenant=space.tenant)
        except ValueError as error:
            raise InvalidInput({f"{self.kind}.{field}": [str(error)]}) from error

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Draw what is not here."""
        left_out = {descent.uid: None for descent, is_ours in records if not is_ours}
        ours = [descent for descent, is_ours in records if is_ours]
        return left_out | dict(take_in_descents(transaction, ours, transaction.now))


def _end(key: str) -> tuple[str, str]:
    """The name of the space of a memory, and its uid."""
    space, _, uid = key.partition("|")
    return space_from_key(space).name, uid
