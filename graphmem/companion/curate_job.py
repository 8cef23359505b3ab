"""Curate job: all users of whom the room keeps something are looked after (001, Curator)."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from graphmem.companion.curator import CompanionCurator, Terms
from graphmem.errors import GraphmemError, StoreUnavailable
from graphmem.model.caller import caller_of_job
from graphmem.model.job import Run
from graphmem.model.space import Space, SpaceKind, space_from_key

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class CurateJob:
    """Looks after users, some at once."""

    curator: CompanionCurator

    def run(self, run: Run) -> None:
        """One pass: every user, or the one whose space is named, alone or with one persona."""
        run.counts.update({"archived": 0, "folded": 0, "users": 0, "failed": 0})
        for user, personas in self._users(run):
            if run.must_stop():
                return
            self._curate(user, personas, run)

    def _users(self, run: Run) -> Iterator[tuple[Space, Sequence[Space]]]:
        """The users, each with the personas that know him."""
        if not run.space:
            users = self.curator.curating.users()
            while some := list(islice(users, self.curator.policies.base.companion.curate.users)):
                yield from self._with_personas(some)
            return
        space = space_from_key(run.space)
        if space.kind is not SpaceKind.USER:
            return
        if space.persona:
            yield space.without_persona, [space]
        else:
            yield from self._with_personas([space])

    def _with_personas(self, users: Iterable[Space]) -> Iterator[tuple[Space, Sequence[Space]]]:
        users = list(users)
        personas: dict[Space, list[Space]] = defaultdict(list)
        for each in self.curator.curating.personas(users):
            personas[each.without_persona].append(each)
        yield from ((user, personas[user]) for user in users)

    def _curate(self, user: Space, personas: Sequence[Space], run: Run) -> None:
        terms = Terms(
            caller=caller_of_job(run.job, user),
            by_job=True,
            forced=run.by_hand,
            dry_run=run.dry_run,
        )
        try:
            done = self.curator.run(user, personas, terms)
        except StoreUnavailable:
            raise
        except Exception as error:
            log.exception("what is kept of %s was not curated", user.key)
            run.counts["failed"] += 1
            code = error.code if isinstance(error, GraphmemError) else type(error).__name__
            run.note_degraded(f"{user.key}: {code}")
            return
        if done:
            run.counts.update({"archived": done.archived, "folded": done.folded, "users": 1})
            run.spaces |= {user.key} if done.archived else set()
