"""A language model behind an OpenAI-compatible API, over real HTTP."""

import time
from dataclasses import replace

import pytest
from model_server import CHAT, RESPONSES, Late, ModelServer

from graphmem.adapters.language_models import build_language_model
from graphmem.bootstrap import language_model_of
from graphmem.errors import ModelUnavailable, SettingsError
from graphmem.settings import LanguageModelSettings, Settings

SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}}
ANSWER = {"summary": "Ada likes tea."}
both_apis = pytest.mark.parametrize("api", ["responses", "chat"])


@pytest.fixture
def server():
    with ModelServer(ANSWER) as served:
        yield served


def a_model(server, **options):
    return build_language_model("openai:m", url=server.url, **options)


def ask(model):
    return model.answer("Summarise.", "Ada likes tea. Ada likes tea.", schema=SCHEMA)


def test_without_one_there_is_none():
    """No name, no model."""
    assert build_language_model("none") is None


def test_it_needs_a_key_or_an_address():
    """One who gives neither is told so at the start, not at the first question."""
    with pytest.raises(SettingsError, match="need GRAPHMEM__LLM__API_KEY"):
        build_language_model("openai:m")


def test_by_responses_it_is_asked_with_the_schema_and_answers_an_object(server):
    """The Responses API gets instructions, text and schema, and is to store nothing."""
    assert ANSWER == ask(a_model(server, api="responses"))

    (asked,) = server.requests
    assert {
        "model": "m",
        "instructions": "Summarise.",
        "input": "Ada likes tea. Ada likes tea.",
        "temperature": 0,
        "max_output_tokens": 4000,
        "store": False,
        "text": {
            "format": {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}
        },
    } == asked.body
    assert RESPONSES == asked.path


def test_by_chat_it_is_asked_with_the_schema_and_answers_an_object(server):
    """Chat completions get the same in their own form."""
    assert ANSWER == ask(a_model(server, api="chat"))

    (asked,) = server.requests
    assert {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Summarise."},
            {"role": "user", "content": "Ada likes tea. Ada likes tea."},
        ],
        "temperature": 0,
        "max_completion_tokens": 4000,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
        },
    } == asked.body
    assert CHAT == asked.path


def test_a_server_that_has_responses_is_asked_by_nothing_else(server):
    """Auto goes by responses while they are there."""
    model = a_model(server)

    assert [ANSWER, ANSWER] == [ask(model), ask(model)]
    assert [RESPONSES, RESPONSES] == server.paths


@pytest.mark.parametrize("missing", [404, 405, 501])
def test_a_server_that_has_only_chat_is_asked_by_it_in_the_same_call_and_from_then_on(missing):
    """Auto finds out once, and the first caller gets an answer all the same."""
    with ModelServer(ANSWER, has_responses=False, missing=missing) as server:
        model = a_model(server)

        assert [ANSWER, ANSWER] == [ask(model), ask(model)]
        assert [RESPONSES, CHAT, CHAT] == server.paths


def test_that_a_server_has_only_chat_is_no_failure():
    """The breaker counts a call by what chat answers: two failures and the find are not three."""
    with ModelServer(500, 500, ANSWER, has_responses=False) as server:
        model = a_model(server)
        for _ in range(2):
            with pytest.raises(ModelUnavailable):
                ask(model)

        assert [ANSWER, ANSWER] == [ask(model), ask(model)]


def test_a_server_that_had_neither_call_for_a_while_is_asked_by_responses_again():
    """A model that is not there yet, or a gateway that starts, says nothing about the API."""
    with ModelServer(ANSWER, has_responses=False, has_chat=False) as server:
        model = a_model(server)
        with pytest.raises(ModelUnavailable, match="NotFoundError"):
            ask(model)
        server.has_responses = server.has_chat = True

        assert ANSWER == ask(model)
        assert [RESPONSES, CHAT, RESPONSES] == server.paths


def test_by_responses_alone_a_server_without_them_does_not_answer():
    """Who asks for one API gets no other."""
    with ModelServer(ANSWER, has_responses=False) as server:
        with pytest.raises(ModelUnavailable, match="NotFoundError"):
            ask(a_model(server, api="responses"))

        assert [RESPONSES] == server.paths


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_what_fails_otherwise_is_not_asked_by_chat(server, status):
    """Auto takes only the lack of the call for a reason to ask in another way, and once."""
    server.say(status)

    with pytest.raises(ModelUnavailable, match="does not answer"):
        ask(a_model(server))

    assert [RESPONSES] == server.paths


@both_apis
@pytest.mark.parametrize(
    "said",
    ["not JSON", '{"summary": "Ada li', "[1]", "", None],
    ids=["words", "cut off", "a list", "nothing", "a refusal"],
)
def test_what_is_no_object_is_no_answer(server, api, said):
    """Rules take over wherever there is no object to judge."""
    server.say(said)

    with pytest.raises(ModelUnavailable, match="did not answer"):
        ask(a_model(server, api=api))


@both_apis
@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b'{"output": [',
        b"{}",
        b"[]",
        b'{"output": [], "choices": []}',
        b'{"output": [], "choices": [{"message": {"content": [{"type": "text"}]}}]}',
    ],
    ids=["a page", "cut off", "nothing in it", "a list", "no text", "a text in parts"],
)
def test_a_body_of_another_form_is_no_answer(server, api, body):
    """What stands between us and the model may answer too, and in its own way."""
    server.say(body)

    with pytest.raises(ModelUnavailable, match="did not answer"):
        ask(a_model(server, api=api))


@both_apis
def test_a_model_that_takes_too_long_is_not_waited_for(server, api):
    """The limit of time holds, and nothing is tried again."""
    server.say(Late(ANSWER, seconds=5))
    began = time.monotonic()

    with pytest.raises(ModelUnavailable, match="APITimeoutError"):
        ask(a_model(server, api=api, timeout_seconds=0.2))

    assert time.monotonic() - began < 2
    assert 1 == len(server.requests)


@both_apis
@pytest.mark.parametrize("failure", [500, "not JSON"], ids=["a status", "nonsense"])
def test_after_three_failures_it_is_left_alone_for_a_while(server, api, failure):
    """The fourth question is not even asked."""
    server.say(failure)
    model = a_model(server, api=api)

    for _ in range(3):
        with pytest.raises(ModelUnavailable):
            ask(model)
    with pytest.raises(ModelUnavailable, match="asked again in a minute"):
        ask(model)

    assert 3 == len(server.requests)


@pytest.mark.parametrize(
    ("api", "path"), [("auto", RESPONSES), ("responses", RESPONSES), ("chat", CHAT)]
)
def test_the_settings_say_by_which_api_it_is_asked(server, api, path):
    """The setting reaches the model that bootstrap builds."""
    llm = LanguageModelSettings(name="openai:m", base_url=server.url, api=api)

    assert ANSWER == ask(language_model_of(replace(Settings(), llm=llm)))
    assert [path] == server.paths
