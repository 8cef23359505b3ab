"""Who is calling: the tenant, role and space patterns that an API key carries."""

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from graphmem.model.space import Space


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
    """The holder of one API key. Patterns are names with ``*``: ``user:*``, ``user:ada``, ``*``."""

    key_id: str
    tenant: str
    role: Role
    spaces: tuple[str, ...]

    def may_see(self, space: Space) -> bool:
        """Whether the space lies in this tenant and under one of the patterns.

        A pattern without a persona also covers the personas below it.
        """
        names = {space.name, space.without_persona.name}
        return space.tenant == self.tenant and any(
            fnmatchcase(name, pattern) for name in names for pattern in self.spaces
        )

    def may(self, role: Role, space: Space) -> bool:
        """Whether this caller may act in that role in that space."""
        return self.role.includes(role) and self.may_see(space)
