"""Plain JSON: what files hold, as values that can be stored. Pure."""

import json
from typing import Any

from graphmem.errors import InvalidInput


def plain(value: Any) -> Any:  # noqa: ANN401 - any value of YAML or JSON
    """A value as JSON says it.

    Raises:
        ValueError, TypeError, RecursionError: JSON has no such value, or a text in it is half a
            character.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    text.encode()  # lone surrogates end here
    return json.loads(text)


def parsed(text: str) -> Any:  # noqa: ANN401 - any JSON
    """What JSON holds.

    Raises:
        InvalidInput: it is none that can be stored.
    """
    try:
        return plain(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InvalidInput({"file": ["Is not JSON in UTF-8."]}) from error
