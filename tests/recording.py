"""A connection that keeps what it sends and gets: the real one, with a notebook."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import neo4j

from graphmem.store.connection import Connection, Transaction
from graphmem.store.queries import QUERIES

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A statement as it was sent, and the rows that came back."""

    name: str  # of the query; empty for a statement that has none
    text: str
    parameters: Mapping[str, Any]
    rows: list[neo4j.Record] = field(default_factory=list)

    @property
    def sent_texts(self) -> set[str]:
        """Every text among the parameters, however deep."""
        return set(texts_in(self.parameters))

    @property
    def given_texts(self) -> set[str]:
        """Every text among the rows, those of whole nodes and relationships too."""
        return set(texts_in([row.values() for row in self.rows]))


def texts_in(value: Any) -> Iterator[str]:
    """The texts in a value, and in what it holds."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, held in value.items():
            yield name
            yield from texts_in(held)
    elif isinstance(value, (neo4j.graph.Node, neo4j.graph.Relationship)):
        yield from texts_in(dict(value.items()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for held in value:
            yield from texts_in(held)


class RecordingTransaction(Transaction):
    """Runs named queries over an open transaction and notes them."""

    def __init__(self, inner: Transaction, sent: list[Sent]) -> None:
        self._inner = inner
        self._sent = sent

    def run(self, query: str, /, **parameters: Any) -> list[neo4j.Record]:
        """Run a named query, and note it with its rows."""
        rows = self._inner.run(query, **parameters)
        text = QUERIES[query].text
        self._sent.append(Sent(name=query, text=text, parameters=parameters, rows=rows))
        return rows


class RecordingConnection(Connection):
    """A connection whose every statement can be looked at afterwards."""

    def __init__(self, uri: str, *, user: str, password: str) -> None:
        super().__init__(uri, user=user, password=password)
        self.sent: list[Sent] = []

    def read(self, work: Callable[[Transaction], Result]) -> Result:
        """Read as a connection does, and note what is sent."""
        return super().read(lambda inner: work(RecordingTransaction(inner, self.sent)))

    def write(self, work: Callable[[Transaction], Result]) -> Result:
        """Write as a connection does, and note what is sent."""
        return super().write(lambda inner: work(RecordingTransaction(inner, self.sent)))

    def run_statement(self, statement: str, **parameters: Any) -> list[neo4j.Record]:
        """Run a statement as a connection does, and note it."""
        rows = super().run_statement(statement, **parameters)
        self.sent.append(Sent(name="", text=statement, parameters=parameters, rows=rows))
        return rows
