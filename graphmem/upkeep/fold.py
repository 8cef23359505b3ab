"""Fold (001, Curator): facts of one entity become one memory. Nothing is deleted."""

from collections.abc import Callable, Iterable, Sequence

from graphmem.gateway.rollups import fold_text
from graphmem.model.edge import LineageType
from graphmem.model.entity import EntityRef
from graphmem.model.event import Effect, Reason
from graphmem.model.policy import CuratePolicy, WritePolicy
from graphmem.model.upkeep_rows import Foldable
from graphmem.upkeep.rollup import Rollup

PEOPLE_TYPES = frozenset({"person", "org"})  # entities whose facts are PEOPLE in 001
PROJECT_TYPES = frozenset({"project"})  # folded only where an extractor put the facts into words
_WRITE = WritePolicy()


def plan_folds(
    found: Iterable[tuple[EntityRef, Sequence[Foldable]]],
    policy: CuratePolicy,
    *,
    new_uid: Callable[[], str],
) -> list[Rollup]:
    """What to fold in one space.

    ``found`` are entities in order, each with its facts, oldest first.

    A fact goes into one fold. One fold says all that its members say, so it takes only as many as
    it can hold; the rest waits for the next one.
    """
    folds: list[Rollup] = []
    used: set[str] = set()
    for entity, facts in found:
        free = [fact for fact in facts if fact.key not in used]
        while len(free) >= policy.fold_members and len(folds) < policy.folds:
            members = _fitting(entity, free[: max(policy.fold_contents, policy.fold_members)])
            if len(members) < policy.fold_members:
                break
            folds.append(
                Rollup(
                    uid=new_uid(),
                    content=fold_text(entity.label or "", (member.content for member in members)),
                    members=members,
                    lineage=LineageType.FOLDED_FROM,
                    effect=Effect.FOLDED,
                    reason=Reason.FOLD,
                    importance=policy.fold_importance,
                )
            )
            used |= {member.key for member in members}
            free = [fact for fact in free if fact.key not in used]
    return folds


def _fitting(entity: EntityRef, facts: Sequence[Foldable]) -> tuple[Foldable, ...]:
    """The first facts that fit into the content of one memory."""
    room = _WRITE.content_max_chars - len(entity.label or "") - 2
    taken: list[Foldable] = []
    for fact in facts:
        room -= len(fact.content) + 3
        if room < 0:
            break
        taken.append(fact)
    return tuple(taken)
