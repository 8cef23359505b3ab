"""Saved queries: the files for Neo4j Browser, each a title, a hint and one query."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedQuery:
    """A query that draws or counts something, and what to look for in its answer."""

    title: str
    hint: str
    cypher: str


def read_query(text: str) -> SavedQuery:
    """Read a file: two lines of comment, then the query."""
    title, hint, cypher = text.split("\n", 2)
    return SavedQuery(
        title=title.removeprefix("// "), hint=hint.removeprefix("// "), cypher=cypher.strip()
    )
