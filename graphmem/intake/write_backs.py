"""Write-backs (002): what an orchestrator heard, made and found out becomes memories.

Pure; the gateway writes them.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from graphmem.model.memory import MemoryType
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.writing import WriteRequest

RELATED_WEIGHT = 0.7  # of the edges from what a finding is about (002, Write-back)
_SUMMARY_MAX_CHARS = 120
# what the key of an output says of its type, and how important it then is; the first that fits
# counts
_BY_KEY = (
    ("decision", MemoryType.DECISION, 75),
    ("todo", MemoryType.TODO, 65),
    ("goal", MemoryType.GOAL, 70),
    ("preference", MemoryType.PREFERENCE, 60),
)
_FACT_IMPORTANCE = 55


def transcript(
    space: str, *, message_id: str, conversation_id: str, content: str
) -> WriteRequest | None:
    """What somebody said; nothing if that is blank."""
    return _request(
        space,
        content,
        type=MemoryType.OBSERVATION,
        importance=45,
        confidence=0.7,
        source=Source(
            type=SourceType.CHANNEL_TRANSCRIPT,
            conversation_id=conversation_id,
            captured_by=CapturedBy.USER,
            key=transcript_key(message_id),
        ),
    )


def workflow_output(
    space: str, *, workflow_run_id: str, step_id: str, attempt: int, outputs: Mapping[str, str]
) -> list[tuple[str, WriteRequest]]:
    """What a step of a workflow made, by output key, blank ones left out.

    The uid is the same for every attempt, so a later one revises the memory; each attempt is a
    source of its own.
    """
    made: list[tuple[str, WriteRequest]] = []
    for name, content in sorted(outputs.items()):
        kind, importance = output_type(name)
        request = _request(
            space,
            content,
            uid=output_uid(workflow_run_id, step_id, name),
            type=kind,
            importance=importance,
            confidence=0.75,
            source=Source(
                type=SourceType.WORKFLOW_OUTPUT,
                workflow_run_id=workflow_run_id,
                step_id=step_id,
                captured_by=CapturedBy.SYSTEM,
                key=f"workflow_output:{workflow_run_id}:{step_id}:{attempt}"
                + (f":{name}" if len(outputs) > 1 else ""),
            ),
        )
        if request:
            made.append((name, request))
    return made


def diagnostics(space: str, *, finding_id: str, content: str) -> WriteRequest | None:
    """What an investigation found; nothing if that is blank.

    A finding that comes again is the same memory.
    """
    return _request(
        space,
        content,
        uid=finding_uid(finding_id),
        type=MemoryType.OBSERVATION,
        importance=70,
        confidence=0.8,
        source=Source(
            type=SourceType.DIAGNOSTICS,
            captured_by=CapturedBy.SYSTEM,
            key=f"diagnostics:{finding_id}",
        ),
    )


def transcript_key(message_id: str) -> str:
    """The source key of a message."""
    return f"channel_transcript:{message_id}"


def output_type(name: str) -> tuple[MemoryType, int]:
    """The type and importance of a workflow output, by its key."""
    lowered = name.lower()
    found = ((kind, importance) for word, kind, importance in _BY_KEY if word in lowered)
    return next(found, (MemoryType.FACT, _FACT_IMPORTANCE))


def finding_uid(finding_id: str) -> str:
    """The uid of a finding: equal for the same id."""
    return f"finding-{hashlib.sha256(finding_id.encode()).hexdigest()[:32]}"


def output_uid(workflow_run_id: str, step_id: str, name: str) -> str:
    """The uid of a workflow output: equal for the same run, step and key."""
    digest = hashlib.sha256(f"{workflow_run_id}\0{step_id}\0{name}".encode()).hexdigest()
    return f"output-{digest[:32]}"


def _request(space: str, content: str, **values: Any) -> WriteRequest | None:  # noqa: ANN401 - fields
    text = " ".join(content.split())
    if not text:
        return None
    given = {"space": space, "content": content, "summary": text[:_SUMMARY_MAX_CHARS], **values}
    return WriteRequest(**given, given=frozenset(given))
