"""Writing back: what an orchestrator heard, made and found out goes through the gateway (002).

A long text has parts; when a later one is shorter, the parts that it no longer has are superseded.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from graphmem.errors import GraphmemError, RetractedSource
from graphmem.gateway.edges import EdgeRequest
from graphmem.gateway.writing import Writing
from graphmem.intake.write_backs import (
    former_parts,
    transcript,
    workflow_output,
)
from graphmem.model.caller import Caller
from graphmem.model.edge import EdgeType
from graphmem.model.memory import Memory, Status, memory_key
from graphmem.model.space import Space
from graphmem.model.writing import Outcome, WriteReport, WriteRequest, WriteResult
from graphmem.store.memories import Memories


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What became of outputs by their keys; those of retracted memories are refused by name."""

    results: Mapping[str, WriteResult] = field(default_factory=dict)
    refused: Mapping[str, RetractedSource] = field(default_factory=dict)
    trace_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class WriteBackWriter:
    """Writes transcripts and outputs."""

    writing: Writing
    memories: Memories

    def transcript(
        self, space: Space, *, message_id: str, conversation_id: str, content: str, caller: Caller
    ) -> WriteReport | None:
        """Keep what somebody said; None where that is blank.

        Raises:
            GraphmemError: it may not be kept.
        """
        requests = transcript(
            space.name,
            message_id=message_id,
            conversation_id=conversation_id,
            content=content,
        )
        if not requests:
            return None
        report = self.writing.write(requests, caller=caller, atomic=len(requests) > 1)
        if report.first_error is None and report.results[0].outcome is Outcome.REVISED:
            self._end_former_parts(space, requests, caller)
        return report

    def outputs(
        self,
        space: Space,
        *,
        workflow_run_id: str,
        step_id: str,
        attempt: int,
        outputs: Mapping[str, str],
        caller: Caller,
    ) -> Written:
        """Keep what a step made: all of it or nothing, but for what was retracted.

        Raises:
            GraphmemError: one of them may not be kept.
        """
        made = dict(
            workflow_output(
                space.name,
                workflow_run_id=workflow_run_id,
                step_id=step_id,
                attempt=attempt,
                outputs=outputs,
            )
        )
        known = self._known(space, made.values())
        refused = {
            name: problem
            for name, requests in made.items()
            if (problem := _retracted(requests, known))
        }
        kept = {name: requests for name, requests in made.items() if name not in refused}
        if not kept:
            return Written(refused=refused)
        report = self.writing.write(
            [request for requests in kept.values() for request in requests],
            edges=[
                edge for requests in kept.values() for edge in _superseding(space, requests, known)
            ],
            caller=caller,
            atomic=True,
        )
        if report.first_error:
            raise report.first_error
        starts = accumulate(map(len, kept.values()), initial=0)
        firsts = (report.results[start] for start, _ in pairwise(starts))
        return Written(
            results=dict(zip(kept, firsts, strict=True)),
            refused=refused,
            trace_id=report.trace_id,
        )

    def _known(self, space: Space, texts: Iterable[Sequence[WriteRequest]]) -> Mapping[str, Memory]:
        """The memories that attempts before left, by uid."""
        uids = {uid for requests in texts for uid in (*_uids(requests), *former_parts(requests))}
        found = self.memories.by_key(memory_key(space, uid) for uid in uids)
        return {memory.uid: memory for memory in found.values()}

    def _end_former_parts(
        self, space: Space, requests: Sequence[WriteRequest], caller: Caller
    ) -> None:
        """Supersede what an edited message no longer has."""
        edges = _superseding(space, requests, self._known(space, [requests]))
        if edges:
            self.writing.write([], edges=edges, caller=caller)


def _uids(requests: Sequence[WriteRequest]) -> list[str]:
    return [uid for request in requests if (uid := request.uid or request.proposed_uid)]


def _retracted(
    requests: Sequence[WriteRequest], known: Mapping[str, Memory]
) -> RetractedSource | None:
    """Why an output is refused: its memory, or that of a part of it, was taken back."""
    for uid in _uids(requests):
        if uid in known and known[uid].status is Status.RETRACTED:
            message = f"The memory {uid} is retracted: restore it first."
            return RetractedSource(message)
    return None


def _superseding(
    space: Space, requests: Sequence[WriteRequest], known: Mapping[str, Memory]
) -> list[EdgeRequest]:
    """Edges that let a text take the place of the parts that it no longer has."""
    whole, *_ = _uids(requests)
    return [
        EdgeRequest(space=space, from_uid=whole, to_uid=uid, type=EdgeType.UPDATES)
        for uid in former_parts(requests)
        if uid in known and known[uid].status is Status.ACTIVE
    ]


def accepted(report: WriteReport) -> WriteResult:
    """The first result of a report.

    Raises:
        GraphmemError: the first error that no other one caused.
    """
    error: GraphmemError | None = report.first_error
    if error:
        raise error
    return report.results[0]
