"""The secret of the service, which signs cursors: made once, the same in every process."""

import secrets
import threading

from graphmem.store.connection import Connection


class ServiceSecret:
    """Reads the secret, and makes it where there is none."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._text = ""

    @property
    def text(self) -> str:
        """The secret.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        with self._lock:
            if not self._text:
                made = secrets.token_urlsafe(32)
                rows = self._connection.run("service.secret", made=made)
                self._text = str(rows[0]["secret"])
            return self._text
