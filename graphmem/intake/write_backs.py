"""Write-backs (002): what an orchestrator heard, made and found out becomes memories.

Pure; the gateway writes them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from graphmem.intake.splitting import CONTENT_MAX_CHARS, Numbered, whole_and_parts
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.memory import MemoryType
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.transcript import message_uid, transcript_key
from graphmem.model.writing import WriteRequest

RELATED_WEIGHT = 0.7  # of the edges from what a finding is about (002, Write-back)
_SUMMARY_MAX_CHARS = 120
TEXT_MAX_CHARS = 200_000
PARTS_MAX = 128  # of a text that is written back
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
) -> list[WriteRequest]:
    """What somebody said; nothing if that is blank. A long message is split as files are."""
    said = Saying(uid="", role=TurnRole.USER, content=content, message_id=message_id)

    def request(number: int, text: str) -> WriteRequest:
        return _request(
            space,
            text,
            said=said,
            type=MemoryType.OBSERVATION,
            importance=45,
            confidence=0.7,
            proposed_uid=_numbered(message_uid(message_id), number),
            source=Source(
                type=SourceType.CHANNEL_TRANSCRIPT,
                conversation_id=conversation_id,
                captured_by=CapturedBy.USER,
                key=transcript_key(message_id) + (f":{number}" if number else ""),
            ),
        )

    return _split("A message", content, request)


def workflow_output(
    space: str, *, workflow_run_id: str, step_id: str, attempt: int, outputs: Mapping[str, str]
) -> list[tuple[str, list[WriteRequest]]]:
    """What a step of a workflow made, by output key, blank ones left out.

    The uid is the same for every attempt, so a later one revises the memory; each attempt is a
    source of its own. A long output is split as files are, and its parts have uids too.
    """
    made: list[tuple[str, list[WriteRequest]]] = []
    for name, content in sorted(outputs.items()):
        key = f"workflow_output:{workflow_run_id}:{step_id}:{attempt}"
        source = Source(
            type=SourceType.WORKFLOW_OUTPUT,
            workflow_run_id=workflow_run_id,
            step_id=step_id,
            captured_by=CapturedBy.SYSTEM,
            key=key + (f":{name}" if len(outputs) > 1 else ""),
        )
        request = partial(_output, space, name, output_uid(workflow_run_id, step_id, name), source)
        if requests := _split(f"{name}, an output", content, request):
            made.append((name, requests))
    return made


def _output(
    space: str, name: str, uid: str, source: Source, number: int, content: str
) -> WriteRequest:
    """An output, or the part of that number of a long one."""
    kind, importance = output_type(name)
    return _request(
        space,
        content,
        uid=_numbered(uid, number),
        upserts=True,
        type=kind,
        importance=importance,
        confidence=0.75,
        source=replace(source, key=f"{source.key}#{number}") if number else source,
    )


def former_parts(requests: Sequence[WriteRequest]) -> list[str]:
    """The uids that parts of an earlier, longer text may have."""
    uid = requests[0].uid or requests[0].proposed_uid or ""
    return [_numbered(uid, number) for number in range(len(requests), PARTS_MAX + 1)]


def diagnostics(space: str, *, finding_id: str, content: str) -> WriteRequest | None:
    """What an investigation found; nothing if that is blank.

    A finding that comes again is the same memory.
    """
    if not content.strip():
        return None
    return _request(
        space,
        content,
        uid=finding_uid(finding_id),
        upserts=True,
        type=MemoryType.OBSERVATION,
        importance=70,
        confidence=0.8,
        source=Source(
            type=SourceType.DIAGNOSTICS,
            captured_by=CapturedBy.SYSTEM,
            key=f"diagnostics:{finding_id}",
        ),
    )


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


def _numbered(uid: str, number: int) -> str:
    return f"{uid}-{number}" if number else uid


def _split(name: str, content: str, request: Numbered) -> list[WriteRequest]:
    """One request, several for a long text, none for a blank one."""
    if not content.strip():
        return []
    if len(content) <= CONTENT_MAX_CHARS:
        return [request(0, content)]
    return whole_and_parts(name, content, request)


def _request(space: str, content: str, **values: Any) -> WriteRequest:  # noqa: ANN401 - fields
    summary = " ".join(content.split())[:_SUMMARY_MAX_CHARS]
    given = {"space": space, "content": content, "summary": summary, **values}
    return WriteRequest(**given, given=frozenset(given))
