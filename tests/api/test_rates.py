"""How often a key may call."""

from dataclasses import replace

import pytest

from api.app import create_app
from graphmem.model.caller import Role


@pytest.fixture
def limited(api):
    """The API with three calls a minute for each key."""
    graphmem = api.house.graphmem
    server = replace(graphmem.settings.server, calls_per_minute=3)
    app = create_app(replace(graphmem, settings=replace(graphmem.settings, server=server)))
    return replace(api, client=app.test_client())


def test_the_fourth_call_of_a_key_in_a_minute_is_told_when_to_try_again(limited):
    other = limited.with_key(Role.READER, "*")
    answers = [limited.get("/v1/spaces") for _ in range(4)]

    assert [200, 200, 200, 429] == [answer.status_code for answer in answers]
    assert "too_many_requests" == answers[3].get_json()["error"]["code"]
    assert 1 <= int(answers[3].headers["Retry-After"]) <= 60
    assert 200 == other.get("/v1/spaces").status_code
    assert 200 == limited.get("/health/live").status_code


def test_without_the_setting_no_calls_are_counted(api):
    assert {200} == {api.get("/v1/spaces").status_code for _ in range(50)}
