"""Entity transfer: declared entities as lines of an export, and such lines into a space."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.errors import GraphmemError, StoreUnavailable
from graphmem.gateway.declaring import Declaration, Declared, EntityRegister
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
        """Declare entities under their keys: all at once, or where one is wrong, each alone."""
        read = [_read(value) for value in values]
        try:
            sound = [each for each in read if isinstance(each, Declaration)]
            outcomes = iter(self._outcomes(space, sound, caller))
        except StoreUnavailable:
            raise
        except GraphmemError:
            return [self._alone(space, each, caller) for each in read]
        return [next(outcomes) if isinstance(each, Declaration) else each for each in read]

    def _alone(
        self, space: Space, declaration: Declaration | GraphmemError, caller: Caller
    ) -> str | GraphmemError:
        if isinstance(declaration, GraphmemError):
            return declaration
        try:
            (outcome,) = self._outcomes(space, [declaration], caller)
        except StoreUnavailable:
            raise
        except GraphmemError as error:
            return error
        return outcome

    def _outcomes(
        self, space: Space, declarations: Sequence[Declaration], caller: Caller
    ) -> list[str]:
        done = self.register.restore(space, declarations, caller=caller)
        return [_outcome(each) for each in done.answer]


def _read(value: Any) -> Declaration | GraphmemError:  # noqa: ANN401 - any JSON
    try:
        return declared_entity(value)
    except GraphmemError as error:
        return error


def _outcome(declared: Declared) -> str:
    is_same = declared.outcome is Outcome.UNCHANGED
    return Outcome.UNCHANGED.value if is_same else "entities"
