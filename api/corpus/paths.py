"""What the paths of corpora name: owners, sections, kinds of items."""

import unicodedata

from flask import g

from api.service import service
from graphmem.corpus.draft import list_section
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.errors import Forbidden, InvalidInput, NotFound
from graphmem.model.caller import Role
from graphmem.model.corpus import Section
from graphmem.model.space import Space, SpaceKind, parse_writable_space


def keeper() -> CorpusKeeper:
    """The keeper of corpora."""
    return service().of(CorpusKeeper)


def corpus_space(owner: str, role: Role = Role.READER) -> Space:
    """The space of an owner's corpus, in which the key may act in a role.

    Raises:
        InvalidInput: nobody can be called so.
        NotFound: the key may not see it, which says nothing of what is there.
        Forbidden: it may see it, and not act there.
    """
    if "/" in owner:
        raise InvalidInput({"owner": ["Must not have a /."]})
    try:
        name = f"{SpaceKind.CORPUS}:{unicodedata.normalize('NFC', owner)}"
        space = parse_writable_space(name, tenant=g.caller.tenant)
    except ValueError as error:
        raise InvalidInput({"owner": [str(error)]}) from error
    if not g.caller.may_see(space):
        raise NotFound
    if not g.caller.may(role, space):
        raise Forbidden
    return space


def section_named(name: str) -> Section:
    """A section by its name.

    Raises:
        InvalidInput: there is none.
    """
    if name not in set(Section):
        raise InvalidInput({"section": [f"Must be one of {', '.join(Section)}."]})
    return Section(name)


def kind_named(name: str) -> Section:
    """A section that is a list of items, by its name.

    Raises:
        InvalidInput: there is none.
    """
    return list_section(name)
