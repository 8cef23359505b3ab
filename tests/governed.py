"""Governed memory: short ways to agree on a contract and to call under it over HTTP."""

from typing import Any

PROFILE = "/v1/governed/assistant"


def agree(api: Any, ai: str = "assistant", **contract: Any) -> dict[str, Any]:
    """Let a contract hold; the whole of it."""
    found = api.client.put(f"/v1/contracts/{ai}", json=contract, headers={"X-API-Key": api.key})
    assert found.status_code in {200, 201}, found.get_json()
    return found.get_json()["contract"]


def called(api: Any, said: str, answered: str = "I see.", **more: Any) -> dict[str, Any]:
    """What a whole call gave."""
    found = api.post(f"{PROFILE}/calls", {"input": said, "output": answered} | more)
    assert 200 == found.status_code, found.get_json()
    return found.get_json()


def recalled(api: Any, asked: str, **more: Any) -> dict[str, Any]:
    """What a recall gave."""
    found = api.post(f"{PROFILE}/recall", {"input": asked} | more)
    assert 200 == found.status_code, found.get_json()
    return found.get_json()


def recorded(api: Any, said: str, answered: str = "I see.", **more: Any) -> dict[str, Any]:
    """What a record gave."""
    found = api.post(f"{PROFILE}/record", {"input": said, "output": answered} | more)
    assert 200 == found.status_code, found.get_json()
    return found.get_json()


def chatted(api: Any, said: str, **more: Any) -> list[dict[str, Any]]:
    """The events of a recall and a record, whose answer says how many messages it was given."""
    before = recalled(api, said, **more)
    given = len(before["context"]["short_term"])
    after = recorded(api, said, f"[mock-model] {said} | mem:st={given}", **more)
    return [*before["events"], *after["events"]]


def kinds(events: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    """The events of some kinds, named without ``memory_``."""
    return [event for event in events if event["type"].removeprefix("memory_") in names]


def why(events: list[dict[str, Any]], *names: str) -> list[tuple[str, str]]:
    """The kinds of events with their rules or reasons."""
    return [
        (event["type"].removeprefix("memory_"), event.get("rule") or event["reason"])
        for event in kinds(events, *names)
    ]
