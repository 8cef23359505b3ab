"""Wording: what rules look for in sentences, as the ``wording.toml`` of their package has it."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from graphmem.model.policy.rules import compiled_pattern

_PART = re.compile(r"\{([a-z]+)\}")
_SHARED = "graphmem.text"  # its parts may be named in every file


@cache
def wording(package: str, section: str) -> Mapping[str, Any]:
    """A section of the file of a package, with the parts put in that its texts name."""
    parts: dict[str, str] = {}
    for each in dict.fromkeys((_SHARED, package)):
        for name, text in _file_of(each)["parts"].items():
            parts[name] = _put_in(text, parts)
    found: Mapping[str, Any] = _put_in(_file_of(package)[section], parts)
    return found


@cache
def pattern(package: str, section: str, name: str) -> Any:  # noqa: ANN401 - re2 has no types
    """What one of the lists of wordings of a section matches."""
    found = wording(package, section)[name]
    return compiled_pattern("|".join(f"(?:{each})" for each in found))


@cache
def _file_of(package: str) -> Mapping[str, Any]:
    return tomllib.loads(resources.files(package).joinpath("wording.toml").read_text("utf-8"))


def _put_in(value: Any, parts: Mapping[str, str]) -> Any:  # noqa: ANN401 - any TOML
    if isinstance(value, str):
        return _PART.sub(lambda part: parts[part[1]], value)
    if isinstance(value, list):
        return [_put_in(each, parts) for each in value]
    return {name: _put_in(each, parts) for name, each in value.items()}
