"""Loading: memories sent in batches, with vectors given or made by the service."""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from benchmarks.client import Client, UnexpectedAnswerError

ACTOR = "user"
BATCH = 500


class VectorSource(Protocol):
    """Gives the vector of a text by its index."""

    def of(self, index: int) -> list[float]:
        """The vector at an index."""
        ...


def load(
    client: Client, space: str, texts: Sequence[str], vectors: VectorSource, *, first: int
) -> float:
    """Store texts with given vectors, in full batches; the seconds that the service took."""
    bodies = (item(space, text, vectors.of(index)) for index, text in enumerate(texts, start=first))
    return sum(add_batch(client, batch) for batch in batches(bodies, BATCH))


def add_batch(client: Client, items: Sequence[dict[str, Any]]) -> float:
    """Store one batch; the seconds that it took.

    Raises:
        UnexpectedAnswerError: an item was answered with an error that is not a refusal by the
            policy.
    """
    started = time.perf_counter()
    answer = client.post("/v1/memories/batch", {"items": items})
    seconds = time.perf_counter() - started
    for result in answer["results"]:
        if "error" in result and result["error"]["code"] != "policy_refused":
            msg = f"An item of a batch was answered {result}"
            raise UnexpectedAnswerError(msg)
    return seconds


def item(space: str, text: str, vector: list[float] | None = None) -> dict[str, Any]:
    """A memory to be sent."""
    body: dict[str, Any] = {"space": space, "content": text, "actor": ACTOR}
    return body if vector is None else body | {"embedding": vector}


def batches(bodies: Iterable[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    """The bodies in lists of at most a size."""
    iterator = iter(bodies)
    while batch := list(islice(iterator, size)):
        yield batch
