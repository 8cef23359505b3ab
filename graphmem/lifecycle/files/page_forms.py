"""Page forms: the profile and the identity of a space as one page each, and back. Pure.

Behind each line of the profile, and above each reflection, a comment says what it is.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.lifecycle.files.dates import EPOCH, moment_text
from graphmem.lifecycle.files.names import made_uid
from graphmem.lifecycle.files.plain_json import parsed
from graphmem.text.normalise import one_line
from graphmem.text.times import iso

PROFILE_HEAD, IDENTITY_HEAD = "# Profile\n\n", "# Identity\n"
_COMMENT = re.compile(r"(?P<text>.*?)[ \t]*<!-- (?P<said>\{[^<>]*\}) -->[ \t]*", re.DOTALL)
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+(?P<text>.*)", re.DOTALL)
_REFLECTION = "<!-- reflection "
_ESCAPED = re.compile(r"^(\\*<!-- reflection )", re.MULTILINE)
_UNESCAPED = re.compile(r"^\\(\\*<!-- reflection )", re.MULTILINE)
_MARK = re.compile(r"^<!-- reflection (\{[^<>]*\}) -->[ \t]*\r?$\n?", re.MULTILINE)
_DATED = re.compile(r"^#{2,6}[ \t]+(\d{4}-\d{2}-\d{2}\S*)[ \t]*$", re.MULTILINE)


def _comment(values: Mapping[str, Any]) -> str:
    """Values as JSON that no comment ends in."""
    said = {name: value for name, value in values.items() if value is not None}
    text = json.dumps(said, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _values(text: str) -> dict[str, Any]:
    """The values of a comment; none where it is another one."""
    try:
        found = parsed(text)
    except InvalidInput:
        return {}
    return found if isinstance(found, dict) else {}


def profile_line(line: Mapping[str, Any], shown: str) -> str:
    """A line of the profile as it is shown; one that was dropped stands in its comment alone."""
    bullet = "" if line["dropped_at"] else _printed(shown)
    values = {
        "id": line["uid"],
        "memories": line["memories"],
        "importance": line["importance"],
        "created": line["noted_at"],
        "extraction": line["extraction"],
        "dropped": line["dropped_at"],
        "worded": False if line["text"] is None else None,
        "text": None if line["text"] == bullet else line["text"],
    }
    return f"{f'- {bullet} ' if bullet else ''}<!-- {_comment(values)} -->\n"


def _printed(text: str) -> str:
    """A text on one line, whatever ends lines in it."""
    return " ".join(one_line(text).split())


def profile_value(line: str) -> dict[str, Any] | None:
    """A line of a profile; one of another system has a text and no more. None where it is none."""
    found = _COMMENT.fullmatch(line.rstrip("\r\n"))
    values = _values(found["said"]) if found else {}
    bullet = _BULLET.fullmatch(found["text"] if found else line.rstrip("\r\n"))
    text = bullet["text"].strip() if bullet else ""
    if "id" in values:
        return _own_line(values, text)
    return {"text": text} if text else None


def _own_line(values: Mapping[str, Any], text: str) -> dict[str, Any]:
    return {
        "uid": values["id"],
        "text": values.get("text", text) if values.get("worded", True) else None,
        "memories": values.get("memories"),
        "importance": values.get("importance"),
        "noted_at": values.get("created"),
        "extraction": values.get("extraction"),
        "dropped_at": values.get("dropped"),
    }


def reflection(line: Mapping[str, Any]) -> str:
    """A reflection with its comment above it."""
    values = {
        "id": line["uid"],
        "created": line["noted_at"],
        "extraction": line["extraction"],
        "dropped": line["dropped_at"],
    }
    text = _ESCAPED.sub(r"\\\1", line["text"])
    return f"\n{_REFLECTION}{_comment(values)} -->\n{text}\n"


def identity_values(text: str) -> Iterator[dict[str, Any]]:
    """The reflections of a page; one of another system is what stands below the head of a day."""
    parts = _MARK.split(text)
    if len(parts) == 1:
        yield from _foreign_reflections(text)
    for at in range(1, len(parts), 2):
        values, words = _values(parts[at]), parts[at + 1]
        gap = "\n" if at + 2 == len(parts) else "\n\n"
        yield {
            "uid": values.get("id"),
            "text": _UNESCAPED.sub(r"\1", words.removesuffix(gap)),
            "noted_at": values.get("created"),
            "extraction": values.get("extraction"),
            "dropped_at": values.get("dropped"),
        }


def _foreign_reflections(text: str) -> Iterator[dict[str, Any]]:
    parts = _DATED.split(text)
    first = "\n".join(line for line in parts[0].split("\n") if not line.startswith("# "))
    for day, words in [(iso(EPOCH), first), *zip(parts[1::2], parts[2::2], strict=True)]:
        if said := words.strip():
            noted = moment_text("date", day)
            yield {"uid": made_uid("reflection", day, said), "text": said, "noted_at": noted}
