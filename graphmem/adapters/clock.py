"""The wall clock."""

from datetime import UTC, datetime


class SystemClock:
    """The clock of the machine; nothing else asks it."""

    def now(self) -> datetime:
        """The present moment in UTC."""
        return datetime.now(UTC)
