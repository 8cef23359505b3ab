"""Status: the block that tells of a corpus, and when it is shown (000, Status display). Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from graphmem.corpus.state import CorpusFacts, state_of
from graphmem.errors import Conflict, InvalidInput
from graphmem.model.corpus import CorpusState, CorpusWork, LastShown, Verification

TITLE = "MEMORY STATUS"
NEVER = "Never"
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()  # whatever the locale
_NOON = 12


class NotInitialized(Conflict):
    """This corpus has no repository yet, and no operation was tried: bootstrap it first."""

    code = "not_initialized"


class Intent(StrEnum):
    """What somebody is after, the most urgent first."""

    CONVERSATION_ONLY = "intent_conversation_only"
    FAILURE_RECOVERY = "intent_failure_recovery"
    PDF_EXPORT = "intent_pdf_export"
    MEMORY_PERSIST_UPDATE = "intent_memory_persist_update"
    ONBOARDING_IMPORT_REPAIR = "intent_onboarding_import_repair"
    RESUME_DRAFTING = "intent_resume_drafting"
    JD_ANALYSIS = "intent_jd_analysis"
    MEMORY_STATUS = "intent_memory_status"
    INITIALIZATION_OR_SETUP = "intent_initialization_or_setup"


def leading_intent(intents: Iterable[Intent]) -> Intent | None:
    """The most urgent of some intents."""
    return min(intents, key=list(Intent).index, default=None)


class EmissionPolicy(StrEnum):
    """When a status is shown that nobody asked for."""

    ON_CHANGE = "on_change"
    ON_REQUEST = "on_request"


_ON_EVERY_TURN = "always"


def emission_policy(name: str) -> EmissionPolicy:
    """The policy of a name; an unknown one shows changes.

    Raises:
        InvalidInput: a status on every turn is what the mission document forbids (trap 66).
    """
    if name == _ON_EVERY_TURN:
        raise InvalidInput({"policy": ["A status is not shown on every turn."]})
    is_known = name in set(EmissionPolicy)
    return EmissionPolicy(name) if is_known else EmissionPolicy.ON_CHANGE


class EmissionReason(StrEnum):
    """Why a status is shown, or not."""

    REQUESTED = "requested"
    FAILED = "operation_failed"
    FIRST = "not_shown_before"
    CHANGED = "state_changed"
    UNCHANGED = "state_unchanged"
    ON_REQUEST = "only_on_request"


SHOWN = frozenset(
    {
        EmissionReason.REQUESTED,
        EmissionReason.FAILED,
        EmissionReason.FIRST,
        EmissionReason.CHANGED,
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusFacts:
    """What a status tells of: the facts, the last proved write, the newest and last failed work."""

    facts: CorpusFacts
    last_written: datetime | None = None
    newest: CorpusWork | None = None
    last_failed: int = 0  # the number of the newest work that failed; 0 where none did

    @property
    def state(self) -> CorpusState:
        """The state that the facts say."""
        return state_of(self.facts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """What an audience is told, and whether it is shown."""

    show: bool
    reason: EmissionReason
    state: CorpusState
    fields: Mapping[str, object]

    @property
    def text(self) -> str:
        """The block in plain text."""
        return block(self.fields)

    @property
    def fenced(self) -> str:
        """The block as code."""
        return f"```text\n{self.text}\n```"


def status(
    told: StatusFacts,
    seen: LastShown | None,
    *,
    intent: Intent | None = None,
    policy: EmissionPolicy = EmissionPolicy.ON_CHANGE,
) -> Status:
    """The status for an audience that saw another one before, or none.

    Raises:
        NotInitialized: there is no repository, and nothing was tried.
    """
    if not told.facts.has_repository and told.newest is None:
        raise NotInitialized
    reason = emission(told, seen, intent=intent, policy=policy)
    return Status(show=reason in SHOWN, reason=reason, state=told.state, fields=fields(told, seen))


def emission(
    told: StatusFacts, seen: LastShown | None, *, intent: Intent | None, policy: EmissionPolicy
) -> EmissionReason:
    """Why the status is shown, or not: asked for, a failure, a change."""
    if intent is Intent.MEMORY_STATUS:
        return EmissionReason.REQUESTED
    has_failed = told.last_failed > (seen.work if seen else 0)
    if has_failed or intent is Intent.FAILURE_RECOVERY:
        return EmissionReason.FAILED
    if policy is EmissionPolicy.ON_REQUEST:
        return EmissionReason.ON_REQUEST
    if seen is None:
        return EmissionReason.FIRST
    return EmissionReason.UNCHANGED if seen.state is told.state else EmissionReason.CHANGED


def shown_to(told: StatusFacts) -> LastShown:
    """What an audience has seen once it was shown a status."""
    return LastShown(state=told.state, work=told.newest.number if told.newest else 0)


def fields(told: StatusFacts, seen: LastShown | None) -> Mapping[str, object]:
    """The four lines that are always there, and those of work that was not shown yet."""
    baseline = {
        "repo_exists": told.facts.has_repository,
        "corpus_exists": told.facts.corpus_exists,
        "onboarding_complete": told.facts.onboarding_complete,
        "last_written": friendly(told.last_written),
    }
    is_new = told.newest and told.newest.number > (seen.work if seen else 0)
    return {**baseline, **dict(_optional(told.newest))} if told.newest and is_new else baseline


def _optional(work: CorpusWork) -> Iterator[tuple[str, object]]:
    """The lines that matter of a piece of work, in the order of the mission document."""
    if work.validated is not None:
        yield "validated", work.validated
    if work.persisted is not None:
        yield "persisted", work.persisted
    if work.fallback_used:
        yield "fallback_used", True
    if work.method:
        yield "method", work.method
    if work.retry_count:
        yield "retry_count", work.retry_count
    if work.verification is not Verification.NOT_RUN:
        yield "verification", work.verification.value


def block(shown: Mapping[str, object]) -> str:
    """Fields as a block of plain text."""
    return "\n".join((TITLE, *(f"- {name}: {_said(value)}" for name, value in shown.items())))


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def friendly(moment: datetime | None) -> str:
    """A time for people, in UTC: ``Feb 28, 2026 10:42 AM UTC``; without leading zeros (trap 70)."""
    if moment is None:
        return NEVER
    at = moment.astimezone(UTC)
    half = "AM" if at.hour < _NOON else "PM"
    hour = at.hour % _NOON or _NOON
    return f"{_MONTHS[at.month - 1]} {at.day}, {at.year} {hour}:{at.minute:02} {half} UTC"
