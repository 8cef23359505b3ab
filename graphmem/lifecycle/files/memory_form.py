"""Memory form: a memory as a file with front matter, and back. Pure.

The keys are those of 003 in their order; then ``threadId`` and ``part``, and ``graphmem`` with
what these do not say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.lifecycle.caps import CONFIDENCE
from graphmem.lifecycle.entity_matching import shown_key
from graphmem.lifecycle.files.dates import day_in, moment_text, time_in
from graphmem.lifecycle.files.differences import (
    is_ours,
    unsaid,
    with_ours,
    with_unsaid,
    with_value,
)
from graphmem.lifecycle.files.entity_keys import key_of
from graphmem.lifecycle.files.front_matter import Page, page_text
from graphmem.model.extraction import TYPE_OF, Category
from graphmem.model.memory import Authority, MemoryType, Status
from graphmem.model.policy import WritePolicy
from graphmem.model.source import CapturedBy, SourceType
from graphmem.text.normalise import shorten

_SUMMARY_CHARS = WritePolicy().summary_max_chars
_IMPORTANCE = 50
_SCORE_MAX = 1_000_000  # beyond it nothing is read
# the names of what 003 knows beside, in the graph and in files
_NATIVE = {
    "category": "category",
    "tier": "confidenceTier",
    "importance_level": "importanceLevel",
    "importance_reasons": "importanceReasons",
    "keywords": "importanceKeywords",
    "kind": "memoryKind",
    "parent": "parentId",
    "thread": "threadId",
    "part": "part",
}
_INTENT = {
    "goal": "intentGoal",
    "action": "intentActionType",
    "entity_types": "intentEntityTypes",
}
_STATUSES = {
    **{status.value: status for status in Status},
    "expired": Status.ARCHIVED,
    "fulfilled": Status.ARCHIVED,
    "merged": Status.SUPERSEDED,
    "invalidated": Status.SUPERSEDED,
    "deleted": Status.RETRACTED,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class InBox:
    """The box that a memory is in, and the topic trace of that."""

    box: str | None = None
    trace: str | None = None


def memory_file(line: Mapping[str, Any], within: InBox) -> str:
    """The file of a memory; the turns that it is of are told apart."""
    front = with_value(_front(line, within))
    told = {name: value for name, value in line.items() if name != "turns"}
    said = _said(front, line["content"], "")
    more = unsaid({name: value for name, value in told.items() if name != "sources"}, said)
    if unsaid({"sources": line["sources"]}, _complete({**said, **more})):
        more["sources"] = line["sources"]
    return page_text(with_ours(front, more), line["content"])


def memory_value(page: Page, path: str) -> dict[str, Any]:
    """The value of the line of a memory that a file holds.

    Raises:
        InvalidInput: it has no front matter, or what that says cannot be read.
    """
    if page.front is None:
        raise InvalidInput({"front matter": ["Is not there."]})
    if is_ours(page.front):
        return _complete(with_unsaid(_said(page.front, page.text, path), page.front))
    return _foreign(_complete(_said(page.front, page.text.strip(), path)))


def _foreign(value: Mapping[str, Any]) -> dict[str, Any]:
    """A memory of another system: what that does not say of it is not said to be none."""
    return {name: each for name, each in value.items() if each is not None}


def _front(line: Mapping[str, Any], within: InBox) -> dict[str, Any]:
    native = line["native"] or {}
    intent = native.get("intent")
    of = {
        **_named(native, _NATIVE),
        **_named(intent if isinstance(intent, Mapping) else {}, _INTENT),
    }
    first = next(iter(line["entities"]), None)
    return {
        "id": line["uid"],
        "category": of.get("category"),
        "memoryKind": of.get("memoryKind"),
        "created": line["created_at"],
        "updated": line["updated_at"],
        "source": native.get("source") or line["source"]["type"],
        "confidence": line["confidence"],
        "confidenceTier": of.get("confidenceTier"),
        "importanceScore": line["importance"] / 100,
        "importanceLevel": of.get("importanceLevel"),
        "importanceReasons": of.get("importanceReasons"),
        "importanceKeywords": of.get("importanceKeywords"),
        "status": line["status"],
        "tags": line["tags"],
        "entityRef": shown_key(first["key"]) if first else None,
        "parentId": of.get("parentId"),
        "traceId": within.trace,
        "boxId": within.box,
        "intentGoal": of.get("intentGoal"),
        "intentActionType": of.get("intentActionType"),
        "intentEntityTypes": of.get("intentEntityTypes"),
        "threadId": of.get("threadId"),
        "part": of.get("part"),
    }


def _named(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {other: values[name] for name, other in names.items() if name in values}


def _said(front: Mapping[str, Any], content: str, path: str) -> dict[str, Any]:
    """What the keys of 003 and the text say of a memory."""
    created = moment_text("created", front.get("created")) or _time_of(path)
    source = front.get("source")
    return {
        "uid": _uid(front, path),
        "content": content,
        "summary": shorten(content, _SUMMARY_CHARS),
        "actor": None,
        "context": None,
        "importance": _importance(front.get("importanceScore")),
        "confidence": _or(front.get("confidence"), CONFIDENCE),
        "logical_key": None,
        "pinned": False,
        "native": _native(front),
        "kept_by": None,
        "type": _type_of(front.get("category")).value,
        "authority": Authority.USER_ASSERTED.value,
        "status": _status(front.get("status"), path).value,
        "occurred_at": None,
        "valid_from": None,
        "valid_until": None,
        "expires_at": moment_text("expiresAt", front.get("expiresAt")),
        "created_at": created,
        "updated_at": moment_text("updated", front.get("updated")) or created,
        "tags": _words(front.get("tags")),
        "metadata": {},
        "entities": _entities(front.get("entityRef")),
        "source": _source(str(source) if _is_source(source) else SourceType.MANUAL.value),
        "claims_content": True,
        "status_reason": None,
        "status_at": None,
    }


def _complete(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values with the one source that they name, and without turns, which are told apart."""
    source = values["source"]
    if not isinstance(source, Mapping):
        return {"turns": [], **values}
    first = {**source, "at": values["created_at"], "digest": None}
    return {"sources": [first], "turns": [], **values}


