"""Entity names: the words and tokens under which full text finds entities by all their names.

Each name is also one token, with its signs, so that the whole name is found before its words. No
owner shares one with another, and no tenant a word, so nobody's names weigh for others.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from graphmem.model.tokens import facet_token, salted, term_salt
from graphmem.text.analysis import analyse, query_terms
from graphmem.text.normalise import one_line

_TERMS_MAX = 32
_NEAR_MIN_CHARS = 4  # shorter words are found as they are alone
_FAR_MIN_CHARS = 8  # longer ones also with two letters apart
_WHOLE_NAME, _NEAR = 100, 0.5  # what a match weighs beside that of one word
_CACHED = 4_096
_DIVIDES = re.compile(r"[\s_-]+")
_PADDED_LENGTH = 1_001  # one plan for all texts (neo4j-recall, Pitfalls)


def name_fields(space_key: str, type_: str, label: str, aliases: Iterable[str]) -> dict[str, str]:
    """What an entity is indexed under."""
    words, tokens = _indexed(space_key, type_, label, tuple(aliases))
    return {"search_names": words, "space_token": tokens}


@lru_cache(_CACHED)
def _indexed(space_key: str, type_: str, label: str, aliases: tuple[str, ...]) -> tuple[str, str]:
    words = "".join(name_words(space_key, name) for name in (label, *aliases))
    tokens = [
        _owner_token(space_key),
        facet_token("entity_type", type_),
        label_token(space_key, label),
        joined_token(space_key, label),
    ]
    return words, " ".join(tokens) + "".join(said_tokens(space_key, each) for each in aliases)


def said_tokens(space_key: str, alias: str) -> str:
    """The tokens of one other name, with a blank before them."""
    return f" {alias_token(space_key, alias)} {joined_token(space_key, alias)}"


def name_words(space_key: str, name: str) -> str:
    """The words of one name, with a blank before them."""
    words = salted(analyse(name), space_key.partition("/")[0])
    return f" {words}" if words else ""


def label_token(space_key: str, name: str) -> str:
    """The token of a whole label, letter case aside."""
    return facet_token(f"label of {space_key}", _form(name))


def alias_token(space_key: str, name: str) -> str:
    """The token of a whole other name, letter case aside."""
    return facet_token(f"alias of {space_key}", _form(name))


def joined_token(space_key: str, name: str) -> str:
    """The token of a whole name without what divides its words, letter case aside."""
    return facet_token(f"joined of {space_key}", _DIVIDES.sub("", _form(name)))


def named_query(owner: str, names: Iterable[str]) -> str:
    """The Lucene text that finds the entities of an owner that have one of some names exactly."""
    tokens = dict.fromkeys(joined_token(owner, name) for name in names)
    return f"+({_any([_owner_token(owner)])})^0 +({_any(tokens)})".ljust(_PADDED_LENGTH)


def name_query(query: str, *, owners: Sequence[str], types: Sequence[str]) -> str:
    """The Lucene text that finds entities of some owners, of one tenant, by their names."""
    required = [f"+({_any(map(_owner_token, owners))})^0"]
    if types:
        required.append(f"+({_any(facet_token('entity_type', each) for each in types)})^0")
    wholes = [token(owner, query) for owner in owners for token in (label_token, alias_token)]
    salt = term_salt(owners[0].partition("/")[0])
    terms = query_terms(query, limit=_TERMS_MAX)
    near = [f"{term}~{_apart(term)}^{_NEAR}" for term in terms if _apart(term)]
    wanted = [
        *(f"space_token:{token}^{_WHOLE_NAME}" for token in wholes),
        *(f"search_names:{salt}{term}" for term in (*terms, *near)),
    ]
    return f"{' '.join(required)} +({' '.join(wanted)})".ljust(_PADDED_LENGTH)


def _apart(term: str) -> int:
    """How many letters a near spelling may be apart; numbers have none."""
    if len(term) < _NEAR_MIN_CHARS or any(char.isdigit() for char in term):
        return 0
    return 2 if len(term) >= _FAR_MIN_CHARS else 1


def _any(tokens: Iterable[str]) -> str:
    return " ".join(f"space_token:{token}" for token in tokens)


def _owner_token(space_key: str) -> str:
    return facet_token("entities_of", space_key)


def _form(name: str) -> str:
    return one_line(name).casefold()
