"""The named queries of ``cypher/``, read and checked at import.

A query is ``// name:``, comment lines that say what it does, ``// parameters:`` and Cypher up to a
semicolon. Vectors have two places, so that an embedder can be changed while the other one is
searched; Cypher knows no parameter for an index, so a query with the line ``// also in slot: _b``
is there twice, the second time for the other place, under its name with ``_b`` behind it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType

_START = re.compile(r"^// name: *(?P<name>[a-z_]+) *$", re.MULTILINE)
_COMMENT = re.compile(r"//.*")
_SLOT = re.compile(r"^// also in slot: *(?P<slot>_[a-z]) *$", re.MULTILINE)
_VECTORS = re.compile(r"\b(?:chunk_embedding|[a-z]\.embedding)\b")
_PARAMETER = re.compile(r"\$([a-z_]+)")


class QueryFileError(ValueError):
    """A query file is not well formed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """One named query: its text as the server gets it, what it does, and what it must be given."""

    name: str
    text: str
    doc: str
    parameters: frozenset[str]


def parse_queries(noun: str, text: str) -> dict[str, Query]:
    """The queries of one file, by ``noun.name``.

    Raises:
        QueryFileError: a query is empty, undocumented or named twice, or its parameters differ from
            the text.
    """
    starts = list(_START.finditer(text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    queries: dict[str, Query] = {}
    for start, end in zip(starts, ends, strict=True):
        for query in _with_slots(
            _parse(f"{noun}.{start['name']}", block := text[start.end() : end]), block
        ):
            if query.name in queries:
                msg = f"{query.name}: there are two of that name"
                raise QueryFileError(msg)
            queries[query.name] = query
    return queries


def _with_slots(query: Query, block: str) -> list[Query]:
    """A query, and the same for the other place of vectors where it asks for that."""
    if not (slot := _SLOT.search(block)):
        return [query]
    text = _VECTORS.sub(lambda match: match[0] + slot["slot"], query.text)
    return [query, replace(query, name=query.name + slot["slot"], text=text)]


def _parse(name: str, block: str) -> Query:
    lines = block.strip().splitlines()
    comments = [line[2:].strip() for line in lines if line.startswith("//")]
    doc = " ".join(
        line for line in comments if not line.startswith(("parameters:", "also in slot:"))
    )
    declared = {
        parameter
        for line in comments
        if line.startswith("parameters:")
        for parameter in re.findall(r"[a-z_]+", line.removeprefix("parameters:"))
    }
    text = "\n".join(line for line in lines if not line.startswith("//")).strip().rstrip(";")
    used = set(_PARAMETER.findall(_COMMENT.sub("", text)))
    for wrong, problem in (
        (not text, "is empty"),
        (not doc, "does not say what it does"),
        (declared != used, f"declares {sorted(declared)} and uses {sorted(used)}"),
    ):
        if wrong:
            msg = f"{name}: {problem}"
            raise QueryFileError(msg)
    return Query(name=name, text=text, doc=doc, parameters=frozenset(used))


def load_queries(folder: Traversable) -> dict[str, Query]:
    """The queries of all files of a folder."""
    files = {file.name: file for file in folder.iterdir() if file.name.endswith(".cypher")}
    return {
        name: query
        for file_name, file in sorted(files.items())
        for name, query in parse_queries(
            file_name.removesuffix(".cypher"), file.read_text("utf-8")
        ).items()
    }


QUERIES: Mapping[str, Query] = MappingProxyType(load_queries(resources.files("cypher")))
