"""Wording: what the rules look for in sentences, as ``wording.toml`` has it."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

_PART = re.compile(r"\{([a-z]+)\}")


@cache
def wording(section: str) -> Mapping[str, Any]:
    """A section of the file, with the parts put in that its texts name."""
    file = resources.files("graphmem.lifecycle").joinpath("wording.toml")
    read = tomllib.loads(file.read_text("utf-8"))
    parts: dict[str, str] = {}
    for name, text in (read["parts"] | {"titles": read["names"]["titles"]}).items():
        parts[name] = _put_in(text, parts)
    found: Mapping[str, Any] = _put_in(read[section], parts)
    return found


def _put_in(value: Any, parts: Mapping[str, str]) -> Any:  # noqa: ANN401 - any TOML
    if isinstance(value, str):
        return _PART.sub(lambda part: parts[part[1]], value)
    if isinstance(value, list):
        return [_put_in(each, parts) for each in value]
    return {name: _put_in(each, parts) for name, each in value.items()}
