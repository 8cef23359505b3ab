"""A server of a language model: it speaks the OpenAI-compatible API and says what it is told to."""

import contextlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

RESPONSES = "/v1/responses"
CHAT = "/v1/chat/completions"

# an object, as JSON; a text as it is; None: the model refuses; an HTTP status; a body as it is
Answer = Mapping[str, Any] | str | None | int | bytes


@dataclass(frozen=True)
class Late:
    """An answer that comes only after some seconds."""

    answer: Answer
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request: where it went and what it said, however it was asked."""

    path: str
    body: Mapping[str, Any]

    @property
    def instructions(self) -> str:
        """What the model is to do."""
        return self.body["instructions"] if self._is_new else self.body["messages"][0]["content"]

    @property
    def text(self) -> str:
        """The text that it is asked about."""
        return self.body["input"] if self._is_new else self.body["messages"][1]["content"]

    @property
    def schema(self) -> Mapping[str, Any]:
        """The schema that its answer is to have."""
        if self._is_new:
            return self.body["text"]["format"]["schema"]
        return self.body["response_format"]["json_schema"]["schema"]

    @property
    def _is_new(self) -> bool:
        return self.path == RESPONSES


class ModelServer:
    """Gives prepared answers in turn, the last one again and again, and keeps what it was asked.

    It serves inside a ``with``. Calls that it does not have take no answer: they get the status
    ``missing``, and are kept too.
    """

    def __init__(
        self,
        *answers: Answer | Late,
        has_responses: bool = True,
        has_chat: bool = True,
        missing: int = 404,
    ) -> None:
        self._answers: list[Answer | Late] = list(answers) or [{}]
        self.has_responses = has_responses
        self.has_chat = has_chat
        self.missing = missing
        self.requests: list[Asked] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and wait for nothing that is late."""
        self._stopped.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def paths(self) -> list[str]:
        """Where the requests went, in order."""
        return [asked.path for asked in self.requests]

    def say(self, *answers: Answer | Late) -> None:
        """Give these answers from now on."""
        with self._lock:
            self._answers = list(answers)

    def reply(self, asked: Asked) -> tuple[int, bytes]:
        """The status and the body of what a request is answered."""
        has_it = {RESPONSES: self.has_responses, CHAT: self.has_chat}.get(asked.path, False)
        with self._lock:
            self.requests.append(asked)
            answer = self._next() if has_it else self.missing
        if isinstance(answer, Late):
            self._stopped.wait(answer.seconds)
            answer = answer.answer
        if isinstance(answer, bytes):
            return 200, answer
        if isinstance(answer, int):
            return answer, _json({"error": {"message": f"status {answer}", "type": "api_error"}})
        text = json.dumps(answer) if isinstance(answer, Mapping) else answer
        return 200, _json(_response(text) if asked.path == RESPONSES else _completion(text))

    def _next(self) -> Answer | Late:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, model: ModelServer, *connection: Any) -> None:
        self._model = model
        super().__init__(*connection)  # which answers at once

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, reply = self._model.reply(Asked(path=self.path, body=body))
        with contextlib.suppress(ConnectionError):  # the caller may have waited long enough
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _response(text: str | None) -> dict[str, Any]:
    """The body of an answer by the Responses API; without a text it is a refusal."""
    refusal = {"type": "refusal", "refusal": "I will not."}
    said = {"type": "output_text", "text": text, "annotations": []}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [refusal if text is None else said],
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": "m",
        "status": "completed",
        "output": [message],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }


def _completion(text: str | None) -> dict[str, Any]:
    """The body of an answer by chat completions; without a text it is a refusal."""
    refusal = "I will not." if text is None else None
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    }


def an_answer(*facts: Any, **changes: Any) -> dict[str, Any]:
    """What a model answers about turns: some facts, and nothing else unless it is named."""
    values = {
        "facts": list(facts),
        "profile_updates": [],
        "entities": [],
        "questions": [],
        "reflection": None,
        "relationships": [],
    }
    return values | changes
