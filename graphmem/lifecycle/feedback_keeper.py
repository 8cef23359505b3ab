"""The keeper of feedback: finds the recall and the memory that a caller speaks of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.errors import InvalidInput, NotFound
from graphmem.gateway.gateway import Gateway
from graphmem.lifecycle.feedback import GiveFeedback, Opinion, memory_meant
from graphmem.model.caller import Caller
from graphmem.model.feedback import FeedbackCounts
from graphmem.model.space import Space, space_from_key
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.recall.explainer import Explainer
from graphmem.store.last_recalls import LastRecalls
from graphmem.store.spaces import SpacePolicies


@dataclass(frozen=True, kw_only=True, slots=True)
class _Given:
    """What a recall gave: the uid of its trace, and the keys of memories."""

    recall: str
    memories: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class FeedbackKeeper:
    """Takes what callers say of memories that recalls gave."""

    gateway: Gateway
    policies: SpacePolicies
    explainer: Explainer
    last_recalls: LastRecalls

    def give(self, opinion: Opinion, *, caller: Caller) -> FeedbackCounts:
        """Count an opinion of a memory; says what the memory counts now.

        Raises:
            NotFound: there is no such recall that the caller may see, or the memory is gone.
            InvalidInput: the recall did not give that memory, or the trace is that of no recall.
            Forbidden: the key may not write in the space of the memory; MemoryDisabled.
            FeedbackDisabled: that space counts no feedback.
            KeptByRoom: a room keeps the memory.
            PolicyRefused: the note may not be stored.
        """
        given = self._given(opinion, caller)
        seen = [key for key in given.memories if caller.may_see(_space_of(key))]
        space = _space_of(memory_meant(opinion, seen))
        operation = GiveFeedback(
            space=space,
            memory=opinion.uid,
            recall=given.recall,
            useful=opinion.useful,
            note=opinion.note,
            config=self.policies.of(space).lifecycle,
        )
        return self.gateway.execute(operation, caller).answer

    def _given(self, opinion: Opinion, caller: Caller) -> _Given:
        """What the recall gave that an opinion names."""
        if opinion.trace_id:
            trace = self.explainer.trace_of(caller, opinion.trace_id)
            return _Given(recall=trace.uid, memories=_returned(trace))
        last = None
        if opinion.space and opinion.session:
            last = self.last_recalls.of(opinion.space, opinion.session)
        if last is None:
            raise NotFound
        return _Given(recall=last.recall, memories=last.memories)


def _space_of(key: str) -> Space:
    return space_from_key(key.partition("|")[0])


def _returned(trace: TraceRecord) -> list[str]:
    """The keys of the memories that the recall of a trace gave."""
    if trace.kind != TraceKind.RECALL:
        raise InvalidInput({"trace_id": ["Must be the trace of a recall."]})
    returned: Any = trace.request.get("returned", 0)
    results: Sequence[Any] = trace.events[:returned]
    return [f"{trace.spaces[space]}|{uid}" for space, uid, _ in results]
