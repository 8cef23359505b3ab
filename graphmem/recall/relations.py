"""Relations of entities, as far as some spaces tell of them; also some steps from one entity."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graphmem.errors import InvalidInput
from graphmem.model.page import Cursor, Page
from graphmem.model.relation import Direction, Relation
from graphmem.model.space import Space
from graphmem.model.tokens import epoch_ms
from graphmem.ports import Clock
from graphmem.recall.recall import Recall
from graphmem.recall.search_builder import current_or_as_of
from graphmem.store.relations import Holding, Relations

STEPS_MAX = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationQuestion:
    """Which relations are asked for: all of some spaces, or those around one entity."""

    spaces: Sequence[Space]
    entity: str | None = None
    label: str = ""
    direction: Direction = Direction.BOTH
    depth: int = 1
    as_of: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class RelationReader:
    """Reads relations that are seen in some spaces."""

    relations: Relations
    recall: Recall
    clock: Clock

    def page(
        self, question: RelationQuestion, after: Cursor | None = None, *, limit: int
    ) -> Page[Relation]:
        """One page of relations: oldest first, around an entity the nearest first.

        Raises:
            InvalidInput: the entity is no key, or a depth is asked for without one.
        """
        if question.entity is None:
            if question.depth > 1:
                raise InvalidInput({"depth": ["Only around an entity."]})
            owners = sorted({space.without_persona.key for space in question.spaces})
            return self.relations.page(owners, self._holding(question), after, limit=limit)
        found = self._nearest_first(question, question.entity)
        start = int(after[0]) if after else 0
        end = start + limit
        return Page(
            items=tuple(found[start:end]),
            total=len(found),
            next=(end,) if end < len(found) else None,
        )

    def of_entities(
        self, keys: Sequence[str], spaces: Sequence[Space], *, as_of: datetime | None = None
    ) -> list[Relation]:
        """The relations of some entities, by their keys within an owner."""
        owners = sorted({space.without_persona.key for space in spaces})
        entities = sorted(f"{owner}|{key}" for owner in owners for key in set(keys))
        if not entities:
            return []
        question = RelationQuestion(spaces=spaces, as_of=as_of)
        return self.relations.around(entities, self._holding(question), Direction.BOTH)

    def _nearest_first(self, question: RelationQuestion, entity: str) -> list[Relation]:
        """The relations within some steps of an entity, each step oldest first."""
        (meant,) = self.recall.entities_meant([entity], question.spaces, field="entity")
        around = _Around(frontier=set(meant))
        for _ in range(question.depth):
            if not around.frontier:
                break
            found = self.relations.around(
                sorted(around.frontier), self._holding(question), question.direction
            )
            around.go_on(found, question.direction)
        return list(around.found.values())

    def _holding(self, question: RelationQuestion) -> Holding:
        now = self.clock.now()
        return Holding(
            spaces=sorted({space.key for space in question.spaces}),
            statuses=current_or_as_of(question.as_of),
            at=question.as_of or now,
            now_ms=epoch_ms(now),
            label=question.label,
        )


@dataclass(kw_only=True)
class _Around:
    """The relations that were found on the way, and the entities that the next step starts from."""

    frontier: set[str]
    seen: set[str] = field(default_factory=set)
    found: dict[str, Relation] = field(default_factory=dict)

    def go_on(self, relations: Sequence[Relation], direction: Direction) -> None:
        """Take a step."""
        self.seen |= self.frontier
        reached: set[str] = set()
        for relation in relations:
            self.found.setdefault(f"{relation.space}|{relation.uid}", relation)
            ends = {
                Direction.OUT: (relation.end,),
                Direction.IN: (relation.start,),
                Direction.BOTH: (relation.start, relation.end),
            }[direction]
            reached |= {f"{relation.space}|{ref.key}" for ref in ends}
        self.frontier = reached - self.seen
