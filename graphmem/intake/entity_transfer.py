"""Entity transfer: declared entities as lines of an export, and such lines into a space."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.errors import GraphmemError, StoreUnavailable
from graphmem.gateway.declaring import EntityRegister
from graphmem.intake.jsonl_format import declared_entity, exported_entity
from graphmem.model.caller import Caller
from graphmem.model.space import Space
from graphmem.model.writing import Outcome
from graphmem.store.entities import Entities


@dataclass(frozen=True, kw_only=True)
class EntityTransfer:
    """The declared entities of an owner, by key.

    They come before memories, whose mentions would make them under other labels.
    """

    entities: Entities
    register: EntityRegister
    kind: str = "entity"

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The entities that are declared in a space; a persona has none of its own."""
        if space.persona is None:
            yield from map(exported_entity, self.entities.declared(space))

    def write(
        self, space: Space, values: Sequence[Any], *, caller: Caller
    ) -> Iterable[str | GraphmemError]:
        """Declare entities under their keys."""
        return [self._written(space, value, caller) for value in values]

    def _written(self, space: Space, value: Any, caller: Caller) -> str | GraphmemError:  # noqa: ANN401 - any JSON
        try:
            ref, request = declared_entity(value)
            done = self.register.restore(space, ref, request, caller=caller)
        except StoreUnavailable:
            raise
        except GraphmemError as error:
            return error
        is_same = done.answer.outcome is Outcome.UNCHANGED
        return Outcome.UNCHANGED.value if is_same else "entities"
