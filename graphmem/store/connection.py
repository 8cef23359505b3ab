"""The connection: one driver, one read path and one write path, both with managed retries."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

import neo4j
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConstraintError,
    DatabaseUnavailable,
    DriverError,
    Neo4jError,
    TransientError,
)

from graphmem.errors import (
    Conflict,
    GraphmemError,
    StoreDamaged,
    StoreLoginRefused,
    StoreOutOfMemory,
    StorePanicked,
    StoreUnavailable,
)
from graphmem.retries import attempts
from graphmem.store.queries import CORE, QUERIES, Query, load_queries

Result = TypeVar("Result")
Row = Mapping[str, Any]

_ASKED_SECONDS = 1.0
_LONG_SECONDS = 3600.0
LOGIN_SECONDS = 10.0  # between two tries after a refused login: more of them lock the user out
_RACES = 5  # how often a write that lost a race looks again


def _no_check() -> None:
    """There is room on the disk of somebody else's database, as far as we know."""


class Transaction:
    """An open transaction that runs named queries."""

    def __init__(self, transaction: neo4j.ManagedTransaction, connection: "Connection") -> None:
        self._transaction = transaction
        self._connection = connection

    def run(self, query: str, /, **parameters: Any) -> list[neo4j.Record]:  # noqa: ANN401 - driver values
        """Run a named query and return all its rows.

        Raises:
            StoreOutOfMemory: there is no memory left for it. Raised here, inside the driver's
                retries, because they would try it again for seconds.
        """
        self._connection.count_query()
        try:
            return list(self._transaction.run(self._connection.query(query).text, parameters))
        except TransientError as error:
            if _is_out_of_memory(error):
                raise StoreOutOfMemory from error
            raise


