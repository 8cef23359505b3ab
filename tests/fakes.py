"""Fakes: real, small implementations of the ports."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem.adapters.embedders import HashEmbedder
from graphmem.errors import ModelUnavailable
from graphmem.ports import Vector


class FixedClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: datetime | None = None) -> None:
        self._now = now or datetime(2026, 3, 1, 9, 30, tzinfo=UTC)

    def now(self) -> datetime:
        """The moment it stands at."""
        return self._now

    def advance(self, **time: float) -> None:
        """Move it: ``advance(days=3)``."""
        self._now += timedelta(**time)


class SequentialIds:
    """Ids that count: ``memory-0001``."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def new(self, kind: str) -> str:
        """The next id of a kind."""
        self._counts[kind] += 1
        return f"{kind}-{self._counts[kind]:04}"


class BreakableEmbedder:
    """The hash embedder with a switch: while it is broken, it does not answer."""

    def __init__(self) -> None:
        self._inner = HashEmbedder()
        self.is_broken = False
        self.refuses: str | None = None  # a part of texts that it never takes
        self.name = self._inner.name
        self.dimensions = self._inner.dimensions

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors, or ModelUnavailable."""
        self._check()
        if self.refuses and any(self.refuses in text for text in texts):
            raise ModelUnavailable
        return self._inner.embed(texts)

    def embed_query(self, text: str) -> Vector:
        """A vector, or ModelUnavailable."""
        self._check()
        return self._inner.embed_query(text)

    def _check(self) -> None:
        if self.is_broken:
            raise ModelUnavailable


class ScriptedModel:
    """A language model that gives prepared answers in turn, the last one again and again.

    An answer may be a text, which is said as it is.
    """

    name = "scripted"

    def __init__(self, *answers: Mapping[str, Any] | str | ModelUnavailable) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    def answer(
        self,
        instructions: str,  # noqa: ARG002
        text: str,
        *,
        schema: Mapping[str, Any],  # noqa: ARG002
    ) -> Mapping[str, Any]:
        """The next answer, or ModelUnavailable."""
        answer = self._next(text)
        assert not isinstance(answer, str)
        return answer

    def said(
        self,
        instructions: str,  # noqa: ARG002
        text: str,
        *,
        schema: Mapping[str, Any],  # noqa: ARG002
        timeout_seconds: float | None = None,  # noqa: ARG002
    ) -> str:
        """The next answer as text, or ModelUnavailable."""
        answer = self._next(text)
        return answer if isinstance(answer, str) else json.dumps(answer)

    def _next(self, text: str) -> Mapping[str, Any] | str:
        self.asked.append(text)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, ModelUnavailable):
            raise answer
        return answer


class Faulty:
    """A part that fails at some calls of one method, before or after it; else the real one."""

    def __init__(
        self,
        inner: Any,
        method: str,
        failure: BaseException,
        *,
        at: int | None = None,
        after: bool = False,
    ) -> None:
        self._inner = inner
        self._method = method
        self._failure = failure
        self._at = at  # the number of the call; None: each
        self._is_after = after
        self._calls = 0

    def __getattr__(self, name: str) -> Any:
        """The real part's attribute, but for the method that fails."""
        found = getattr(self._inner, name)
        return self._failing(found) if name == self._method else found

    def _failing(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self._calls += 1
            if self._at not in {None, self._calls}:
                return work(*arguments, **options)
            if self._is_after:
                work(*arguments, **options)
            raise self._failure

        return call
