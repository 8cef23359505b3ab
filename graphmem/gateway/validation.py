"""Validation: all that is wrong with a write request, at once, under the path of each field.

The rules are checked over plain values by name, so that the HTTP schemas can report them together
with problems of form. A field that is absent is not checked.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import Any

from graphmem.model.entity import EntityRef, entity_key
from graphmem.model.policy import WritePolicy
from graphmem.model.source import Source, SourceType
from graphmem.model.space import parse_writable_space
from graphmem.text.normalise import is_storable, normalise, one_line, shows_something, with_layout

# the form in which each text is kept, and measured
TEXT_FORMS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "content": with_layout,
        "summary": one_line,
        "actor": one_line,
        "context": normalise,
        "logical_key": normalise,
    }
)
RESERVED_METADATA_KEYS = frozenset(
    "uid key space tenant owner persona user_id agent_id session_id actor status authority native"
    " created_at updated_at expires_at embedding version".split()
)
_UID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_REFERENCES = ("updates", "contradicts", "related_to", "caused_by", "part_of")
_REQUIRED_BY_SOURCE = {
    SourceType.WORKFLOW_OUTPUT: ("workflow_run_id", "step_id"),
    SourceType.CHANNEL_TRANSCRIPT: ("conversation_id",),
    SourceType.INGEST_FILE: ("path",),
}
_MISSING_OF_SOURCE = {
    "workflow_run_id": "MissingWorkflowRunId",
    "step_id": "MissingStepId",
    "conversation_id": "MissingConversationId",
    "path": "MissingSourcePath",
}
UID_FORM = "Must be 1 to 128 of A-Z a-z 0-9 . _ - :"
NOT_STORABLE = "Must not contain NUL or lone surrogates."

_PROBLEMS_MAX = 20  # that are told of one request
_RAW_LENGTH = 4  # times as long as it may be in its form is a text that is not looked at
_NEEDED = {"content", "summary", "uid"}  # by 002
Report = Callable[[str, str], None]


class _EnoughError(Exception):
    """More problems would help nobody."""


def problems(fields: Mapping[str, Any], policy: WritePolicy) -> dict[str, list[str]]:
    """What is wrong with a request, by field path, at most 20 of it; empty when all is well."""
    return collected(lambda report: _check_all(fields, policy, report))


def collected(check: Callable[[Report], None]) -> dict[str, list[str]]:
    """What a check reports, by field path, at most 20 of it."""
    found: dict[str, list[str]] = defaultdict(list)

    def report(path: str, problem: str) -> None:
        found[path].append(problem)
        if sum(map(len, found.values())) >= _PROBLEMS_MAX:
            raise _EnoughError

    with suppress(_EnoughError):
        check(report)
    return dict(found)


def _check_all(fields: Mapping[str, Any], policy: WritePolicy, report: Report) -> None:
    _check_space(fields, report)
    _check_texts(fields, policy, report)
    _check_uids(fields, policy, report)
    _check_scales(fields, report)
    _check_tags(fields.get("tags") or (), policy, report)
    _check_entities(fields.get("entities") or (), policy, report)
    _check_metadata(fields.get("metadata"), policy, report)
    check_json("native", fields.get("native"), policy, report)
    for path, source in _sources(fields):
        _check_source(path, source, policy, report)
    _check_interval(fields, report)


def is_uid(text: str) -> bool:
    """Whether a text can be the uid of a memory."""
    return _UID.fullmatch(text) is not None


def _check_space(fields: Mapping[str, Any], report: Report) -> None:
    if isinstance(name := fields.get("space"), str):
        try:
            parse_writable_space(name, tenant="")
        except ValueError as error:
            report("space", str(error))


def _check_texts(fields: Mapping[str, Any], policy: WritePolicy, report: Report) -> None:
    limits = {
        "content": policy.content_max_chars,
        "summary": policy.summary_max_chars,
        "context": policy.context_max_chars,
        "actor": policy.name_max_chars,
        "logical_key": policy.name_max_chars,
    }
    for name, limit in limits.items():
        if isinstance(text := fields.get(name), str):
            check_text(name, text, limit, report, TEXT_FORMS[name])
    content = fields.get("content")
    if not isinstance(content, str) or len(content) > _RAW_LENGTH * policy.content_max_chars:
        return
    if with_layout(content) and not shows_something(content):
        report("content", "Shows nothing: it has no character that can be seen.")


def check_text(
    path: str,
    text: str,
    limit: int,
    report: Report,
    form: Callable[[str], str] = one_line,
) -> None:
    """Check the length of a text in the form that it is kept in, and whether it can be kept."""
    if len(text) > _RAW_LENGTH * limit:
        report(path, f"Must be 1 to {limit:,} characters, is {len(text):,}.")
        return
    if not is_storable(text):
        report(path, NOT_STORABLE)
        return
    length = len(form(text))
    if not 1 <= length <= limit:
        failure = " (MissingField)" if not length and path in _NEEDED else ""
        said = f"Must be 1 to {limit:,} characters after normalisation, is {length:,}{failure}."
        report(path, said)


def _check_uids(fields: Mapping[str, Any], policy: WritePolicy, report: Report) -> None:
    for name in ("uid", "proposed_uid", "after"):
        if isinstance(uid := fields.get(name), str) and not is_uid(uid):
            report(name, UID_FORM)
    for name in _REFERENCES:
        uids = fields.get(name) or ()
        if len(uids) > policy.references_max:
            report(name, f"At most {policy.references_max}.")
        for index, uid in enumerate(uids):
            if not is_uid(uid):
                report(f"{name}.{index}", "Must be the uid of a memory.")


def _check_scales(fields: Mapping[str, Any], report: Report) -> None:
    importance, confidence = fields.get("importance"), fields.get("confidence")
    if importance is not None and not 0 <= importance <= 100:  # noqa: PLR2004 - the scale
        report("importance", "Must be an integer from 0 to 100 (ImportanceOutOfRange).")
    if confidence is not None and not (math.isfinite(confidence) and 0 <= confidence <= 1):
        report("confidence", "Must be a number from 0 to 1 (ConfidenceOutOfRange).")


def _check_tags(tags: Iterable[str], policy: WritePolicy, report: Report) -> None:
    for index, tag in enumerate(tags):
        if index == policy.tags_max:
            report("tags", f"At most {policy.tags_max}.")
            return
        check_text(f"tags.{index}", tag, policy.tag_max_chars, report)


def _check_entities(entities: Iterable[EntityRef], policy: WritePolicy, report: Report) -> None:
    for index, ref in enumerate(entities):
        if index == policy.entities_max:
            report("entities", f"At most {policy.entities_max}.")
            return
        if not is_storable(ref.key):
            report(f"entities.{index}.key", NOT_STORABLE)
        elif len(ref.key) > policy.name_max_chars:
            report(f"entities.{index}.key", f"At most {policy.name_max_chars} characters.")
        else:
            try:
                entity_key(ref.key)
            except ValueError as error:
                report(f"entities.{index}.key", str(error))
        if ref.label is not None:
            check_text(f"entities.{index}.label", ref.label, policy.label_max_chars, report)


def _check_metadata(metadata: Any, policy: WritePolicy, report: Report) -> None:  # noqa: ANN401 - any JSON
    if metadata is None:
        return
    for name in sorted(RESERVED_METADATA_KEYS & set(metadata)):
        report(f"metadata.{name}", "Is a reserved key.")
    check_json("metadata", metadata, policy, report)


def check_json(path: str, value: Any, policy: WritePolicy, report: Report) -> None:  # noqa: ANN401
    """Check the limits of a JSON object: its depth, its numbers, its texts and its size."""
    depth, most = policy.metadata_max_depth, policy.metadata_max_bytes
    if value is not None and (problem := json_problem(value, depth=depth, most_bytes=most)):
        report(path, problem)


def json_problem(value: Any, *, depth: int, most_bytes: int) -> str | None:  # noqa: ANN401 - any JSON
    """What is wrong with a JSON object: its depth, its numbers, its texts or its size."""
    if _is_deeper(value, depth):
        return f"At most {depth} levels deep."
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError):
        return "Must be a JSON object of finite numbers."
    if not is_storable(text) or "\\u0000" in text.replace("\\\\", ""):
        return NOT_STORABLE
    if len(text.encode()) > most_bytes:
        return f"At most {most_bytes:,} bytes as JSON."
    return None


def _is_deeper(value: Any, levels: int) -> bool:  # noqa: ANN401 - any JSON
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(part, levels - 1) for part in inner)


def _sources(fields: Mapping[str, Any]) -> Iterable[tuple[str, Source]]:
    """The sources of a request, each with its path."""
    if source := fields.get("source"):
        yield "source", source
    for number, more in enumerate(fields.get("sources") or ()):
        yield f"sources.{number}", more


def _check_source(path: str, source: Source, policy: WritePolicy, report: Report) -> None:
    for name in ("path", "conversation_id", "workflow_run_id", "step_id", "key"):
        if (text := getattr(source, name)) is not None:
            check_text(f"{path}.{name}", text, policy.name_max_chars, report)
    for name in _REQUIRED_BY_SOURCE.get(source.type, ()):
        if not getattr(source, name):
            failure = _MISSING_OF_SOURCE[name]
            report(f"{path}.{name}", f"Is required for a source of type {source.type} ({failure}).")


def _check_interval(fields: Mapping[str, Any], report: Report) -> None:
    for name in (
        "occurred_at",
        "valid_from",
        "valid_until",
        "expires_at",
        "created_at",
        "updated_at",
    ):
        moment = fields.get(name)
        if isinstance(moment, datetime) and moment.tzinfo is None:
            report(name, "Must have a zone.")
            return
    start, end = fields.get("valid_from"), fields.get("valid_until")
    if start and end and end < start:
        report("valid_until", "Must not be before valid_from.")
