"""Relations of entities, as far as some spaces tell of them; also some steps from one entity."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
STEP_MAX = 1_000  # relations that a step leads over, where several are asked for


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationQuestion:
    """Which relations are asked for: all of some spaces, or those around one entity.

    ``ended`` shows those too that do not hold.
    """

    spaces: Sequence[Space]
    entity: str | None = None
    label: str = ""
    direction: Direction = Direction.BOTH
    depth: int = 1
    as_of: datetime | None = None
    known_at: datetime | None = None
    ended: bool = False


@dataclass(frozen=True, kw_only=True)
class RelationReader:
    """Reads relations that are seen in some spaces."""

    relations: Relations
    recall: Recall
    clock: Clock

    def page(
        self, question: RelationQuestion, after: Cursor | None = None, *, limit: int
    ) -> Page[Relation]:
        """One page of relations; around an entity with a depth the nearest first.

        A cursor is the key of a relation, and before it the step that led to it.

        Raises:
            InvalidInput: the entity is no key, or what counts around one is asked for without.
        """
        step, *key = after or (1, "")
        if question.entity is None:
            _check_entity_is_named(question)
            return _with_step(self.relations.page(self._holding(question), tuple(key), limit=limit))
        (meant,) = self.recall.entities_meant([question.entity], question.spaces, field="entity")
        if question.depth == 1:
            page = self.relations.page_around(
                meant, self._holding(question), question.direction, tuple(key), limit=limit
            )
            return _with_step(page)
        nearest = self._nearest_first(question, meant)
        behind = [(number, each) for number, each in nearest if (number, each.key) > (step, key[0])]
        shown = behind[:limit]
        return Page(
            items=tuple(each for _, each in shown),
            total=len(nearest),
            next=(shown[-1][0], shown[-1][1].key) if len(behind) > limit else None,
        )

    def of_entities(
        self,
        entities: Sequence[str],
        spaces: Sequence[Space],
        *,
        limit: int,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> list[Relation]:
        """The first relations of some entities, by their keys, each of which names an owner."""
        if not entities:
            return []
        question = RelationQuestion(spaces=spaces, as_of=as_of, known_at=known_at)
        holding = self._holding(question)
        return self.relations.around(sorted(entities), holding, Direction.BOTH, limit=limit)

    def _nearest_first(
        self, question: RelationQuestion, entities: Sequence[str]
    ) -> list[tuple[int, Relation]]:
        """The relations within some steps of entities, each with its step, by their keys."""
        around = _Around(frontier=set(entities))
        for step in range(1, question.depth + 1):
            if not around.frontier:
                break
            found = self.relations.around(
                sorted(around.frontier),
                self._holding(question),
                question.direction,
                limit=STEP_MAX,
            )
            around.go_on(step, found, question.direction)
        return list(around.found.values())

    def _holding(self, question: RelationQuestion) -> Holding:
        now = self.clock.now()
        # what held when it was known may be superseded since
        then = question.as_of or question.known_at
        return Holding(
            spaces=sorted({space.key for space in question.spaces}),
            statuses=[status.value for status in current_or_as_of(then)],
            at=then or now,
            now_ms=epoch_ms(now),
            label=question.label,
            recorded_by=question.known_at,
            every=question.ended,
        )


def _check_entity_is_named(question: RelationQuestion) -> None:
    problem = ["Only around an entity."]
    wrong = {"depth": problem} if question.depth > 1 else {}
    wrong |= {"direction": problem} if question.direction is not Direction.BOTH else {}
    if wrong:
        raise InvalidInput(wrong)


def _with_step(page: Page[Relation]) -> Page[Relation]:
    return replace(page, next=(1, *page.next) if page.next else None)


@dataclass(kw_only=True)
class _Around:
    """The relations that were found on the way, and the entities that the next step starts from."""

    frontier: set[str]
    seen: set[str] = field(default_factory=set)
    found: dict[str, tuple[int, Relation]] = field(default_factory=dict)

    def go_on(self, step: int, relations: Sequence[Relation], direction: Direction) -> None:
        """Take a step."""
        self.seen |= self.frontier
        reached: set[str] = set()
        for relation in relations:
            self.found.setdefault(relation.key, (step, relation))
            ends = {
                Direction.OUT: (relation.end,),
                Direction.IN: (relation.start,),
                Direction.BOTH: (relation.start, relation.end),
            }[direction]
            owner = relation.space.without_persona.key
            reached |= {f"{owner}|{ref.key}" for ref in ends}
        self.frontier = reached - self.seen
