"""The readiness: calls are let in once the database has answered and its schema fits.

Until then the reason is said.
"""

from dataclasses import dataclass

from graphmem.errors import GraphmemError, StoreDamaged, StoreUnavailable


@dataclass
class Readiness:
    """The reason why no call is let in yet; None once calls are.

    Later each call finds out itself what happens to the database.
    """

    reason: GraphmemError | None = None

    @classmethod
    def closed(cls) -> "Readiness":
        """A readiness that waits for the database."""
        return cls(
            StoreUnavailable(
                "The database has not answered yet; memory calls are taken as soon as it does."
            )
        )

    def close(self, reason: GraphmemError) -> None:
        """Let no call in, and say why.

        A damaged database is a stronger reason than one that is away.
        """
        if not (isinstance(self.reason, StoreDamaged) and type(reason) is StoreUnavailable):
            self.reason = reason

    def open(self) -> None:
        """Let every call in."""
        self.reason = None

    def check(self) -> None:
        """Let a call in.

        Raises:
            StoreUnavailable: the database has not answered yet.
            SchemaMismatch: its schema, or its vectors, are not of this version.
        """
        if reason := self.reason:
            raise type(reason)(
                reason.message
            )  # a new one for each call: it keeps what it was raised in
