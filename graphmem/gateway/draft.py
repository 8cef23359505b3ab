"""The working copy that a decider builds its decision in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from graphmem.errors import Conflict
from graphmem.gateway import copies, rollups
from graphmem.gateway.claims import (
    content_claims,
    every_claim,
    logical_claim,
    source_claim,
    untimed,
)
from graphmem.gateway.conversation import Chain, conversation_key, with_built_context
from graphmem.gateway.turns import TurnDraft
from graphmem.model.edge import Edge, EdgeType, LineageType, edge_uid
from graphmem.model.event import Event, Reason
from graphmem.model.memory import Memory, Revision, Status, says_the_same
from graphmem.model.policy import IndexPolicy
from graphmem.model.source import Source
from graphmem.model.state import (
    Decision,
    EdgeEnds,
    EdgePlace,
    GraphState,
    SourcePlace,
    edge_claim,
)
from graphmem.model.writing import WriteResult

if TYPE_CHECKING:
    from graphmem.gateway.item import Item

_CONTEXT_STEPS = (-1, 0, 1, 2)  # the turns whose context speaks of a turn


@dataclass(kw_only=True)
class Draft:
    """The selected part of the graph as it changes.

    Earlier versions and ended claims are noted on the way.
    """

    before: GraphState
    now: datetime
    context_words: int = IndexPolicy().context_words
    memories: dict[str, Memory] = field(init=False)
    claims: dict[str, str] = field(init=False)
    chain: Chain = field(init=False)
    turns: TurnDraft = field(init=False)
    created: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)  # keys of proposed uids that were taken
    changed: set[str] = field(default_factory=set)
    rewritten: set[str] = field(default_factory=set)  # of these: more changed than a count
    revisions: list[Revision] = field(default_factory=list)
    edges: dict[EdgePlace, Edge] = field(default_factory=dict)
    unnamed_edges: set[EdgePlace] = field(default_factory=set)  # drawn without a uid
    # the edges again, by what they join and by the claim of their uid
    edges_at: dict[EdgeEnds, dict[str, Edge]] = field(default_factory=dict)
    ends_of: dict[str, EdgeEnds] = field(default_factory=dict)
    removed_edges: list[EdgePlace] = field(default_factory=list)
    new_claims: dict[str, str] = field(default_factory=dict)
    released: set[str] = field(default_factory=set)
    digests: dict[str, str] = field(default_factory=dict)  # of claimed sources
    # further sources of memories by their names; None takes one away
    sources: dict[SourcePlace, Source | None] = field(default_factory=dict)
    sourced: set[str] = field(default_factory=set)
    absorbed: list[tuple[str, str]] = field(default_factory=list)
    left_turns: dict[str, str] = field(default_factory=dict)  # each with the turn before it
    vectors_of: dict[str, int] = field(default_factory=dict)
    stale_contexts: set[str] = field(default_factory=set)
    forgotten_claims: set[tuple[str, str]] = field(default_factory=set)
    # memory → what updates it since, each with the call that it belongs to
    updaters: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    values: dict[str, set[str]] = field(default_factory=dict)  # claim of a logical key → memories
    said: dict[str, list[str]] = field(default_factory=dict)  # content claim → memories of any time

    def __post_init__(self) -> None:
        """Begin with what was selected."""
        self.memories = dict(self.before.memories)
        self.claims = dict(self.before.claims)
        for memory in self.before.memories.values():
            self._note_value(memory)
        self.said = {claim: list(keys) for claim, keys in self.before.said.items()}
        self.chain = Chain(
            before=dict(self.before.previous_turns),
            after={earlier: later for later, earlier in self.before.previous_turns.items()},
            last=dict(self.before.last_turns),
        )
        self.turns = TurnDraft(
            now=self.now,
            conversations=dict(self.before.conversations),
            messages=dict(self.before.messages),
            known=dict(self.before.said_turns),
        )

    def create(
        self, memory: Memory, *, behind: str | None = None, instead_of: Memory | None = None
    ) -> None:
        """Add a memory: its claims where they are free, its place in its conversation."""
        self.created.add(memory.key)
        self.memories[memory.key] = memory
        self._note_value(memory)
        if memory.status is Status.ACTIVE:
            self._take(every_claim(memory), memory, instead_of)
        self.join_conversation(memory, behind)

    def free_uid(self, item: "Item") -> str:
        """The uid that an item proposes for its memory, or another one where that is taken."""
        key = item.key_of(item.new_uid)
        if key not in self.memories:
            return item.new_uid
        self.renamed[key] = item.key_of(item.spare_uid)
        return item.spare_uid

    def named(self, key: str) -> Memory | None:
        """The memory that is called so, also where it had to be called otherwise."""
        return self.memories.get(self.renamed.get(key, key))

    def put(self, memory: Memory) -> None:
        """Replace a memory; what it said before becomes a revision."""
        previous = self.memories[memory.key]
        if not says_the_same(previous, memory):
            # no version ends before it began, whatever another clock says
            ends = max(self.now, previous.updated_at)
            self.revisions.append(Revision(memory=previous, replaced_at=ends))
        if memory.key not in self.created:
            self.changed.add(memory.key)
            if not _is_count(previous, memory):
                self.rewritten.add(memory.key)
        self.memories[memory.key] = memory
        self._note_value(memory)

    def _note_value(self, memory: Memory) -> None:
        if memory.logical_key:
            claim = logical_claim(memory.space, memory.logical_key, memory.kept_by)
            self.values.setdefault(claim, set()).add(memory.key)

    def values_of(self, claim: str) -> list[Memory]:
        """The values of a logical key around what is decided; those taken back are none."""
        found = (self.memories.get(key) for key in sorted(self.values.get(claim, ())))
        kept = {Status.ACTIVE, Status.SUPERSEDED}
        return [memory for memory in found if memory and memory.status in kept]

    def rewrite(self, memory: Memory) -> None:
        """Write a memory as it is, with all that repeats it."""
        self.changed.add(memory.key)
        self.rewritten.add(memory.key)

    def set_status(self, memory: Memory, status: Status, reason: str | None) -> Memory:
        """Give a memory a status; one that is not active claims nothing.

        What is superseded ends now, if it has not ended before.
        """
        changed = replace(memory, status=status, status_reason=reason, status_at=self.now)
        if status is Status.SUPERSEDED and not changed.is_over(self.now):
            changed = replace(changed, valid_until=max(changed.began, self.now))
        changed = replace(changed, updated_at=self.now, version=memory.version + 1)
        self.put(changed)
        self.mark_neighbours(changed)
        self.release(memory)
        if status is Status.ACTIVE:
            self.take_claims(changed, also_from=changed)
        return changed

    def claimed(self, claim: str) -> Memory | None:
        """The current memory behind a content or logical claim.

        One that is not active, or no longer true, claims nothing.
        """
        memory = self.memories.get(self.claims.get(claim, ""))
        if memory and self.current(memory.key) is None:
            self.released.add(memory.key)
            return None
        return memory

    def said_at_any_time(self, claim: str) -> list[Memory]:
        """The current memories that say what a content claim stands for, of any time."""
        found = map(self.current, dict.fromkeys(self.said.get(claim, ())))
        return [memory for memory in found if memory and content_claims(memory)[0] == claim]

    def current(self, key: str) -> Memory | None:
        """The memory of a key, if it is active and its time and interval have not passed."""
        memory = self.memories.get(key)
        if memory is None or not memory.is_current(self.now) or memory.is_over(self.now):
            return None
        return memory

    def release(self, memory: Memory) -> None:
        """End the content and logical claims of a memory, also those of this decision.

        Its sources stay known.
        """
        self.released.add(memory.key)
        kept = source_claim(memory.space, "", memory.kept_by)
        for claim in [
            claim
            for claim, key in self.claims.items()
            if key == memory.key and not claim.startswith(kept)
        ]:
            del self.claims[claim]
            self.new_claims.pop(claim, None)

    def claim(self, claim: str, memory: Memory, *, digest: str | None = None) -> None:
        """Point a claim at a memory; that of a source with the digest of what it said."""
        self.claims[claim] = self.new_claims[claim] = memory.key
        if memory.claims_content:
            self.said.setdefault(untimed(claim), []).append(memory.key)
        if digest:
            self.digests[claim] = digest

    def digest_of(self, claim: str) -> str | None:
        """What stands for what a claimed source said last, if that is known."""
        return self.digests.get(claim) or self.before.digests.get(claim)

    def take_claims(self, memory: Memory, *, also_from: Memory | None) -> None:
        """Take the claims of a memory that are free, or held by that other one or itself."""
        self._take(every_claim(memory), memory, also_from)

    def _take(self, claims: Iterable[str], memory: Memory, also_from: Memory | None) -> None:
        for claim in claims:
            holder = self.claimed(claim)
            if (
                holder is None
                or holder.key == memory.key
                or (also_from and holder.key == also_from.key)
            ):
                self.claim(claim, memory)

    def join_conversation(self, memory: Memory, behind: str | None) -> None:
        """Put a turn behind another, or at the end of its conversation."""
        if conversation := conversation_key(memory):
            self.stale_contexts |= self.chain.insert(memory.key, conversation, behind)

    def leave_conversation(self, memory: Memory) -> Memory:
        """Take a turn out of its conversation, with the context that this gave it."""
        if conversation := conversation_key(memory):
            self.left_turns[memory.key] = self.chain.before.get(memory.key, "")
            self.stale_contexts |= self.chain.remove(memory.key, conversation)
        return (
            replace(memory, context=None, context_built=False) if memory.context_built else memory
        )

    def mark_neighbours(self, memory: Memory) -> None:
        """The text or status of a turn changed: so does the context of the turns around it."""
        if conversation_key(memory):
            around = (self.chain.at(memory.key, step) for step in _CONTEXT_STEPS)
            self.stale_contexts |= {key for key in around if key}

    def supersede(self, memory: Memory, other: Memory) -> bool:
        """Let a memory take the place of another, whose interval it ends.

        Says whether the other was current.

        A value that changes begins when the new one says so: at its valid_from, else when it
        happened, else now.
        """
        memory = self.memories[memory.key]
        self.draw(memory, EdgeType.UPDATES, other)
        if other.status in {Status.SUPERSEDED, Status.RETRACTED}:
            return False
        # one that is there has begun, whatever another clock says of when it arrived
        began = memory.valid_from or memory.occurred_at or min(memory.created_at, self.now)
        if memory.valid_from is None and (
            memory.valid_until is None or memory.valid_until >= began
        ):
            self._begin(memory, began)
        if (other.valid_from or began) <= began:
            self.end(other, began)
        else:
            self.set_status(other, Status.SUPERSEDED, Reason.UPDATE)
        if self.memories[memory.key].status is Status.ACTIVE:
            self.take_claims(self.memories[memory.key], also_from=None)
        return True

    def end(self, memory: Memory, at: datetime) -> None:
        """Let a memory hold until another takes its place, which it holds against until then."""
        if memory.valid_until is None or memory.valid_until > at:
            memory = replace(memory, valid_until=at)
        if at <= self.now:
            self.set_status(memory, Status.SUPERSEDED, Reason.UPDATE)
        else:
            self.put(replace(memory, updated_at=self.now, version=memory.version + 1))

    def put_before(self, memory: Memory, until: datetime) -> Memory:
        """A memory of this decision that ends where its successor begins, if not before."""
        memory = replace(memory, valid_until=min(memory.valid_until or until, until))
        if until <= self.now:
            memory = replace(
                memory,
                status=Status.SUPERSEDED,
                status_reason=Reason.UPDATE,
                status_at=self.now,
            )
            self.release(memory)
        self.memories[memory.key] = memory
        return memory

    def _begin(self, memory: Memory, began: datetime) -> None:
        if memory.key in self.created:
            self.memories[memory.key] = replace(memory, valid_from=began)
        else:
            self.put(
                replace(memory, valid_from=began, updated_at=self.now, version=memory.version + 1)
            )

    def draw(
        self,
        memory: Memory,
        edge_type: EdgeType | LineageType,
        other: Memory,
        *,
        uid: str | None = None,
        weight: float = 1.0,
        reason: str | None = None,
        link_type: str | None = None,
        created_at: datetime | None = None,
    ) -> Edge:
        """Draw an edge, or revise the one of that uid, or without a uid the oldest at its ends.

        Raises:
            Conflict: an edge of that uid stands elsewhere in the space.
        """
        ends = (memory.key, edge_type, other.key)
        known = self._known_edge(ends, uid)
        edge = Edge(
            uid=(known.uid if known else uid) or edge_uid(*ends),
            from_uid=memory.uid,
            to_uid=other.uid,
            type=edge_type,
            weight=weight,
            created_at=known.created_at if known else created_at or self.now,
            reason=reason,
            link_type=link_type,
        )
        if uid:
            self._check_edge_uid(memory, ends, uid)
        else:
            self.unnamed_edges.add((ends, edge.uid))
        self.edges[ends, edge.uid] = edge
        self.edges_at.setdefault(ends, {})[edge.uid] = edge
        self.ends_of[edge_claim(memory.space, edge.uid)] = ends
        return edge

    def has_edge(self, ends: EdgeEnds, uid: str | None) -> bool:
        """Whether drawing an edge would revise one."""
        return self._known_edge(ends, uid) is not None

    def _known_edge(self, ends: EdgeEnds, uid: str | None) -> Edge | None:
        found = {edge.uid: edge for edge in self.before.edges.get(ends, ())}
        found |= self.edges_at.get(ends, {})
        return found.get(uid) if uid else next(iter(found.values()), None)

    def _check_edge_uid(self, memory: Memory, ends: EdgeEnds, uid: str) -> None:
        """Refuse a uid that another edge of the space has."""
        claim = edge_claim(memory.space, uid)
        stands_at = {self.before.edge_uids.get(claim, ends), self.ends_of.get(claim, ends)}
        if stands_at != {ends}:
            message = f"Another edge of this space has the uid {uid}."
            raise Conflict(message)

    def _rebuild_contexts(self) -> None:
        """Remake the contexts of the turns around what changed."""
        for key in sorted(self.stale_contexts):
            memory = self.memories.get(key)
            if memory and memory.context_built:
                rebuilt = with_built_context(
                    memory, self.chain, self.memories, word_limit=self.context_words
                )
                if rebuilt is not memory:
                    self.put(rebuilt)

    def decision(
        self, results: Sequence[WriteResult] = (), events: Iterable[Event] = ()
    ) -> Decision:
        """The decision that leads from the state before to this draft."""
        followed = copies.follow(self)
        kept_true = rollups.keep_true(self)
        self._rebuild_contexts()
        links = set(self.chain.before.items())
        known = set(self.before.previous_turns.items())
        return Decision(
            results=tuple(self._final(result) for result in results),
            created=tuple(self.memories[key] for key in sorted(self.created)),
            changed=tuple(self.memories[key] for key in sorted(self.changed)),
            counted=frozenset(self.changed - self.rewritten - self.vectors_of.keys()),
            revisions=tuple(self.revisions),
            edges=self.edges,
            unnamed_edges=frozenset(self.unnamed_edges),
            removed_edges=tuple(self.removed_edges),
            claims=self.new_claims,
            moved=self._moved_claims(),
            digests=self.digests,
            sources=self.sources,
            sourced=tuple(self.memories[key] for key in sorted(self.sourced)),
            absorbed=tuple(self.absorbed),
            **self._taken_back(),
            released=frozenset(self.released),
            links=tuple(sorted((earlier, later) for later, earlier in links - known)),
            unlinked=tuple(sorted((earlier, later) for later, earlier in known - links)),
            last_turns=self._new_last_turns(),
            left_turns=self.left_turns,
            mentioning=frozenset(
                key for key in self.created | self.changed if self._mentions_changed(key)
            ),
            vectors_of=self.vectors_of,
            turns=self.turns.changes(),
            forgotten_claims=frozenset(self.forgotten_claims),
            events=(*events, *followed, *kept_true),
        )

    def _moved_claims(self) -> frozenset[str]:
        """The claims of sources that leave another memory."""
        before = self.before.claims
        changed = (claim for claim, key in self.new_claims.items() if before.get(claim, key) != key)
        return frozenset(claim for claim in changed if claim in self.digests)

    def _new_last_turns(self) -> dict[str, str]:
        """The last turns of the conversations that end otherwise than before."""
        before = self.before.last_turns
        return {
            conversation: turn
            for conversation, turn in self.chain.last.items()
            if before.get(conversation) != turn
        }

    def _taken_back(self) -> dict[str, Any]:
        """Which words were taken back here, and which memories no longer are."""
        retracted: list[tuple[str, str]] = []
        unretracted: set[str] = set()
        for key in sorted(self.created | self.changed):
            before, after = self.before.memories.get(key), self.memories[key]
            was = content_claims(before)[0] if before and _is_retracted(before) else None
            is_now = content_claims(after)[0] if _is_retracted(after) else None
            if was and was != is_now:
                unretracted.add(key)
            if is_now and was != is_now:
                retracted.append((is_now, key))
        return {"retracted": tuple(retracted), "unretracted": frozenset(unretracted)}

    def _final(self, result: WriteResult) -> WriteResult:
        return replace(result, memory=self.memories[result.memory.key]) if result.memory else result

    def _mentions_changed(self, key: str) -> bool:
        before = self.before.memories.get(key)
        return self.memories[key].entities != (before.entities if before else ())


def _is_retracted(memory: Memory) -> bool:
    return memory.status is Status.RETRACTED


def _is_count(earlier: Memory, later: Memory) -> bool:
    """Whether a memory was only said again."""
    counted = "mention_count updated_at version more_sources sources_total turns".split()
    counts = {name: getattr(earlier, name) for name in counted}
    return replace(later, **counts) == earlier
