"""The examples of the docs, so that tests send what readers copy."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_DOCS = Path(__file__).parents[1] / "docs"
_HTTP_API = _DOCS / "http-api.md"


def example(heading: str) -> Any:
    """The first JSON example of docs/http-api.md behind a heading."""
    text = _HTTP_API.read_text("utf-8").partition(heading)[2].partition("```json\n")[2]
    return json.loads(text.partition("```")[0])


def walk_through(api: Any, page: str) -> Iterator[Any]:
    """What each curl command of the walk through of a page of the docs answers."""
    text = (_DOCS / page).read_text("utf-8")
    walk = text.partition("## Walk through")[2].partition("\n## ")[0]
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", walk, re.DOTALL))
    commands = [each for each in re.split(r"\n(?=curl )", blocks) if each.startswith("curl ")]
    for command in commands:
        words = shlex.split(command.replace("$API", ""))
        path = next(word for word in words if word.startswith("/v1/"))
        usual = "POST" if "-d" in words else "GET"
        method = words[words.index("-X") + 1] if "-X" in words else usual
        body = json.loads(words[words.index("-d") + 1]) if "-d" in words else None
        yield api.client.open(path, method=method, json=body, headers={"X-API-Key": api.key})
