"""Last recalls: what the last recall of a session gave."""

from graphmem.model.conversation import conversation_key
from graphmem.model.feedback import LastRecall
from graphmem.model.space import Space
from graphmem.store.connection import Connection, Transaction
from graphmem.text.times import moment_of


def save_last_recall(transaction: Transaction, last: LastRecall) -> None:
    """Write what the last recall of a session gave, in the place of the one before."""
    transaction.run(
        "last_recalls.save",
        key=last.key,
        properties={
            "space": last.space.key,
            "session": last.session,
            "recall": last.recall,
            "memories": list(last.memories),
            "query_hash": last.query_hash,
        },
        at=last.at.isoformat(),
    )


class LastRecalls:
    """Reads last recalls."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, space: Space, session: str) -> LastRecall | None:
        """The last recall of a session, if it had one."""
        key = conversation_key(space, session)
        rows = self._connection.fetch("last_recalls.of_session", key=key)
        if not rows:
            return None
        found = rows[0]["last"]
        return LastRecall(
            space=space,
            session=session,
            recall=found["recall"],
            memories=tuple(found["memories"]),
            query_hash=found["query_hash"],
            at=moment_of(found["at"]),
        )
