"""Every error that graphmem raises on purpose. The docstring of a class is its default message."""

from collections.abc import Mapping, Sequence

# path of a field, such as "items.3.content" → what is wrong with it
FieldProblems = Mapping[str, Sequence[str]]


class GraphmemError(Exception):
    """Something went wrong inside graphmem."""

    code = "internal"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or type(self).__doc__)

    @property
    def message(self) -> str:
        """The sentence for the user; it never holds memory contents or secrets."""
        return str(self)


class NotFound(GraphmemError):
    """There is nothing of that name that this key may read."""

    code = "not_found"


class Conflict(GraphmemError):
    """The request disagrees with what is stored."""

    code = "conflict"


class KeptByRoom(Conflict):
    """A room keeps this memory: only its own calls may change it."""

    code = "kept_by_room"


class SessionOfAnother(Conflict):
    """The session belongs to the person who first wrote to it."""

    code = "session_of_another"


class FeedbackDisabled(Conflict):
    """This space counts no feedback (lifecycle.feedback_enabled, negative_examples_enabled)."""

    code = "feedback_disabled"


class InvalidInput(GraphmemError):
    """The request is not valid."""

    code = "invalid_input"

    def __init__(self, fields: FieldProblems, message: str | None = None) -> None:
        super().__init__(message or "Not valid: " + ", ".join(sorted(fields)) + ".")
        self.fields = {path: list(problems) for path, problems in fields.items()}


class Unauthenticated(GraphmemError):
    """A valid API key as Authorization: Bearer gm_… or X-API-Key: gm_… is needed."""

    code = "unauthenticated"


class Forbidden(GraphmemError):
    """This key may not do that."""

    code = "forbidden"


class RetractedSource(Conflict):
    """What this source said was taken back, and it now says something else."""

    code = "retracted"


class ScopeDenied(Forbidden):
    """An orchestrator space can only be recalled alone."""

    code = "scope_denied"


class MemoryDisabled(Forbidden):
    """Memory is switched off for this orchestrator (memory.enabled)."""

    code = "memory_disabled"


class IngestDisabled(Forbidden):
    """The ingest folder of this orchestrator is switched off (memory.ingest.enabled)."""

    code = "ingest_disabled"


class SourcePathDenied(Forbidden):
    """A memory cites a file outside what this orchestrator may cite, so nothing is recalled."""

    code = "source_path_denied"


class PolicyRefused(GraphmemError):
    """The policy of this space refuses that memory."""

    code = "policy_refused"

    def __init__(self, reason: str, message: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class TooManyCalls(GraphmemError):
    """This key has called too often; try again later."""

    code = "too_many_requests"

    def __init__(self, *, retry_seconds: int) -> None:
        super().__init__()
        self.retry_seconds = retry_seconds


class StoreUnavailable(GraphmemError):
    """The graph store does not answer."""

    code = "store_unavailable"


class DiskLow(StoreUnavailable):
    """The disk is nearly full, so nothing is written; recalls go on."""

    code = "disk_low"


class StoreDamaged(StoreUnavailable):
    """Neo4j cannot open its database; its log says why."""

    code = "memory_db_corrupt"


class StorePanicked(StoreUnavailable):
    """Neo4j stopped its database after a critical error, such as a full disk; see its log."""


class StoreOutOfMemory(StoreUnavailable):
    """Neo4j has no memory left for this call; ask for less at once, or give it a larger heap."""


class StoreLoginRefused(StoreUnavailable):
    """Neo4j refuses the user or the password."""


class ValueDamaged(GraphmemError):
    """The graph holds a value that this version does not know."""

    code = "memory_db_corrupt"


class ModelUnavailable(GraphmemError):
    """The model does not answer."""

    code = "model_unavailable"


class SettingsError(GraphmemError):
    """The settings are not valid."""

    code = "settings_invalid"


class SchemaMismatch(GraphmemError):
    """The schema in the database does not fit this version of graphmem."""

    code = "schema_mismatch"


class SchemaOutdated(SchemaMismatch):
    """The schema in the database is older than this version, and may just be brought up to date."""


class EmbeddedServerError(StoreUnavailable):
    """The embedded Neo4j could not be prepared or started."""

    code = "embedded_server"
