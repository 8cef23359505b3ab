"""The full-text query: analysed words within exactly the wanted spaces, statuses and filters.

Terms consist of letters and digits only, behind the salt of the tenant, so nothing of a user's text
can act as query syntax.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphmem.model.memory import Status
from graphmem.model.tokens import (
    MORE_SOURCES,
    Bound,
    facet_token,
    term_salt,
    time_token,
    wall_token,
)
from graphmem.text.analysis import query_terms

_NOTHING = "+space_token:none0"
_OF_SOURCES = ("captured_by", "conversation_id")
_EARLIEST, _LATEST = -(10**14), 8 * 10**14
# padded, every text is of the size class 1,001 to 10,000: one plan (neo4j-recall, Pitfalls)
_PADDED_LENGTH = 1_001
_LONGEST = 9_999


@dataclass(frozen=True, kw_only=True, slots=True)
class Facets:
    """Filters by value: a memory must carry one of the values of each group.

    A value of a source may be that of one that the tokens do not tell: the search checks these.
    """

    groups: Sequence[tuple[str, Sequence[str]]] = ()

    def clauses(self) -> Iterable[str]:
        """One required clause a group."""
        for facet, values in self.groups:
            tokens = [facet_token(facet, value) for value in values]
            if facet in _OF_SOURCES:
                tokens.append(MORE_SOURCES)
            yield f"+({' '.join(f'space_token:{token}' for token in tokens)})^0"


@dataclass(frozen=True, kw_only=True, slots=True)
class Moments:
    """The moments that a memory is compared with, in milliseconds since 1970.

    It must expire after ``now``, begin by ``begins_by`` and end after ``ends_after``; without these
    two it may be true at any time.
    """

    now: int
    begins_by: int = _LATEST
    ends_after: int = _EARLIEST


def lucene_query(
    cue: str,
    *,
    spaces: Sequence[str],
    statuses: Sequence[Status],
    facets: Facets,
    moments: Moments,
    terms_max: int,
) -> str:
    """The Lucene text of a recall, padded to one size class; ``spaces`` are keys of one tenant.

    A cue without words matches nothing.
    """
    required = [_wall(spaces, statuses, moments), *facets.clauses()]
    room = _LONGEST - sum(len(clause) + 1 for clause in required) - len("+()")
    wanted: list[str] = []
    salt = term_salt(spaces[0].partition("/")[0])
    for word in query_terms(cue, limit=terms_max):
        term = f"{salt}{word}"
        clause = f"search_context:{term} search_text:{term}^0.25 search_actor:{term}"
        if len(clause) < room:
            room -= len(clause) + 1
            wanted.append(clause)
    text = " ".join([*required, f"+({' '.join(wanted)})"]) if wanted else _NOTHING
    return text.ljust(_PADDED_LENGTH)


def _wall(spaces: Sequence[str], statuses: Sequence[Status], moments: Moments) -> str:
    free, bounded = (
        " ".join(
            f"space_token:{token}"
            for space in spaces
            for status in statuses
            if (token := wall_token(space, status, bounded=bounded))
        )
        for bounded in (False, True)
    )
    spans = " ".join(
        f"+space_token:[{time_token(bound, first)} TO {time_token(bound, last)}]"
        for bound, first, last in (
            (Bound.EXPIRES, moments.now + 1, _LATEST),
            (Bound.VALID_FROM, _EARLIEST, moments.begins_by),
            (Bound.VALID_UNTIL, moments.ends_after + 1, _LATEST),
        )
    )
    return f"+({free} (+({bounded}) {spans}))^0"
