"""The named queries of ``cypher/``, read, put together and checked at import.

A query is ``// name:``, comment lines that say what it does, ``// parameters:`` and Cypher up to a
semicolon. What several places have in common is a fragment: ``// fragment:``, comment lines and
Cypher. ``@name`` in a text stands for the fragment of that name, whichever file has it; a fragment
may name others. ``@NAME`` is a constant.

Vectors have two slots, so that an embedder can be changed while the other one is searched; Cypher
knows no parameter for an index, so a query with the line ``// also in slot: _b`` is there twice,
the second time for the other slot, under its name with ``_b`` behind it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType

from graphmem.model.edge import EdgeType, LineageType
from graphmem.model.memory import MADE_UID
from graphmem.model.space import SHARED_NAME
from graphmem.model.tokens import ALWAYS_MS, NEVER_MS
from graphmem.store.corpus_deltas import WHOLE_EVERY

CONSTANTS: Mapping[str, str] = MappingProxyType(
    {
        "EDGE_TYPES": "|".join(EdgeType),
        "LINEAGE_TYPES": "|".join(LineageType),
        "NEVER_MS": str(NEVER_MS),
        "MADE_UID": MADE_UID,
        "SHARED_NAME": SHARED_NAME,
        "ALWAYS_MS": str(ALWAYS_MS),
        "WHOLE_EVERY": str(WHOLE_EVERY),
    }
)
_START = re.compile(r"^// (?P<kind>name|fragment): *(?P<name>[a-z_]+) *$", re.MULTILINE)
_SAYS = ("parameters:", "also in slot:")
_COMMENT = re.compile(r"//.*")
_VECTORS = re.compile(r"\b(?:chunk_embedding|[a-z]\.embedding)\b")
_PARAMETER = re.compile(r"\$([a-z_]+)")
_MARK = re.compile(r"@(\w+)")


class QueryFileError(ValueError):
    """A query file is not well formed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """One named query: its text as the server gets it, what it does, and what it must be given."""

    name: str
    text: str
    doc: str
    parameters: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Piece:
    """A query or a fragment as its file has it, and what it says of itself."""

    is_fragment: bool
    noun: str
    name: str
    text: str
    doc: str
    parameters: frozenset[str]
    slots: frozenset[str]

    @property
    def marks(self) -> frozenset[str]:
        """The names of the fragments and constants in the text."""
        return frozenset(_MARK.findall(self.text))

    def refuse(self, problem: str) -> QueryFileError:
        """The error that names the file, the piece and what is wrong with it."""
        return QueryFileError(f"{self.noun}.{self.name}: {problem}")


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryFiles:
    """What some files hold: queries by ``noun.name``, and the texts of fragments and constants."""

    queries: Mapping[str, Query]
    texts: Mapping[str, str]


def parse_queries(files: Mapping[str, str], texts: Mapping[str, str] = CONSTANTS) -> QueryFiles:
    """The queries and fragments of some files, each a noun with its text.

    ``texts`` are fragments and constants of elsewhere that these may use.

    Raises:
        QueryFileError: a query or fragment is empty, undocumented or named twice; its parameters
            differ from what it says; a fragment is unknown, unused, or uses itself.
    """
    pieces = [piece for noun, text in files.items() for piece in _pieces(noun, text)]
    fragments = _fragments(pieces)
    used = frozenset[str]().union(*(piece.marks for piece in pieces))
    for piece in pieces:
        _check(piece, known=fragments.keys() | texts.keys(), used=used)
    expanded = _texts(fragments, texts)
    queries: dict[str, Query] = {}
    for piece in pieces:
        for query in () if piece.is_fragment else _queries(piece, expanded):
            if query.name in queries:
                raise piece.refuse("there are two of that name")
            queries[query.name] = query
    return QueryFiles(queries=queries, texts=expanded)


