"""The named queries of ``cypher/``, read and checked at import.

A query is ``// name:``, comment lines that say what it does, ``// parameters:`` and Cypher up to a
semicolon.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

_START = re.compile(r"^// name: *(?P<name>[a-z_]+) *$", re.MULTILINE)
_COMMENT = re.compile(r"//.*")
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
        QueryFileError: a query is empty, undocumented or named twice, or its parameters differ from the text.
    """
    starts = list(_START.finditer(text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    queries: dict[str, Query] = {}
    for start, end in zip(starts, ends, strict=True):
        query = _parse(f"{noun}.{start['name']}", text[start.end() : end])
        if query.name in queries:
            msg = f"{query.name}: there are two of that name"
            raise QueryFileError(msg)
        queries[query.name] = query
    return queries


def _parse(name: str, block: str) -> Query:
    lines = block.strip().splitlines()
    comments = [line[2:].strip() for line in lines if line.startswith("//")]
    doc = " ".join(line for line in comments if not line.startswith("parameters:"))
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


def _load() -> dict[str, Query]:
    files = {file.name: file for file in resources.files("cypher").iterdir() if file.name.endswith(".cypher")}
    return {
        name: query
        for file_name, file in sorted(files.items())
        for name, query in parse_queries(file_name.removesuffix(".cypher"), file.read_text("utf-8")).items()
    }


QUERIES: Mapping[str, Query] = MappingProxyType(_load())
