"""Who is calling: the tenant, role and space patterns that an API key carries."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from graphmem.model.space import Space, SpaceKind

STARS_MAX = 4  # of a pattern


class Role(StrEnum):
    """What a key may do; each role may do all that the ones before it may."""

    READER = "reader"
    WRITER = "writer"
    CURATOR = "curator"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        """Whether this role may do what the other may."""
        order = list(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """The holder of one API key. Patterns are names with ``*``: ``user:*``, ``user:ada``, ``*``.

    One that is only ``remembered`` could not be checked, because the database is away: it gets
    nothing of the store.
    """

    key_id: str
    tenant: str
    role: Role
    spaces: tuple[str, ...]
    is_remembered: bool = False

    def may_see(self, space: Space) -> bool:
        """Whether the space lies in this tenant and under one of the patterns.

        A pattern without a persona also covers the personas below it.
        """
        names = {space.name, space.without_persona.name}
        return space.tenant == self.tenant and any(
            _fits(name, pattern) for name in names for pattern in self.spaces
        )

    @property
    def visible_spaces(self) -> list[str]:
        """Regular expressions of the database for the keys of the spaces that it may see."""
        tenant = _quoted(f"{self.tenant}/")
        return [f"{tenant}{_expression(pattern)}(/[^/]*)?" for pattern in self.spaces]

    @property
    def visible_prefixes(self) -> list[str]:
        """How the keys of the spaces that it may see begin."""
        return sorted({f"{self.tenant}/{pattern.partition('*')[0]}" for pattern in self.spaces})

    def holds(self, patterns: Iterable[str]) -> bool:
        """Whether each of some patterns lies inside one of its own.

        No space has a ``*`` in its name, so one of theirs fits only what is a ``*`` here.
        """
        return all(
            any(_fits(name, own) for name in (each, each.partition("/")[0]) for own in self.spaces)
            for each in patterns
        )

    def may(self, role: Role, space: Space) -> bool:
        """Whether this caller may act in that role in that space."""
        return self.role.includes(role) and self.may_see(space)


def caller_of_job(job: str, space: Space) -> Caller:
    """Who a job is where it writes in a space of an owner."""
    owner = space.without_persona.name
    return Caller(key_id=f"job:{job}", tenant=space.tenant, role=Role.WRITER, spaces=(owner,))


def is_pattern(text: str) -> bool:
    """Whether a text can be a space pattern: ``*`` or ``kind:…``, with some ``*`` in it."""
    kind, colon, _ = text.partition(":")
    is_named = bool(colon) and kind in set(SpaceKind)
    return text == "*" or (is_named and text.count("*") <= STARS_MAX)


def _fits(name: str, pattern: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def _expression(pattern: str) -> str:
    return ".*".join(_quoted(part) for part in pattern.split("*"))


def _quoted(text: str) -> str:
    """A text that a regular expression of the database takes letter by letter."""
    inner = text.replace("\\E", "\\E\\\\E\\Q")
    return f"\\Q{inner}\\E" if text else ""
