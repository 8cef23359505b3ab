"""Front matter: a mapping in YAML between two lines of dashes, and the text behind it. Pure.

Words of YAML count as in its version 1.2: ``no`` is a word, ``010`` is one too, and so is a date.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

from graphmem.errors import InvalidInput
from graphmem.lifecycle.files.plain_json import plain

_BASE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C, where it is there
_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[ ./-][A-Za-z0-9_]+)*")  # needs no quotes
_ENDLESS = 2**31  # characters, after which a line is broken


class Page(NamedTuple):
    """What the front matter of a file says, None where there is none, and the text behind it."""

    front: Mapping[str, Any] | None
    text: str


class _Loader(_BASE):  # type: ignore[misc, valid-type]
    """Reads plain values, with none of the surprises of older versions."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own attribute


for _tag, _form, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+",
        list("-+.0123456789"),
    ),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_form})\Z"), _first
    )


class _Dumper(yaml.SafeDumper):
    """Writes each text so that every version of YAML reads it as one."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401, ARG002 - PyYAML's own
        """Write what comes twice twice."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if _PLAIN.fullmatch(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def page_text(front: Mapping[str, Any], text: str) -> str:
    """A file with front matter."""
    head = yaml.dump(
        dict(front), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_ENDLESS
    )
    return f"---\n{head}---\n\n{text}\n"


def read_page(file: str) -> Page:
    """What a file says; a text has one blank line before it and one line end behind it.

    Raises:
        InvalidInput: its front matter does not end, or is no mapping in plain YAML.
    """
    opening = _OPENING.match(file)
    if opening is None:
        return Page(None, file)
    closing = _CLOSING.search(file, opening.end())
    if closing is None:
        raise InvalidInput({"front matter": ["Does not end with a line of ---."]})
    front = _mapping(file[opening.end() : closing.start()])
    text = file[closing.end() :].removeprefix("\n").removesuffix("\n")
    return Page(front, text)


def _mapping(text: str) -> Mapping[str, Any]:
    try:
        if "*" in text and any(
            isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=_Loader)
        ):
            raise InvalidInput({"front matter": ["Must not refer to parts of itself."]})
        found = plain(yaml.load(text, Loader=_Loader))  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise InvalidInput({"front matter": [f"Is not YAML: {_first_line(error)}."]}) from error
    if not isinstance(found, Mapping):
        raise InvalidInput({"front matter": ["Must be names with values."]})
    return found


def _first_line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or type(error).__name__
    return f"{problem}, line {mark.line + 2}" if mark else str(problem)
