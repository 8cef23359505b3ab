"""Record transfer: what kinds of lines have in common that hold the records of a room."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from graphmem.errors import GraphmemError, InvalidInput, StoreUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.validation import is_uid, json_problem
from graphmem.gateway.workbench import Workbench
from graphmem.model.caller import Caller
from graphmem.model.space import Space

UNCHANGED = "unchanged"  # else what was added, as lines of an import are counted
LEFT_OUT = "left_out"  # it belongs to what is not here
_DEPTH = 20  # of a line
_LINE_MAX_BYTES = 32_000_000
TakeIn = Callable[[Workbench, Sequence[Any]], Mapping[str, bool | None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """What a line holds: a record, its key, and what it puts into words.

    ``more_spaces`` are those that it changes beside its own.
    """

    key: str
    record: Any
    texts: Sequence[str] = ()
    more_spaces: Sequence[Space] = ()


@dataclass(frozen=True, kw_only=True)
class TakeInRecords(Operation[None, Mapping[str, bool | None]]):
    """Write records of one kind that another store kept; those that are here stay as they are.

    The kinds of a room say what traces of theirs are of. The answer is filled in as the records are
    written: by key whether each is new; None where it belongs to what is not here.
    """

    space: Space
    loaded: Sequence[Loaded]
    take_in: TakeIn
    found: dict[str, bool | None] = field(default_factory=dict)

    @property
    def spaces(self) -> Sequence[Space]:
        """The space of the records, and others that some of them change."""
        more = (space for each in self.loaded for space in each.more_spaces)
        return tuple(dict.fromkeys((self.space, *more)))

    @property
    def texts(self) -> Sequence[str]:
        """What they put into words."""
        return [text for each in self.loaded for text in each.texts]

    def read(self, transaction: Workbench) -> None:
        """Nothing: what is here is looked at as they are written."""

    def decide(self, state: None, now: datetime) -> Decided[Mapping[str, bool | None]]:  # noqa: ARG002
        """Write all of them."""
        return Decided(answer=self.found)

    def apply(self, transaction: Workbench, decided: Decided[Mapping[str, bool | None]]) -> None:  # noqa: ARG002
        """Write those that are not here."""
        self.found.clear()
        self.found.update(self.take_in(transaction, [each.record for each in self.loaded]))


@dataclass(frozen=True, kw_only=True)
class RecordTransfer(ABC):
    """One kind of line that holds records; ``plural`` counts those that are new."""

    gateway: Gateway
    kind: ClassVar[str]
    plural: ClassVar[str]
    operation: ClassVar[type[TakeInRecords]]

    @abstractmethod
    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """What a line holds.

        Raises:
            InvalidInput: something is wrong with it.
        """

    @abstractmethod
    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool | None]:
        """Write records that are not here; by key whether each is new.

        None where it belongs to what is not here, so that it was left out.
        """

    def write(
        self, space: Space, values: Sequence[Any], *, caller: Caller
    ) -> Iterable[str | GraphmemError]:
        """Write what is not here."""
        found = [self._one(value, space) for value in values]
        outcomes = self._written(
            space, [each for each in found if isinstance(each, Loaded)], caller
        )
        return [
            outcomes.get(each.key, UNCHANGED) if isinstance(each, Loaded) else each
            for each in found
        ]

    def _one(self, value: Any, space: Space) -> Loaded | InvalidInput:  # noqa: ANN401 - any JSON
        """What a line holds, or what is wrong with it."""
        if problem := json_problem(value, depth=_DEPTH, most_bytes=_LINE_MAX_BYTES):
            return InvalidInput({self.kind: [problem]})
        try:
            return self.loaded(value, space)
        except InvalidInput as error:
            return error

    def _written(
        self, space: Space, good: Sequence[Loaded], caller: Caller
    ) -> dict[str, str | GraphmemError]:
        """What became of records, by key: all at once, or where one is refused, each alone."""
        if not good:
            return {}
        operation = self.operation(space=space, loaded=good, take_in=self.take_in)
        try:
            answer = self.gateway.execute(operation, caller).answer
        except StoreUnavailable:
            raise
        except GraphmemError as error:
            if len(good) == 1:
                return {good[0].key: error}
            each = (self._written(space, [one], caller) for one in good)
            return {key: outcome for found in each for key, outcome in found.items()}
        return {key: self._outcome(is_new) for key, is_new in answer.items()}

    def _outcome(self, is_new: bool | None) -> str:  # noqa: FBT001 - one of three
        if is_new is None:
            return LEFT_OUT
        return self.plural if is_new else UNCHANGED


def check_uid(field: str, uid: str, what: str) -> None:
    """Refuse what cannot be the uid of something, by the field of its line.

    Raises:
        InvalidInput: it cannot.
    """
    if not is_uid(uid):
        raise InvalidInput({field: [f"Must be the uid of {what}."]})
