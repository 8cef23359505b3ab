"""Sentences: each gets a vector of its own where there is more than one (neo4j-recall)."""

from sentencex import segment


def sentences(text: str, *, limit: int) -> tuple[str, ...]:
    """The sentences of a text in order, at most ``limit``; none where there is just one."""
    found = [
        part for line in text.splitlines() for part in map(str.strip, segment("en", line)) if part
    ]
    return tuple(found[:limit]) if len(found) > 1 else ()
