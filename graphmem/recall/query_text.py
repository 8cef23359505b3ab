"""The full-text query: analysed words within exactly the wanted spaces, statuses and filters.

Terms consist of letters and digits only, so nothing of a user's text can act as query syntax.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphmem.model.memory import Status
from graphmem.model.tokens import expiry_token, facet_token, wall_token
from graphmem.text.analysis import query_terms

_NOTHING = "+space_token:none0"
_LATEST = 10**15 - 1
# one plan per size class of a text: padded, every query is of the class 1,001 to 10,000 (neo4j-recall, Pitfalls)
_PADDED_LENGTH = 1_001
_LONGEST = 9_999


@dataclass(frozen=True, kw_only=True, slots=True)
class Facets:
    """Filters by value: a memory must carry one of the values of each group."""

    groups: Sequence[tuple[str, Sequence[str]]] = ()

    def clauses(self) -> Iterable[str]:
        """One required clause a group."""
        for facet, values in self.groups:
            yield f"+({' '.join(f'space_token:{facet_token(facet, value)}' for value in values)})^0"


def query_text(
    cue: str, *, spaces: Sequence[str], statuses: Sequence[Status], facets: Facets, now_ms: int, terms_max: int
) -> str:
    """The Lucene text of a recall, padded to one size class; a cue without words matches nothing."""
    required = [_wall(spaces, statuses, now_ms), *facets.clauses()]
    room = _LONGEST - sum(len(clause) + 1 for clause in required) - len("+()")
    wanted: list[str] = []
    for term in query_terms(cue, limit=terms_max):
        clause = f"search_context:{term} search_text:{term}^0.25 search_actor:{term}"
        if len(clause) < room:
            room -= len(clause) + 1
            wanted.append(clause)
    text = " ".join([*required, f"+({' '.join(wanted)})"]) if wanted else _NOTHING
    return text.ljust(_PADDED_LENGTH)


def _wall(spaces: Sequence[str], statuses: Sequence[Status], now_ms: int) -> str:
    lasting = [token for s in spaces for status in statuses if (token := wall_token(s, status, expiring=False))]
    expiring = [token for s in spaces for status in statuses if (token := wall_token(s, status, expiring=True))]
    plain = " ".join(f"space_token:{token}" for token in lasting)
    still = " ".join(f"space_token:{token}" for token in expiring)
    span = f"space_token:[{expiry_token(now_ms + 1)} TO {expiry_token(_LATEST)}]"
    return f"+({plain} (+({still}) +{span}))^0"
