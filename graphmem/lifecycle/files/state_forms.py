"""State forms: what waits, topic traces, aliases and counts as JSON, and back. Pure."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.lifecycle.files.dates import moment_text

# the kinds of lines that stand as they are in a file each, one a line
LINES = {
    "edge": "state/links.jsonl",
    "relation": "state/relations.jsonl",
    "lineage": "state/lineage.jsonl",
    "conversation": "state/conversations.jsonl",
    "turn": "state/turns.jsonl",
    "extraction": "state/extractions.jsonl",
    "feedback": "state/feedback.jsonl",
}
BUFFER, TRACES = "state/buffer.json", "state/trace-index.json"
META, TOPICS, HASHES = "state/meta.json", "state/topics.json", "state/fact-hashes.txt"
MADE = (META, TOPICS, HASHES)  # of what the others say: nothing is read from them
_LIST_END = "]}"
_BUFFER_NAMES = {"extractions": "extractionCount"}
_TRACE_NAMES = {"uid": "id", "first_at": "firstSeen", "last_at": "lastSeen"}


def json_line(value: Mapping[str, Any]) -> str:
    """A value on a line of its own."""
    return json.dumps(value, ensure_ascii=False) + "\n"


def json_list(name: str, values: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A JSON object with one list, in parts: each value on a line."""
    yield list_head(name)
    sign = ""
    for value in values:
        yield sign + json.dumps(value, ensure_ascii=False)
        sign = ",\n"
    yield f"\n{_LIST_END}\n" if sign else f"{_LIST_END}\n"


def list_head(name: str) -> str:
    """The first line of a JSON object with one list, of which each value stands on a line."""
    return f'{{"{name}": [\n'


def entry_on(line: str) -> str:
    """What a line of such a list holds; nothing on the last one."""
    text = line.strip().removesuffix(",")
    return "" if text == _LIST_END else text


def json_object(pairs: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """A JSON object in parts: each name with its value on a line."""
    yield "{"
    sign = "\n"
    for name, value in pairs:
        yield f"{sign}{json.dumps(name, ensure_ascii=False)}: "
        yield json.dumps(value, ensure_ascii=False)
        sign = ",\n"
    yield "\n}\n"


def buffer_entry(line: Mapping[str, Any]) -> dict[str, Any]:
    """A buffer as its file says it."""
    return {_camel(name, _BUFFER_NAMES): value for name, value in line.items()}


def buffer_value(entry: Any) -> Any:  # noqa: ANN401 - any JSON
    """The value of the line of a buffer."""
    if not isinstance(entry, Mapping):
        return entry
    meant = {other: name for name, other in _BUFFER_NAMES.items()}
    return {meant.get(name) or _snake(name): value for name, value in entry.items()}


def trace_entry(line: Mapping[str, Any]) -> dict[str, Any]:
    """A topic trace as its file says it."""
    return {_camel(name, _TRACE_NAMES): value for name, value in line.items()}


def trace_entries(found: Any) -> list[Any]:  # noqa: ANN401 - any JSON
    """The topic traces of a file, which others also keep by their ids.

    Raises:
        InvalidInput: it holds none.
    """
    traces = found.get("traces", found) if isinstance(found, Mapping) else found
    if isinstance(traces, Mapping):
        traces = [
            {"id": uid, **each} if isinstance(each, Mapping) else each
            for uid, each in traces.items()
        ]
    if not isinstance(traces, list):
        raise InvalidInput({"topic_trace": ["Must be a list of topic traces."]})
    return traces


def trace_value(entry: Any) -> Any:  # noqa: ANN401 - any JSON
    """The value of the line of a topic trace.

    Raises:
        InvalidInput: a time in it is none.
    """
    if not isinstance(entry, Mapping):
        return entry
    last = moment_text("lastSeen", entry.get("lastSeen"))
    return {
        "uid": entry.get("id"),
        "topics": entry.get("topics"),
        "first_at": moment_text("firstSeen", entry.get("firstSeen")) or last,
        "last_at": last,
    }


def alias_table(found: Any) -> dict[str, list[str]]:  # noqa: ANN401 - any JSON
    """The other names of entities, by key as it is shown; others also say what each name means.

    Raises:
        InvalidInput: it is neither.
    """
    if not isinstance(found, Mapping):
        raise InvalidInput({"aliases": ["Must be names with what they mean."]})
    table: dict[str, list[str]] = {}
    for name, meant in found.items():
        if isinstance(meant, str):
            table.setdefault(meant, []).append(name)
        elif isinstance(meant, list):
            table.setdefault(name, []).extend(each for each in meant if isinstance(each, str))
    return table


def _camel(name: str, names: Mapping[str, str]) -> str:
    return names.get(name) or re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda match: f"_{match[1].lower()}", name)
