"""The examples of the docs, so that tests send what readers copy."""

import json
from pathlib import Path
from typing import Any

_HTTP_API = Path(__file__).parents[1] / "docs" / "http-api.md"


def example(heading: str) -> Any:
    """The first JSON example of docs/http-api.md behind a heading."""
    text = _HTTP_API.read_text("utf-8").partition(heading)[2].partition("```json\n")[2]
    return json.loads(text.partition("```")[0])
