"""Ports: what the rooms ask of the outside world. Adapters and the tests' fakes implement them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from graphmem.model.space import Space

Vector = tuple[float, ...]


class Clock(Protocol):
    """The wall clock."""

    def now(self) -> datetime:
        """The present moment, aware and in UTC."""


class IdSource(Protocol):
    """Where new ids come from."""

    def new(self, kind: str) -> str:
        """A new id, unlike all before; ``kind`` says what for, such as ``memory``."""


class Events(Protocol):
    """Where the events of orchestrators are written down (002, logs)."""

    def emit(self, event: str, space: Space, **fields: object) -> None:
        """Write down an event of an orchestrator, such as ``memory.ingest.processed``."""


class LanguageModel(Protocol):
    """Reads texts and answers in a given form; rules judge what it says."""

    @property
    def name(self) -> str:
        """Which model it is, as traces name it."""

    def answer(
        self, instructions: str, text: str, *, schema: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """What the model says about a text: a JSON object of a schema, as far as it kept to it.

        Raises:
            ModelUnavailable: it does not answer in time, or not in JSON.
        """

    def said(
        self,
        instructions: str,
        text: str,
        *,
        schema: Mapping[str, Any],
        timeout_seconds: float | None = None,
    ) -> str:
        """The same as the words that it came in, which may be around the JSON or instead of it.

        ``timeout_seconds`` is how long this call may take, where that is not the usual time.

        Raises:
            ModelUnavailable: it does not answer in time.
        """


class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    @property
    def name(self) -> str:
        """The fingerprint: the model and what its files hash to. Equal names give equal vectors."""

    @property
    def dimensions(self) -> int:
        """The length of every vector."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of texts to be stored, in order.

        Raises:
            ModelUnavailable: the model does not answer.
        """

    def embed_query(self, text: str) -> Vector:
        """The vector of a cue.

        Raises:
            ModelUnavailable: the model does not answer.
        """