def _uid(front: Mapping[str, Any], path: str) -> str:
    stem = path.rpartition("/")[2].removesuffix(".md")
    return str(_or(front.get("id"), stem))


def _or(value: Any, default: Any) -> Any:  # noqa: ANN401 - any value of YAML
    return default if value is None or value == "" else value


def _time_of(path: str) -> str | None:
    """When a memory was stored, by the name of its file, else by its folder."""
    number = time_in(path)
    return moment_text("created", number) if number else moment_text("created", day_in(path))


def _importance(score: Any) -> Any:  # noqa: ANN401 - any value of YAML
    """From 0 to 1 in files, to 100 in the graph; what is no number the check of lines names."""
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    return round(score * 100) if is_number and abs(score) <= _SCORE_MAX else _or(score, _IMPORTANCE)


def _native(front: Mapping[str, Any]) -> dict[str, Any] | None:
    found = {name: front[other] for name, other in _NATIVE.items() if other in front}
    if "tier" in found:  # then 003 looked at it, and found perhaps none
        found = {"importance_reasons": [], "keywords": [], **found}
    intent = {name: front[other] for name, other in _INTENT.items() if other in front}
    found |= {"intent": intent} if intent else {}
    source = front.get("source")
    found |= {} if _is_source(source) or source is None else {"source": source}
    return found or None


def _is_source(value: Any) -> bool:  # noqa: ANN401 - any value of YAML
    return isinstance(value, str) and value in set(SourceType)


def _source(type_: str) -> dict[str, Any]:
    ids = ("path", "conversation_id", "workflow_run_id", "step_id", "key")
    captured_by = CapturedBy.USER.value
    return {"type": type_, "captured_by": captured_by, **dict.fromkeys(ids)}


def _type_of(category: Any) -> MemoryType:  # noqa: ANN401 - any value of YAML
    is_known = isinstance(category, str) and category in set(Category)
    return TYPE_OF[Category(category)] if is_known else MemoryType.FACT


def _status(said: Any, path: str) -> Status:  # noqa: ANN401 - any value of YAML
    by_folder = Status.ARCHIVED if path.startswith("archive/") else Status.ACTIVE
    return _STATUSES.get(str(said).lower(), by_folder)


def _words(value: Any) -> Any:  # noqa: ANN401 - any value of YAML
    """Tags, which others also write as one text with commas."""
    if isinstance(value, str):
        return [each.strip() for each in value.split(",") if each.strip()]
    return _or(value, [])


def _entities(shown: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any value of YAML
    if shown is None or shown == "":
        return []
    return [{"key": key_of(str(shown)), "label": None}]


def part_edge(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """The edge from a memory of another system to its parent, if it names one."""
    native = value.get("native")
    parent = native.get("parent") if isinstance(native, Mapping) else None
    if not parent:
        return None
    return {"from": value["uid"], "to": str(parent), "type": "PART_OF", "weight": 1.0}
