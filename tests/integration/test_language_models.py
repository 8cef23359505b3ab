"""A language model behind an OpenAI-compatible API, over real HTTP."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from graphmem.adapters.language_models import build_language_model
from graphmem.errors import ModelUnavailable, SettingsError

SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}}


class ChatServer:
    """Speaks the chat API and answers what it is told to; it keeps what it was asked."""

    def __init__(self):
        self.text = '{"summary": "Ada likes tea."}'
        self.status = 200
        self.answers = threading.Event()
        self.answers.set()
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                outer.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                outer.answers.wait(5)
                message = {"role": "assistant", "content": outer.text}
                answer = {
                    "id": "x",
                    "object": "chat.completion",
                    "created": 0,
                    "model": "m",
                    "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                }
                body = json.dumps(answer).encode()
                self.send_response(outer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@pytest.fixture
def chat():
    served = ChatServer()
    thread = threading.Thread(target=served.server.serve_forever)
    thread.start()
    yield served
    served.answers.set()
    served.server.shutdown()
    thread.join()
    served.server.server_close()


def a_model(chat, **options):
    return build_language_model("openai:m", url=chat.url, **options)


def test_without_one_there_is_none():
    assert build_language_model("none") is None


def test_it_needs_a_key_or_an_address():
    with pytest.raises(SettingsError, match="need GRAPHMEM__LLM__API_KEY"):
        build_language_model("openai:m")


def test_it_is_asked_with_the_schema_and_answers_an_object(chat):
    answer = a_model(chat).answer("Summarise.", "Ada likes tea. Ada likes tea.", schema=SCHEMA)

    assert {"summary": "Ada likes tea."} == answer
    (asked,) = chat.asked
    assert SCHEMA == asked["response_format"]["json_schema"]["schema"]
    assert ["system", "user"] == [message["role"] for message in asked["messages"]]
    assert 0 == asked["temperature"]


@pytest.mark.parametrize("text", ["not JSON", "[1]", None], ids=["words", "a list", "nothing"])
def test_what_is_no_object_is_no_answer(chat, text):
    chat.text = text

    with pytest.raises(ModelUnavailable, match="did not answer"):
        a_model(chat).answer("i", "t", schema=SCHEMA)


def test_a_model_that_takes_too_long_is_not_waited_for(chat):
    chat.answers.clear()
    began = time.monotonic()

    with pytest.raises(ModelUnavailable, match="APITimeoutError"):
        a_model(chat, timeout_seconds=0.2).answer("i", "t", schema=SCHEMA)

    assert time.monotonic() - began < 2


def test_after_three_failures_it_is_left_alone_for_a_while(chat):
    chat.status = 500
    model = a_model(chat)

    for _ in range(3):
        with pytest.raises(ModelUnavailable):
            model.answer("i", "t", schema=SCHEMA)
    with pytest.raises(ModelUnavailable, match="asked again in a minute"):
        model.answer("i", "t", schema=SCHEMA)

    assert 3 == len(chat.asked)
