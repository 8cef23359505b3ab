"""Space: the wall.

A memory lives in exactly one, and no query reads one that was not named and allowed.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

FIRST_TENANT = "main"
SHARED_NAME = "namespace:shared"  # what is shared in a tenant lies there (003)
_NAME = re.compile(r"[^\s/:|\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,128}")
_SPACE_FORM = "kind:owner or kind:owner/persona"
_PARSED_MOST = 1_024  # spaces that are remembered: every row of the store names one
_NAME_MAX_CHARS = 1_000  # of a name in any Unicode form, which is looked at before its form is


class SpaceKind(StrEnum):
    """What a space belongs to (sources, 6.1)."""

    USER = "user"
    SESSION = "session"
    PROJECT = "project"
    SYSTEM = "system"
    ORCHESTRATOR = "orchestrator"
    NAMESPACE = "namespace"
    CORPUS = "corpus"


# kinds in which no facts are extracted from turns (003)
WITHOUT_FACTS = frozenset({SpaceKind.ORCHESTRATOR, SpaceKind.CORPUS})


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Space:
    """One space of one tenant, optionally narrowed by a persona."""

    tenant: str
    kind: SpaceKind
    owner: str
    persona: str | None = None

    @property
    def name(self) -> str:
        """The form that callers use: ``user:ada`` or ``user:ada/coach``."""
        return f"{self.kind}:{self.owner}" + (f"/{self.persona}" if self.persona else "")

    @property
    def key(self) -> str:
        """The form that is stored: the name behind its tenant, ``acme/user:ada``."""
        return f"{self.tenant}/{self.name}"

    @property
    def without_persona(self) -> "Space":
        """The space of the owner; entities live there, so that personas share them."""
        return Space(tenant=self.tenant, kind=self.kind, owner=self.owner)

    def readable_with_it(self) -> tuple["Space", ...]:
        """The spaces that reading this one reads: itself, and behind a persona its owner (001)."""
        return (self, self.without_persona) if self.persona else (self,)


def parse_space(name: str, *, tenant: str) -> Space:
    """Read ``kind:owner[/persona]``, as callers name it, in NFC.

    Raises:
        ValueError: the form or a part of it is not valid; the text says what is.
    """
    if len(name) > _NAME_MAX_CHARS:
        msg = f"Must be at most {_NAME_MAX_CHARS} characters."
        raise ValueError(msg)
    space = _parsed(unicodedata.normalize("NFC", name), tenant)
    if space.kind is SpaceKind.ORCHESTRATOR and space.persona:
        msg = "An orchestrator space has no persona."
        raise ValueError(msg)
    return space


def parse_writable_space(name: str, *, tenant: str) -> Space:
    """Read the name of a space that is to be written to.

    Raises:
        ValueError: it is not valid, or has a ``*``: a key for it would read other spaces.
    """
    space = parse_space(name, tenant=tenant)
    if "*" in space.name:
        msg = "The owner and the persona must not have a *, which stands for any name in a key."
        raise ValueError(msg)
    return space


def space_from_key(key: str) -> Space:
    """Read the stored form, ``tenant/kind:owner[/persona]``.

    Older versions let orchestrators have personas, and names have any Unicode form and ``*``: the
    store may still hold some.
    """
    tenant, _, name = key.partition("/")
    return _parsed(name, tenant)


@lru_cache(maxsize=_PARSED_MOST)
def _parsed(name: str, tenant: str) -> Space:
    kind_text, colon, rest = name.partition(":")
    if not colon or kind_text not in set(SpaceKind):
        msg = f"Must be {_SPACE_FORM}, with a kind of {', '.join(SpaceKind)}."
        raise ValueError(msg)
    owner, slash, persona = rest.partition("/")
    for part, text in (("owner", owner), ("persona", persona)):
        if (part == "owner" or slash) and not _NAME.fullmatch(text):
            msg = (
                f"The {part} must be 1 to 128 characters without blanks, control characters"
                " or / : |."
            )
            raise ValueError(msg)
    return Space(tenant=tenant, kind=SpaceKind(kind_text), owner=owner, persona=persona or None)


def shared_space(tenant: str) -> Space:
    """The space that holds what is shared in a tenant (003)."""
    return _parsed(SHARED_NAME, tenant)


def namespace_name(text: str) -> str | None:
    """What a namespace is called by a text, in NFC; None where none can be written to."""
    if len(text) > _NAME_MAX_CHARS:
        return None
    name = unicodedata.normalize("NFC", text)
    return name if _NAME.fullmatch(name) and "*" not in name else None


def is_tenant_name(text: str) -> bool:
    """Whether a text can name a tenant: the same characters as an owner."""
    return _NAME.fullmatch(text) is not None


def configured_name(space: Space) -> str:
    """What an orchestrator is called in the settings: its name, of other tenants tenant/name."""
    return space.owner if space.tenant == FIRST_TENANT else f"{space.tenant}/{space.owner}"
