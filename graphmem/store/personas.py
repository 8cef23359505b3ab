"""Personas: who speaks with the users of a tenant."""

from typing import Any

from graphmem.model.companion import Persona, persona_key
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space
from graphmem.store.connection import Connection, Row, Transaction, rows_of
from graphmem.store.pages import read_page
from graphmem.text.times import moment_of

_VALUES = ("name", "prompt", "enable_spine", "is_active")


def lock_persona(transaction: Transaction, tenant: str, slug: str) -> Persona | None:
    """Take the lock of a persona; None where nobody saved it yet."""
    key = persona_key(tenant, slug)
    (row,) = transaction.run("personas.lock", key=key, tenant=tenant, slug=slug)
    return persona_from_row(row["persona"]) if row["persona"].get("created_at") else None


def find_persona(reader: Transaction | Connection, tenant: str, slug: str) -> Persona | None:
    """A persona of a tenant."""
    rows = rows_of(reader, "personas.find", key=persona_key(tenant, slug))
    return persona_from_row(rows[0]["persona"]) if rows else None


def save_persona(transaction: Transaction, persona: Persona) -> None:
    """Write what a persona is."""
    assert persona.created_at  # noqa: S101 - it is saved with its times
    assert persona.updated_at  # noqa: S101
    transaction.run(
        "personas.save",
        key=persona.key,
        properties={name: getattr(persona, name) for name in _VALUES},
        created_at=persona.created_at.isoformat(),
        updated_at=persona.updated_at.isoformat(),
    )


class Personas:
    """Reads personas."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, tenant: str, slug: str) -> Persona | None:
        """A persona of a tenant."""
        return find_persona(self._connection, tenant, slug)

    def of_space(self, space: Space) -> Persona:
        """The persona of a space; one without a name where the tenant has none of that slug."""
        slug = space.persona or ""
        return self.find(space.tenant, slug) or Persona(tenant=space.tenant, slug=slug, name="")

    def page(self, tenant: str, after: Cursor | None = None, *, limit: int) -> Page[Persona]:
        """One page of the personas of a tenant, by slug; a cursor is a slug."""
        (slug,) = after or ("",)
        return read_page(
            self._connection,
            "personas.list",
            "personas.count",
            filters={"tenant": tenant},
            cursor={"after": slug},
            limit=limit,
            item_of=lambda row: persona_from_row(row["persona"]),
            cursor_of=lambda row: (row["persona"]["slug"],),
        )


def persona_from_row(node: Row) -> Persona:
    """The persona of a row."""
    values: dict[str, Any] = {
        name: node[name] for name in (*_VALUES, "tenant", "slug") if name in node
    }
    return Persona(
        **values,
        created_at=moment_of(node.get("created_at")),
        updated_at=moment_of(node.get("updated_at")),
    )
