"""Entity form: an entity as a file with its name, what it is, facts and relations. Pure.

The facts and relations in it are for reading: memories and relations are told apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.lifecycle.entity_matching import own_type, shown_key
from graphmem.lifecycle.files.dates import moment_text
from graphmem.lifecycle.files.differences import unsaid, with_ours, with_unsaid, with_value
from graphmem.lifecycle.files.entity_keys import key_of
from graphmem.lifecycle.files.front_matter import Page, page_text
from graphmem.text.normalise import one_line

_HEADING, _SECTION = "# ", "## "


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownOfIt:
    """What a file shows beside its entity: the newest facts, and how it stands to others."""

    facts: Sequence[str] = ()
    connections: Sequence[str] = ()


def outgoing(label: str, key: str) -> str:
    """How an entity stands to another one."""
    return f"{label} → {shown_key(key)}"


def incoming(label: str, key: str) -> str:
    """How another entity stands to one."""
    return f"{shown_key(key)} → {label}"


def entity_file(line: Mapping[str, Any], known: KnownOfIt, *, is_declared: bool = True) -> str:
    """The file of an entity; one that is only mentioned says so."""
    front = with_value(
        {
            "id": shown_key(line["key"]),
            "type": own_type(line["key"]),
            "name": line["label"],
            "created": line["created_at"],
            "updated": line["updated_at"],
            "aliases": line["aliases"],
            "attributes": line["attributes"],
        }
    )
    text = _text(line, known)
    more = unsaid(line, _said(front, text, ""))
    if not is_declared:
        more["mentioned_only"] = True
    return page_text(with_ours(front, more), text)


def _text(line: Mapping[str, Any], known: KnownOfIt) -> str:
    parts = [f"{_HEADING}{one_line(line['label'])}"]
    parts += [line["description"]] if line["description"] else []
    parts += _listed("Facts", known.facts)
    parts += _listed("Connections", known.connections)
    return "\n\n".join(parts)


def _listed(heading: str, texts: Iterable[str]) -> list[str]:
    lines = "\n".join(f"- {one_line(text)}" for text in texts)
    return [f"{_SECTION}{heading}\n\n{lines}"] if lines else []


def entity_value(page: Page, path: str) -> dict[str, Any] | None:
    """The value of the line of an entity that a file holds; None where it is only mentioned."""
    front = page.front or {}
    value = with_unsaid(_said(front, page.text, path), front)
    return None if value.pop("mentioned_only", False) else value


def _said(front: Mapping[str, Any], text: str, path: str) -> dict[str, Any]:
    stem = path.rpartition("/")[2].removesuffix(".md")
    key = _key(front, stem)
    aliases = front.get("aliases")
    return {
        "key": key,
        "label": str(front.get("name") or _heading(text) or key.partition(":")[2]),
        "aliases": aliases if isinstance(aliases, list) else [],
        "description": front.get("summary") or _described(text) or None,
        "attributes": front.get("attributes") or {},
        "created_at": moment_text("created", front.get("created")),
        "updated_at": moment_text("updated", front.get("updated")),
    }


def _key(front: Mapping[str, Any], stem: str) -> str:
    shown = str(front.get("id") or front.get("key") or stem)
    type_ = front.get("type")
    is_typed = type_ is None or shown.startswith(f"{type_}-")
    return key_of(shown if is_typed else f"{type_}-{shown}")


def _heading(text: str) -> str:
    lines = (line for line in text.splitlines() if line.startswith(_HEADING))
    return next(lines, "").removeprefix(_HEADING).strip()


def _described(text: str) -> str:
    """What stands between the heading of a file and its first section."""
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if line.startswith(_HEADING)), -1)
    behind = lines[start + 1 :]
    end = next((at for at, line in enumerate(behind) if line.startswith(_SECTION)), len(behind))
    return "\n".join(behind[:end]).strip()
