"""Integrity: whether the graph agrees with itself.

What does not is reported, and mended when asked to.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from functools import partial

from graphmem.gateway.claims import claims_of, own_claims
from graphmem.gateway.conversation import has_in_context
from graphmem.gateway.draft import Draft
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.job_step import JobStep
from graphmem.gateway.rollups import keep_to_what_is_left, states
from graphmem.gateway.tracing import effect
from graphmem.model.entity import EntityRef, label_from_key
from graphmem.model.event import Effect, Event
from graphmem.model.job import Run
from graphmem.model.memory import Memory, Status
from graphmem.model.state import Decision, GraphState, Selection
from graphmem.model.tokens import memory_tokens
from graphmem.model.upkeep_rows import InspectedMemory
from graphmem.ports import Clock
from graphmem.store.inspection import Inspection
from graphmem.upkeep.repairs import RemoveLeftovers

BATCH = 500
_OF_THE_WHOLE = (
    "claims_without_memory",
    "edges_across_spaces",
    "edges_of_one_uid",
    "values_at_one_instant",
)


class Finding(StrEnum):
    """What can be wrong with a memory."""

    WITHOUT_CLAIM = "memories_without_claim"  # nothing would stop the same from being stored again
    WITHOUT_SUCCESSOR = "superseded_without_update"  # nothing says what took its place
    STALE_COPIES = "stale_copies"  # what indexes and mentions repeat of it disagrees with it
    WITHOUT_VECTORS = (
        "embedded_without_vectors"  # it counts as embedded and cannot be found by meaning
    )
    MENTIONS_MERGED = "mentions_of_merged"  # it is found under neither name
    STALE_CONTEXT = "stale_contexts"  # it is found by words that are no longer active
    STALE_ROLLUP = "stale_rollups"  # it states what a member no longer says


def findings(
    inspected: InspectedMemory, unclaimed: frozenset[str], now: datetime
) -> frozenset[Finding]:
    """What is wrong with a memory. ``unclaimed`` are claims that nobody holds."""
    memory = inspected.memory
    found = set()
    claims_something = memory.is_current(now) and not memory.is_over(now)
    if claims_something and unclaimed & set(own_claims(memory)):
        found.add(Finding.WITHOUT_CLAIM)
    is_succeeded = memory.status is Status.SUPERSEDED and memory.kept_by is None
    if is_succeeded and not inspected.has_successor:
        found.add(Finding.WITHOUT_SUCCESSOR)
    if inspected.has_stale_copies or set(inspected.tokens.split()) != set(
        memory_tokens(memory).split()
    ):
        found.add(Finding.STALE_COPIES)
    if memory.embedded and not inspected.has_vectors:
        found.add(Finding.WITHOUT_VECTORS)
    if inspected.mentions_merged:
        found.add(Finding.MENTIONS_MERGED)
    if any(has_in_context(memory, *turn) for turn in inspected.quiet_turns):
        found.add(Finding.STALE_CONTEXT)
    if any(states(memory, content) for _, content in inspected.gone_members):
        found.add(Finding.STALE_ROLLUP)
    return frozenset(found)


def decide_repair(
    state: GraphState,
    *,
    found: Mapping[str, frozenset[Finding]],
    versions: Mapping[str, int],
    now: datetime,
) -> Decision:
    """Mend what was found wrong with memories, unless they changed since.

    Nothing comes back that was quiet; pinned ones keep their status.
    """
    draft = Draft(before=state, now=now)
    events: list[Event] = []
    for key, wrong in sorted(found.items()):
        memory = draft.memories.get(key)
        if memory and memory.version == versions.get(key):
            events += [
                effect(memory, Effect.REPAIRED, finding)
                for finding in _repair(draft, memory, wrong)
            ]
    return draft.decision(events=events)


def _repair(draft: Draft, memory: Memory, wrong: frozenset[Finding]) -> list[Finding]:
    done = sorted(wrong)
    if Finding.WITHOUT_CLAIM in wrong:
        draft.take_claims(memory, also_from=None)
    if Finding.STALE_COPIES in wrong:
        draft.rewrite(memory)
    if Finding.WITHOUT_VECTORS in wrong:
        draft.put(replace(memory, embedded=False))
    if Finding.STALE_CONTEXT in wrong:
        draft.stale_contexts.add(memory.key)
    if Finding.MENTIONS_MERGED in wrong:
        draft.put(_mentioning_what_stands(draft, draft.memories[memory.key]))
    if Finding.STALE_ROLLUP in wrong:
        keep_to_what_is_left(draft, draft.memories[memory.key])
    if Finding.WITHOUT_SUCCESSOR in wrong:
        if memory.pinned:
            done.remove(Finding.WITHOUT_SUCCESSOR)
        else:
            draft.set_status(draft.memories[memory.key], Status.ARCHIVED, Finding.WITHOUT_SUCCESSOR)
    return done


def _mentioning_what_stands(draft: Draft, memory: Memory) -> Memory:
    """A memory that mentions, instead of merged entities, what these became."""
    owner = memory.space.without_persona.key
    keys = {ref.key: draft.before.became.get(f"{owner}|{ref.key}") for ref in memory.entities}
    standing = {ref.key: ref for ref in memory.entities if keys[ref.key] is None}
    for key in filter(None, keys.values()):
        standing.setdefault(key, EntityRef(key=key, label=label_from_key(key)))
    return replace(memory, entities=tuple(sorted(standing.values())), version=memory.version + 1)


class Integrity:
    """Inspects every memory, and what has lost its memory."""

    def __init__(self, inspection: Inspection, *, gateway: Gateway, clock: Clock) -> None:
        self._inspection = inspection
        self._gateway = gateway
        self._clock = clock

    def run(self, run: Run) -> None:
        """One pass: counts what was found, with examples; with ``repair`` it is mended."""
        run.counts.update(dict.fromkeys((*Finding, *_OF_THE_WHOLE), 0))
        run.counts["inspected"] = 0
        self._leftovers(run)
        now = self._clock.now()
        after = ""
        while not run.must_stop():
            page = self._inspection.page(run.space, after=after, limit=BATCH)
            if not page:
                return
            after = page[-1].memory.key
            self._page(page, run, now)

    def _page(self, page: Sequence[InspectedMemory], run: Run, now: datetime) -> None:
        current = [each.memory for each in page if each.memory.is_current(now)]
        unclaimed = self._inspection.unclaimed(claims_of(current))
        found = {
            each.memory.key: wrong for each in page if (wrong := findings(each, unclaimed, now))
        }
        run.counts["inspected"] += len(page)
        run.counts.update(Counter(finding.value for wrong in found.values() for finding in wrong))
        for key, wrong in found.items():
            for finding in wrong:
                run.note_example(finding, key)
        if found and run.repair:
            versions = {each.memory.key: each.memory.version for each in page}
            claims = claims_of(
                each.memory
                for each in page
                if Finding.WITHOUT_CLAIM in found.get(each.memory.key, ())
            )
            members = {key for each in page for key, _ in each.gone_members}
            entities = {
                f"{each.memory.space.without_persona.key}|{ref.key}"
                for each in page
                if each.mentions_merged
                for ref in each.memory.entities
            }
            self._gateway.execute(
                JobStep(
                    selected=Selection(
                        memories=frozenset(found) | members,
                        claims=claims,
                        entities=frozenset(entities),
                    ),
                    decider=partial(decide_repair, found=found, versions=versions, now=now),
                ),
                run,
            )

    def _leftovers(self, run: Run) -> None:
        """What no single memory can be blamed for; two values at one instant are only named."""
        found = self._inspection.leftovers(run.space)
        edges, shared = ([each.key for each in kind] for kind in (found.edges, found.shared_uids))
        named = (found.claims, edges, shared, found.colliding)
        for name, keys in zip(_OF_THE_WHOLE, named, strict=True):
            run.counts[name] = len(keys)
            for key in keys:
                run.note_example(name, key)
        if run.repair:
            removed = self._gateway.execute(RemoveLeftovers(space=run.space), run).answer
            run.counts["repaired"] += len(removed.claims)
