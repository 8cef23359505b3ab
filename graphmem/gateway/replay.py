"""Replay: the answer to a write, kept behind a retry key and given again for it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from graphmem.errors import (
    Conflict,
    Forbidden,
    GraphmemError,
    InvalidInput,
    KeptByRoom,
    PolicyRefused,
    RetractedSource,
)
from graphmem.model.memory import Memory
from graphmem.model.writing import Outcome, WriteReport, WriteResult


def answer_text(report: WriteReport) -> str:
    """The report as JSON; memories by their key."""
    return json.dumps(
        {"trace_id": report.trace_id, "results": [_entry(result) for result in report.results]}
    )


def memory_keys(answer: str) -> list[str]:
    """The keys of the memories that an answer speaks of."""
    return [entry["memory"] for entry in json.loads(answer)["results"] if entry["memory"]]


def report_from(answer: str, memories: Mapping[str, Memory]) -> WriteReport:
    """The report of an answer, with the memories as they are now."""
    stored = json.loads(answer)
    return WriteReport(
        trace_id=stored["trace_id"],
        results=tuple(
            WriteResult(
                index=entry["index"],
                outcome=Outcome(entry["outcome"]),
                memory=memories.get(entry["memory"]),
                error=_error(entry["error"]) if entry["error"] else None,
                not_taken=tuple(entry.get("not_taken", ())),
                retracted_before=entry.get("retracted_before"),
            )
            for entry in stored["results"]
        ),
    )


def is_stored(results: Iterable[WriteResult]) -> bool:
    """Whether any result left something in the store."""
    return any(result.memory for result in results)


def _entry(result: WriteResult) -> dict[str, object]:
    error = result.error
    return {
        "index": result.index,
        "outcome": result.outcome.value,
        "memory": result.memory.key if result.memory else None,
        "not_taken": list(result.not_taken),
        "retracted_before": result.retracted_before,
        "error": None
        if error is None
        else {
            "code": error.code,
            "message": error.message,
            "fields": getattr(error, "fields", {}),
            "reason": getattr(error, "reason", ""),
        },
    }


def _error(entry: Mapping[str, Any]) -> GraphmemError:
    match entry["code"]:
        case InvalidInput.code:
            return InvalidInput(entry["fields"], entry["message"])
        case PolicyRefused.code:
            return PolicyRefused(entry["reason"], entry["message"])
        case _:
            kinds = {kind.code: kind for kind in (Conflict, KeptByRoom, RetractedSource)}
            return kinds.get(entry["code"], Forbidden)(entry["message"])
