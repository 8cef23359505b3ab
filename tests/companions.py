"""Companions: short ways to make a persona and to speak with it over HTTP."""

from typing import Any

COACH = "/v1/companions/ada/coach"


def put(api: Any, path: str, body: object) -> Any:
    """PUT JSON."""
    return api.client.put(path, json=body, headers={"X-API-Key": api.key})


def put_persona(api: Any, slug: str = "coach", **values: Any) -> Any:
    """Make a persona, or change it."""
    return put(api, f"/v1/personas/{slug}", {"name": slug.title()} | values)


def say(
    api: Any, content: str = "Hello there.", number: int = 1, path: str = COACH, **changes: Any
) -> Any:
    """Say something to a persona."""
    body = {"message_id": f"m-{number}", "role": "user", "content": content} | changes
    return api.post(f"{path}/messages", body)


def answer(api: Any, content: str = "Hello there.", number: int = 1, **changes: Any) -> Any:
    """What became of a new message."""
    found = say(api, content, number, **changes)
    assert 201 == found.status_code, found.get_json()
    return found.get_json()
