"""Language models: none, or one behind an OpenAI-compatible HTTP API."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pybreaker

from graphmem.errors import ModelUnavailable, SettingsError
from graphmem.ports import LanguageModel

_FAILURES_MAX = 3  # in a row, after which the model is left alone for a while
_REST_SECONDS = 60.0
_ANSWER_MAX_TOKENS = 4_000
_NO_SUCH_CALL = {404, 405, 501}


def build_language_model(
    name: str,
    *,
    key: str | None = None,
    url: str | None = None,
    api: str = "auto",
    timeout_seconds: float = 20.0,
) -> LanguageModel | None:
    """The model of a name, ``none`` or ``openai:<model>``.

    Without one, deterministic rules do its work. It is asked by an ``api``: ``responses``,
    ``chat``, or ``auto``, which is chat where the server has no responses.

    Raises:
        SettingsError: it has neither a key nor an address.
    """
    if name == "none":
        return None
    return OpenAILanguageModel(
        name.partition(":")[2], key=key, url=url, api=api, timeout_seconds=timeout_seconds
    )


class OpenAILanguageModel:
    """A model that answers in JSON of a schema.

    After three failures in a row it is not asked for a minute.
    """

    def __init__(
        self, model: str, *, key: str | None, url: str | None, api: str, timeout_seconds: float
    ) -> None:
        from openai import OpenAI  # noqa: PLC0415 - a heavy import that a service without a model need not pay

        if not key and not url:
            msg = "openai: language models need GRAPHMEM__LLM__API_KEY or GRAPHMEM__LLM__BASE_URL."
            raise SettingsError(msg)
        self._client = OpenAI(
            api_key=key or "none", base_url=url, timeout=timeout_seconds, max_retries=0
        )
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._api = api
        self._is_chat_only = False  # whether the server was found to have chat alone
        self._breaker = pybreaker.CircuitBreaker(
            fail_max=_FAILURES_MAX, reset_timeout=_REST_SECONDS
        )
        self.name = f"openai:{model}"

    def answer(
        self, instructions: str, text: str, *, schema: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """What the model says about a text; what is no JSON object is a failure too."""
        answered: Mapping[str, Any] = self._called(
            lambda: _object(self._ask(_Question(instructions, text, schema)))
        )
        return answered

    def said(
        self,
        instructions: str,
        text: str,
        *,
        schema: Mapping[str, Any],
        timeout_seconds: float | None = None,
    ) -> str:
        """The words of what the model says about a text."""
        question = _Question(instructions, text, schema, timeout_seconds)
        answered: str = self._called(lambda: self._ask(question))
        return answered

    def _called(self, ask: Callable[[], Any]) -> Any:  # noqa: ANN401 - what it gives
        """What a call gives, unless the model failed too often."""
        try:
            return self._breaker.call(ask)
        except pybreaker.CircuitBreakerError as error:
            msg = "The language model failed too often; it is asked again in a minute."
            raise ModelUnavailable(msg) from error

    def _ask(self, question: "_Question") -> str:
        from openai import OpenAIError  # noqa: PLC0415

        try:
            return self._text(question) or ""
        except OpenAIError as error:
            msg = f"The language model does not answer: {type(error).__name__}."
            raise ModelUnavailable(msg) from error
        except (AttributeError, TypeError, ValueError) as error:  # openai lets any body through
            msg = "The language model did not answer in the form of its API."
            raise ModelUnavailable(msg) from error

    def _text(self, question: "_Question") -> str | None:
        """The text of an answer, by the API of the setting or the one that the server has."""
        from openai import APIStatusError  # noqa: PLC0415

        if self._api == "chat" or self._is_chat_only:
            return self._by_chat(question)
        try:
            return self._by_responses(question)
        except APIStatusError as error:
            if self._api == "responses" or error.status_code not in _NO_SUCH_CALL:
                raise
        answered = self._by_chat(question)
        self._is_chat_only = True  # known by now: a model that is not there is 404 by chat too
        return answered

    def _by_responses(self, question: "_Question") -> str:
        response = self._client.responses.create(
            model=self._model,
            instructions=question.instructions,
            input=question.text,
            timeout=question.timeout_seconds or self._timeout_seconds,
            temperature=0,
            max_output_tokens=_ANSWER_MAX_TOKENS,
            store=False,  # as it is by chat: else the server keeps what memories say
            text={
                "format": {
                    "type": "json_schema",
                    "name": "answer",
                    "schema": dict(question.schema),
                    "strict": True,
                }
            },
        )
        return response.output_text

    def _by_chat(self, question: "_Question") -> str | None:
        response = self._client.chat.completions.create(
            model=self._model,
            messages=[
                {"role": "system", "content": question.instructions},
                {"role": "user", "content": question.text},
            ],
            timeout=question.timeout_seconds or self._timeout_seconds,
            temperature=0,
            max_completion_tokens=_ANSWER_MAX_TOKENS,
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(question.schema), "strict": True},
            },
        )
        return response.choices[0].message.content if response.choices else None


@dataclass(frozen=True, slots=True)
class _Question:
    """What a model is asked, and how long it may take where that is not the usual time."""

    instructions: str
    text: str
    schema: Mapping[str, Any]
    timeout_seconds: float | None = None


def _object(text: str | None) -> Mapping[str, Any]:
    try:
        answered = json.loads(text or "")
    except (TypeError, ValueError) as error:
        msg = "The language model did not answer in JSON."
        raise ModelUnavailable(msg) from error
    if not isinstance(answered, dict):
        msg = "The language model did not answer with an object."
        raise ModelUnavailable(msg)
    return answered
