"""New ids."""

from uuid6 import uuid7


class TimeOrderedIds:
    """UUIDv7 texts: unique, and later ones sort behind earlier ones."""

    def new(self, kind: str) -> str:  # noqa: ARG002 - one form for all kinds
        """A new id."""
        return str(uuid7())