class Connection:
    """The way to one database; safe to share between threads."""

    def __init__(
        self,
        uri: str,
        *,
        user: str,
        password: str,
        database: str = "neo4j",
        pool_size: int = 50,
        retry_seconds: float = 8.0,
        check_room: Callable[[], None] = _no_check,
    ) -> None:
        """``check_room`` raises StoreUnavailable where nothing may be written now."""
        self.uri = uri
        self._check_room = check_room
        self.database = database
        self._queries: Mapping[str, Query] = QUERIES
        self._counted = threading.local()
        self._is_away = False  # the last call got no answer
        self._refused_until = 0.0  # a database that was away a moment ago is not asked again
        self._asking = threading.Lock()
        try:
            self._driver = neo4j.GraphDatabase.driver(
                uri,
                auth=(user, password),
                max_connection_pool_size=pool_size,
                connection_acquisition_timeout=retry_seconds,
                connection_timeout=5.0,
                max_transaction_retry_time=retry_seconds,
                # many short pauses: a database that is back is noticed within two seconds
                initial_retry_delay=0.1,
                retry_delay_multiplier=1.2,
                user_agent="graphmem",
                telemetry_disabled=True,
                notifications_min_severity="OFF",
            )
        except (ConfigurationError, ValueError) as error:
            msg = f"The Neo4j address {uri} is not valid."
            raise StoreUnavailable(msg) from error
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()

    def add_queries(self, folder: Traversable) -> None:
        """Also know the named queries of a folder, such as those of a room."""
        self._queries = {**self._queries, **load_queries(folder, CORE.texts).queries}

    def query(self, name: str) -> Query:
        """The query of a name."""
        return self._queries[name]

    @property
    def queries_run(self) -> int:
        """How many queries this thread has run: its round trips."""
        return getattr(self._counted, "queries", 0)

    def count_query(self) -> None:
        """Note that this thread ran a query."""
        self._counted.queries = self.queries_run + 1

    def read(self, work: Callable[[Transaction], Result]) -> Result:
        """Run ``work`` in a read transaction; it may run again, so it must have no side effects.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        with self._attempted(), self._session(neo4j.READ_ACCESS) as session:
            return session.execute_read(lambda transaction: work(Transaction(transaction, self)))

    def write(self, work: Callable[[Transaction], Result]) -> Result:
        """Run ``work`` in a write transaction; it may run again, so it must have no side effects.

        Raises:
            Conflict: a uniqueness constraint was violated.
            StoreUnavailable: the database does not answer; DiskLow.
        """
        self._check_room()
        with self._attempted():
            for attempt in attempts(_is_lost_race, tries=_RACES):
                with attempt, self._session(neo4j.WRITE_ACCESS) as session:
                    return session.execute_write(
                        lambda transaction: work(Transaction(transaction, self))
                    )
        raise AssertionError  # the last attempt raised

    def run(self, query: str, /, **parameters: Any) -> list[neo4j.Record]:  # noqa: ANN401 - driver values
        """Run one named query in a write transaction of its own."""
        return self.write(lambda transaction: transaction.run(query, **parameters))

    def fetch(self, query: str, /, **parameters: Any) -> list[neo4j.Record]:  # noqa: ANN401 - driver values
        """Run one named query in a read transaction of its own."""
        return self.read(lambda transaction: transaction.run(query, **parameters))

    def run_statement(self, statement: str, **parameters: Any) -> list[neo4j.Record]:  # noqa: ANN401
        """Run one schema statement, which Neo4j allows only outside of data transactions."""
        with _translated(), self._session(neo4j.WRITE_ACCESS) as session:
            return list(session.run(statement, parameters))

    def run_long_statement(self, statement: str, **parameters: Any) -> None:  # noqa: ANN401
        """Run one schema statement that may work through the whole store, for an hour at most."""
        with _translated(), self._session(neo4j.WRITE_ACCESS) as session:
            session.run(neo4j.Query(statement, timeout=_LONG_SECONDS), parameters).consume()

    def run_named(self, query: str, /, **parameters: Any) -> None:  # noqa: ANN401 - driver values
        """Run one named query that Neo4j allows only outside of data transactions."""
        self.run_statement(self.query(query).text, **parameters)

    @contextmanager
    def _attempted(self) -> Iterator[None]:
        """Try with patience.

        But while the last call got no answer, only where the database answers at once.
        """
        if self._is_away:
            self._check_back()
        try:
            with _translated():
                yield
        except StoreUnavailable as error:
            # a query that took too long or lost a race says nothing of the next one
            self._is_away = isinstance(
                error.__cause__, DriverError | AuthError | DatabaseUnavailable
            )
            raise

    def _check_back(self) -> None:
        """Ask whether the database is back, one caller for all.

        A second later at the earliest if it is not.
        """
        with self._asking:
            if not self._is_away:
                return  # another caller has just found it
            if time.monotonic() < self._refused_until:
                raise StoreUnavailable
            began = time.monotonic()
            problem = self.problem()
            if problem and time.monotonic() - began < _ASKED_SECONDS:
                problem = (
                    self.problem()
                )  # the first was refused at once: it may have been a dead connection
            if problem is None:
                self._is_away = False
                return
            is_refused = isinstance(problem, StoreLoginRefused)
            self._refused_until = time.monotonic() + (
                LOGIN_SECONDS if is_refused else _ASKED_SECONDS
            )
            raise problem

    def problem(self) -> StoreUnavailable | None:
        """Why the database does not answer now, asked once: it is away, or damaged.

        None where it answers.
        """
        try:
            self.run_named("service.ping")
        except StoreUnavailable as away:
            is_open = not isinstance(
                away.__cause__, DatabaseUnavailable
            )  # the server itself does not answer
            return away if is_open or not self._has_failed() else StoreDamaged()
        return None

    def _has_failed(self) -> bool:
        """Whether the server answers, and says that it could not open the database."""
        try:
            with _translated(), self._driver.session(database="system") as session:
                return bool(
                    list(
                        session.run(QUERIES["service.failed_database"].text, database=self.database)
                    )
                )
        except GraphmemError:
            return False

    def check(self) -> None:
        """Return when the database answers a query.

        Raises:
            StoreUnavailable: it does not.
        """
        self.fetch("service.ping")

    def close(self) -> None:
        """Close every connection."""
        self._driver.close()

    def _session(self, access: str) -> neo4j.Session:
        return self._driver.session(
            database=self.database,
            default_access_mode=access,
            bookmark_manager=self._bookmarks,
            fetch_size=1000,
        )


def _is_lost_race(error: Exception) -> bool:
    """Whether another writer created or removed a node between our reading and locking it."""
    return isinstance(error, ConstraintError) or (
        isinstance(error, ClientError) and (error.code or "").endswith("EntityNotFound")
    )


def _is_out_of_memory(error: TransientError) -> bool:
    """Whether the query, or all queries together, hold as much memory as they may."""
    return "OutOfMemory" in (error.code or "")


@contextmanager
def _translated() -> Iterator[None]:
    """The one place where driver errors become ours, but for those that must not be retried."""
    try:
        yield
    except GraphmemError:
        raise
    except ConstraintError as error:
        msg = "Something of that key is already stored."
        raise Conflict(msg) from error
    except AuthError as error:
        raise StoreLoginRefused from error
    except (DriverError, TransientError) as error:
        raise StoreUnavailable from error
    except ClientError as error:
        code = error.code or ""
        if "TransactionTimedOut" in code:
            msg = "The query took too long."
            raise StoreUnavailable(msg) from error
        if "AuthenticationRateLimit" in code:
            raise StoreLoginRefused from error
        if "DatabaseNotFound" in code:
            msg = "Neo4j has no database of that name."
            raise StoreUnavailable(msg) from error
        raise
    except Neo4jError as error:
        is_panic = (error.code or "").endswith("TransactionStartFailed")
        raise (StorePanicked if is_panic else StoreUnavailable) from error


def rows_of(reader: Transaction | Connection, query: str, /, **parameters: Any) -> Sequence[Row]:  # noqa: ANN401 - driver values
    """The rows of a named query, inside a transaction or by one of its own."""
    run = reader.fetch if isinstance(reader, Connection) else reader.run
    return run(query, **parameters)