def _pieces(noun: str, text: str) -> Iterator[_Piece]:
    """The queries and fragments of a file."""
    starts = list(_START.finditer(text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    for start, end in zip(starts, ends, strict=True):
        lines = text[start.end() : end].strip().splitlines()
        comments = [line[2:].strip() for line in lines if line.startswith("//")]
        yield _Piece(
            is_fragment=start["kind"] == "fragment",
            noun=noun,
            name=start["name"],
            text="\n".join(_code(lines)).strip().removesuffix(";"),
            doc=" ".join(line for line in comments if not line.startswith(_SAYS)),
            parameters=_listed(comments, "parameters:"),
            slots=_listed(comments, "also in slot:"),
        )


def _code(lines: Iterable[str]) -> Iterator[str]:
    """The lines that are not comments, without those behind them."""
    return (_COMMENT.sub("", line).rstrip() for line in lines if not line.startswith("//"))


def _listed(comments: Iterable[str], key: str) -> frozenset[str]:
    """The names behind a key in the comments of a piece."""
    return frozenset(
        name
        for line in comments
        if line.startswith(key)
        for name in re.findall(r"[a-z_]+", line.removeprefix(key))
    )


def _fragments(pieces: Iterable[_Piece]) -> dict[str, _Piece]:
    """The fragments by name; one name is one fragment in all files."""
    fragments: dict[str, _Piece] = {}
    for piece in pieces:
        if piece.is_fragment and fragments.setdefault(piece.name, piece) is not piece:
            raise piece.refuse("there are two fragments of that name")
    return fragments


def _check(piece: _Piece, *, known: Iterable[str], used: frozenset[str]) -> None:
    """Refuse a piece that is not what it says, or that nobody uses."""
    unknown = sorted(piece.marks.difference(known))
    for wrong, problem in (
        (not piece.text, "is empty"),
        (not piece.doc, "does not say what it does"),
        (unknown, f"there is no fragment or constant {unknown}"),
        (piece.is_fragment and piece.parameters, "only a query says its parameters"),
        (piece.is_fragment and piece.slots, "only a query is there in two slots"),
        (piece.is_fragment and piece.name not in used, "nobody uses it"),
    ):
        if wrong:
            raise piece.refuse(problem)


def _texts(fragments: Mapping[str, _Piece], given: Mapping[str, str]) -> dict[str, str]:
    """What stands for each name: what is given, and the fragments with others put in."""
    texts = dict(given)
    order = TopologicalSorter({name: piece.marks for name, piece in fragments.items()})
    try:
        for name in order.static_order():
            if name in fragments:
                texts[name] = _expanded(fragments[name].text, texts)
    except CycleError as error:
        cycle = error.args[1]
        problem = f"uses itself, by way of {', '.join(cycle)}"
        raise fragments[cycle[0]].refuse(problem) from error
    return texts


def _expanded(text: str, texts: Mapping[str, str]) -> str:
    """A text with others put in, as far from the left as the line that names them."""
    return "\n".join(_expanded_line(line, texts) for line in text.splitlines())


def _expanded_line(line: str, texts: Mapping[str, str]) -> str:
    next_line = "\n" + " " * (len(line) - len(line.lstrip()))
    return _MARK.sub(lambda mark: texts[mark[1]].replace("\n", next_line), line)


def _queries(piece: _Piece, texts: Mapping[str, str]) -> Iterator[Query]:
    """A query, and the same for the other slot of vectors where it asks for that."""
    text = _expanded(piece.text, texts)
    used = frozenset(_PARAMETER.findall(text))
    if used != piece.parameters:
        problem = f"declares {sorted(piece.parameters)} and uses {sorted(used)}"
        raise piece.refuse(problem)
    query = Query(name=f"{piece.noun}.{piece.name}", text=text, doc=piece.doc, parameters=used)
    yield query
    for slot in piece.slots:
        yield _in_slot(query, slot)


def _in_slot(query: Query, slot: str) -> Query:
    text = _VECTORS.sub(lambda match: match[0] + slot, query.text)
    return replace(query, name=query.name + slot, text=text)


def load_queries(folder: Traversable, texts: Mapping[str, str] = CONSTANTS) -> QueryFiles:
    """The queries and fragments of all files of a folder, which may use other fragments."""
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return parse_queries(
        {
            file.name.removesuffix(".cypher"): file.read_text("utf-8")
            for file in files
            if file.name.endswith(".cypher")
        },
        texts,
    )


CORE = load_queries(resources.files("cypher"))
QUERIES: Mapping[str, Query] = MappingProxyType(CORE.queries)
