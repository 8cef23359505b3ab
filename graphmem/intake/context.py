"""Context: what a prompt or an investigation is given for a message (002)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from graphmem.adapters.workspaces import Workspaces
from graphmem.errors import (
    Forbidden,
    GraphmemError,
    MemoryDisabled,
    SourcePathDenied,
    StoreUnavailable,
    ValueDamaged,
)
from graphmem.intake.write_back_writer import WriteBackWriter
from graphmem.model.bulletin import Snapshot
from graphmem.model.caller import Caller, Role
from graphmem.model.space import Space
from graphmem.model.transcript import transcript_key
from graphmem.model.writing import WriteResult
from graphmem.ports import Clock
from graphmem.recall.bulletin_maker import BulletinMaker
from graphmem.recall.bulletin_sections import (
    CITATIONS_MAX,
    EVIDENCE_MAX,
    LIMIT_CHARS,
    build_evidence,
)
from graphmem.recall.recall import Recall
from graphmem.recall.request import Bundle, Mode, RecallItem, RecallRequest
from graphmem.text.secrets import redacted
from graphmem.text.times import iso

QUERY_MAX_CHARS = 8_000


class Purpose(StrEnum):
    """What a context is for."""

    SELECTOR = "selector"
    STEP = "step"
    DIAGNOSTICS = "diagnostics"


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """A bulletin or evidence, the outcome of the message, and why an investigation got nothing."""

    snapshot: Snapshot
    written: WriteResult | None = None
    write_error: GraphmemError | None = None
    evidence: Sequence[RecallItem] = ()
    failure: GraphmemError | None = None

    @property
    def failure_kind(self) -> str | None:
        """The kind of a failure: ``repository`` where the store did not answer, else ``recall``."""
        if self.failure is None:
            return None
        return (
            "repository" if isinstance(self.failure, StoreUnavailable | ValueDamaged) else "recall"
        )


class ContextMaker:
    """Makes contexts."""

    def __init__(
        self,
        write_backs: WriteBackWriter,
        recall: Recall,
        bulletins: BulletinMaker,
        *,
        workspaces: Workspaces,
        clock: Clock,
    ) -> None:
        self._write_backs = write_backs
        self._recall = recall
        self._bulletins = bulletins
        self._workspaces = workspaces
        self._clock = clock

    def make(
        self,
        space: Space,
        *,
        purpose: Purpose,
        message_id: str,
        content: str,
        caller: Caller,
        conversation_id: str | None = None,
    ) -> Context:
        """Write a message down where it belongs to a conversation, then recall for it.

        It does not fail when the store does.

        Raises:
            Forbidden: the key may not write in the space.
        """
        if not caller.may(Role.WRITER, space):
            raise Forbidden
        results, problem = self._write(space, message_id, conversation_id, content, caller)
        own = _own_uids(results, message_id)
        query = content[:QUERY_MAX_CHARS]
        if purpose is Purpose.DIAGNOSTICS:
            context = self._evidence(space, message_id, query, own, caller)
        else:
            made = self._bulletins.make(
                space,
                message_id=message_id,
                query=query,
                caller=caller,
                citations_max=CITATIONS_MAX,
                leaving_out=own,
            )
            context = Context(snapshot=made)
        return replace(context, written=next(iter(results), None), write_error=problem)

    def _write(
        self,
        space: Space,
        message_id: str,
        conversation_id: str | None,
        content: str,
        caller: Caller,
    ) -> tuple[Sequence[WriteResult], GraphmemError | None]:
        """Write a message down; one that could not be is said, and does not hold up its answer."""
        if conversation_id is None:
            return (), None
        if caller.is_remembered:
            return (), StoreUnavailable()
        try:
            report = self._write_backs.transcript(
                space,
                message_id=message_id,
                conversation_id=conversation_id,
                content=content,
                caller=caller,
            )
        except Forbidden:
            raise
        except GraphmemError as error:
            return (), error
        return (report.results, report.first_error) if report else ((), None)

    def _evidence(
        self, space: Space, message_id: str, query: str, own: Sequence[str], caller: Caller
    ) -> Context:
        """The best memories by words alone, also kept as a file, or why there are none."""
        mode, failure = Mode.NONE, None
        items: list[RecallItem] = []
        try:
            bundle = self._recalled(space, query, EVIDENCE_MAX + len(own), caller)
            items = [item for item in bundle.items if item.memory.uid not in own][:EVIDENCE_MAX]
            mode = bundle.mode
        except (MemoryDisabled, SourcePathDenied, StoreUnavailable, ValueDamaged) as error:
            failure = error
        evidence = build_evidence(items, limit_chars=LIMIT_CHARS)
        made = Snapshot(
            message_id=message_id,
            bulletin=evidence,
            mode=mode.value,
            fallback="empty_bulletin" if failure else None,
            generated_at=self._clock.now(),
        )
        shown = [item for item in items if item.memory.uid in evidence.citations]
        context = Context(snapshot=made, evidence=shown, failure=failure)
        self._workspaces.keep(space, "diagnostics", message_id, artefact(context, query))
        return context

    def _recalled(self, space: Space, query: str, limit: int, caller: Caller) -> Bundle:
        if caller.is_remembered:
            raise StoreUnavailable
        request = RecallRequest(spaces=(space.name,), query=query, limit=limit, text_only=True)
        return self._recall.recall(request, caller=caller)


def _own_uids(written: Sequence[WriteResult], message_id: str) -> list[str]:
    """The memories that were made of a message; those that it only repeats were not."""
    key = transcript_key(message_id)
    made = [result.memory for result in written if result.memory]
    return [
        memory.uid
        for memory in made
        if memory.source.key == key or (memory.source.key or "").startswith(f"{key}:")
    ]


def artefact(context: Context, query: str) -> dict[str, object]:
    """The file of an investigation: what it was given, or why it got nothing (002, Write-back)."""
    found: dict[str, object] = {
        "messageId": context.snapshot.message_id,
        "generatedAt": iso(context.snapshot.generated_at),
        "query": redacted(query),
        "status": "failed" if context.failure else "succeeded",
    }
    if context.failure:
        error = {"code": context.failure.code, "message": context.failure.message}
        return found | {"failureKind": context.failure_kind, "error": error}
    return found | {
        "mode": context.snapshot.mode,
        "evidence": [cited(item) for item in context.evidence],
    }


def cited(item: RecallItem) -> Mapping[str, object]:
    """A memory as evidence: what it says in short, and where it came from (002, citation)."""
    memory, source = item.memory, item.memory.source
    return {
        "memoryId": memory.uid,
        "type": memory.type.value,
        "summary": memory.summary,
        "score": item.score,
        "sourceType": source.type.value,
        "sourcePath": source.path,
        "conversationId": source.conversation_id,
        "workflowRunId": source.workflow_run_id,
        "stepId": source.step_id,
    }
