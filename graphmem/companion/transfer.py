"""Transfer: personas, users, sessions and summaries as lines of an export, and back.

A space of a user holds what all personas share, one of a user with a persona what is theirs; other
spaces hold nothing of it. Sessions lead memories of the user back to messages of the persona.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from graphmem.companion.overrides import SaveOverrides
from graphmem.companion.personas import SLUG_FORM, is_slug
from graphmem.companion.transfer_lines import (
    CompanionUserLine,
    PersonaLine,
    RollingSummaryLine,
    SessionLine,
    SessionStateLine,
    SpinePartLine,
)
from graphmem.errors import InvalidInput
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.validation import is_uid
from graphmem.gateway.workbench import Workbench
from graphmem.intake.jsonl_format import Line, checked
from graphmem.intake.record_transfer import Loaded, RecordTransfer, TakeInRecords
from graphmem.model.caller import Role
from graphmem.model.companion import (
    CompanionUser,
    CuratorState,
    Persona,
    RollingError,
    RollingSummary,
    Session,
    SessionState,
    SessionSummary,
    Spine,
    SpineLine,
    SummaryText,
)
from graphmem.model.space import Space, SpaceKind
from graphmem.model.trace import TraceKind
from graphmem.rooms import Transfer
from graphmem.store.companion_transfer import (
    CompanionRecords,
    LedBack,
    WholeRolling,
    WholeSession,
    rolling_key,
    spine_key,
    take_in_rolling,
    take_in_sessions,
    take_in_spines,
    take_in_state,
)
from graphmem.store.companions import find_state, find_user, lock_user, save_seed, save_user
from graphmem.store.connection import Connection
from graphmem.store.personas import find_persona, lock_persona, save_persona
from graphmem.text.normalise import one_line
from graphmem.text.times import iso

Values = dict[str, Any]
_SUMMARY_LISTS = ("what_mattered", "open_loops", "commitments", "people")


class TakeInCompanion(TakeInRecords):
    """Write what another store kept of users and personas."""

    kind = TraceKind.COMPANION


class TakeInPersonas(TakeInRecords):
    """Write personas that another store kept, as curators may."""

    kind = TraceKind.PERSONA
    role = Role.CURATOR


def transfers_over(gateway: Gateway, connection: Connection) -> tuple[Transfer, ...]:
    """All kinds of the room, in the order in which they are written again."""
    kinds = (
        *(PersonaTransfer, CompanionUserTransfer, SessionStateTransfer),
        *(SessionTransfer, RollingSummaryTransfer, SpineTransfer),
    )
    return tuple(kind(gateway=gateway, connection=connection) for kind in kinds)


@dataclass(frozen=True, kw_only=True)
class _CompanionTransfer(RecordTransfer):
    """What the kinds of the room have in common: which spaces hold them, and the form of a line."""

    connection: Connection
    operation: ClassVar[type[TakeInRecords]] = TakeInCompanion
    of_users: ClassVar[bool] = False
    of_personas: ClassVar[bool] = True
    form: ClassVar[type[Line]]

    @abstractmethod
    def of_space(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The lines of a space that may hold some."""

    @abstractmethod
    def from_values(self, values: Values, space: Space) -> Loaded:
        """What a line of that form holds.

        Raises:
            InvalidInput: something is wrong with it.
        """

    @property
    def records(self) -> CompanionRecords:
        """What reads all records of a space."""
        return CompanionRecords(self.connection)

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """What a space holds."""
        if self._lies_in(space):
            yield from self.of_space(space)

    def loaded(self, value: Any, space: Space) -> Loaded:  # noqa: ANN401 - any JSON
        """What a line holds.

        Raises:
            InvalidInput: something is wrong with it, or it belongs in no such space.
        """
        if not self._lies_in(space):
            places = ["user:ada"] * self.of_users + ["user:ada/coach"] * self.of_personas
            raise InvalidInput({self.kind: [f"Lies in a space such as {' or '.join(places)}."]})
        return self.from_values(checked(self.form(), self.kind, value), space)

    def _lies_in(self, space: Space) -> bool:
        if space.persona is None:
            return self.of_users and space.kind is SpaceKind.USER
        return self.of_personas and space.kind is SpaceKind.USER and is_slug(space.persona)

    def _refuse(self, field: str, problem: str) -> InvalidInput:
        return InvalidInput({f"{self.kind}.{field}": [problem]})


class PersonaTransfer(_CompanionTransfer):
    """The persona of a space, who belongs to the tenant."""

    kind = "persona"
    plural = "personas"
    operation = TakeInPersonas
    form = PersonaLine

    def of_space(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The persona, if there is one of that slug."""
        persona = find_persona(self.connection, space.tenant, space.persona or "")
        if persona:
            yield {
                **_named(persona, "slug", "name", "prompt", "enable_spine", "is_active"),
                **_times(persona, "created_at", "updated_at"),
            }

    def from_values(self, values: Values, space: Space) -> Loaded:
        """The persona of a line, who must be that of the space."""
        values["name"] = one_line(values["name"])
        if values["slug"] != space.persona:
            problem = f"The space is that of {space.persona}." if is_slug(values["slug"]) else None
            raise self._refuse("slug", problem or SLUG_FORM)
        if not values["name"]:
            raise self._refuse("name", "Must show something.")
        persona = Persona(tenant=space.tenant, **values)
        return Loaded(key=persona.key, record=persona, texts=[persona.name, persona.prompt])

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write personas whose slug the tenant does not have."""
        found: dict[str, bool] = {}
        for persona in records:
            is_new = lock_persona(transaction, persona.tenant, persona.slug) is None
            if is_new:
                save_persona(transaction, persona)
            found.setdefault(persona.key, is_new)
        return found


class CompanionUserTransfer(_CompanionTransfer):
    """The user of a space, with what an operator wrote of him."""

    kind = "companion_user"
    plural = "companion_users"
    of_users = True
    of_personas = False
    form = CompanionUserLine

    def of_space(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The user, if personas know him."""
        user = find_user(self.connection, space)
        if user:
            yield {
                **_named(user, "email", "seed", "spine_messages", "spine_version"),
                "overrides": dict(user.overrides),
                **_times(user, "seeded_at", "created_at", "updated_at"),
            }

    def from_values(self, values: Values, space: Space) -> Loaded:
        """The user of a line."""
        try:
            SaveOverrides(space=space, overrides=values["overrides"]).check()
        except InvalidInput as error:
            problems = {f"{self.kind}.{path}": texts for path, texts in error.fields.items()}
            raise InvalidInput(problems) from error
        if values["seed"] is not None:
            values["seeded_at"] = values["seeded_at"] or values["updated_at"]
        user = CompanionUser(space=space, **values)
        names = (text for pair in user.overrides.items() for text in pair)
        return Loaded(
            key=space.key, record=user, texts=[*filter(None, (user.email, user.seed)), *names]
        )

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write a user who is not known here."""
        found: dict[str, bool] = {}
        for user in records:
            known = lock_user(transaction, user.space)
            is_new = known.created_at is None
            if is_new:
                version = max(known.spine_version, user.spine_version)
                save_user(transaction, replace(user, spine_version=version))
            if is_new and user.seeded_at:
                save_seed(transaction, user)
            found.setdefault(user.space.key, is_new)
        return found


class SessionStateTransfer(_CompanionTransfer):
    """What lasts of a user with a persona."""

    kind = "session_state"
    plural = "session_states"
    form = SessionStateLine

    def of_space(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The state, once there is one."""
        state = find_state(self.connection, space)
        if state == SessionState(space=space):
            return
        curator, error = state.curator, state.last_rolling_error
        yield {
            **_named(state, "message_count", "last_user_message", "rolling_summary"),
            **_named(state, "rolled_count"),
            **_times(state, "last_interaction", "last_user_at"),
            **_times(state, "last_rolling_attempt_at", "last_rolling_success_at"),
            "last_rolling_error": asdict(error) if error else None,
            "curator": {
                **_times(curator, "last_run_at"),
                **_named(curator, "last_memory_count_at_run"),
            }
            if curator
            else None,
            "unrolled": self.records.is_unrolled(space),
        }

    def from_values(self, values: Values, space: Space) -> Loaded:
        """The state of a line."""
        is_unrolled = values.pop("unrolled")
        curator, error = values.pop("curator"), values.pop("last_rolling_error")
        state = SessionState(
            space=space,
            curator=CuratorState(**curator) if curator else None,
            last_rolling_error=RollingError(**error) if error else None,
            **values,
        )
        said = [state.last_user_message, state.rolling_summary, *(error or {}).values()]
        return Loaded(
            key=space.key, record=(state, is_unrolled), texts=[text for text in said if text]
        )

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write a state where there is none."""
        found: dict[str, bool] = {}
        for state, is_unrolled in records:
            is_new = take_in_state(transaction, state, is_unrolled=is_unrolled)
            found.setdefault(state.space.key, is_new)
        return found


class SessionTransfer(_CompanionTransfer):
    """The sessions of a user with a persona, with their messages and summaries."""

    kind = "session"
    plural = "sessions"
    form = SessionLine

    def of_space(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The sessions of a space."""
        return map(_session_line, self.records.sessions(space))

    def from_values(self, values: Values, space: Space) -> Loaded:
        """The session of a line; one that left something with the user changes his space too."""
        if not is_uid(values["uid"]):
            raise self._refuse("uid", "Must be the uid of a session.")
        names = ("uid", "started_at", "last_activity_at", "ended_at", "turn_count")
        session = Session(space=space, **{name: values[name] for name in names})
        summary = _summary(values["summary"], session.uid) if values["summary"] else None
        is_unsummed = summary is None if values["unsummed"] is None else values["unsummed"]
        whole = WholeSession(
            session=session,
            is_unsummed=is_unsummed,
            turns=tuple(values["turns"]),
            unjudged=frozenset(values["unjudged"]),
            summary=summary,
            left=tuple(LedBack(**each) for each in values["left"]),
        )
        return Loaded(
            key=session.key,
            record=whole,
            texts=_texts_of(summary) if summary else (),
            more_spaces=(space.without_persona,) if whole.left else (),
        )

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write sessions, and what is missing of those that are here."""
        return take_in_sessions(transaction, records)


def _session_line(whole: WholeSession) -> Values:
    session, summary = whole.session, whole.summary
    return {
        **_named(session, "uid", "turn_count"),
        **_times(session, "started_at", "last_activity_at", "ended_at"),
        "turns": list(whole.turns),
        "unjudged": [uid for uid in whole.turns if uid in whole.unjudged],
        "summary": {
            **asdict(summary.text),
            **_named(summary, "model", "parse_error", "truncated"),
            **_times(summary, "created_at"),
        }
        if summary
        else None,
        "unsummed": whole.is_unsummed,
        "left": list(map(asdict, whole.left)),
    }


def _summary(values: Values, session: str) -> SessionSummary:
    text = SummaryText(
        one_liner=values.pop("one_liner"),
        tone=values.pop("tone"),
        **{name: tuple(values.pop(name)) for name in _SUMMARY_LISTS},
    )
    return SessionSummary(session=session, text=text, **values)


def _texts_of(summary: SessionSummary) -> list[str]:
    lists = (text for name in _SUMMARY_LISTS for text in getattr(summary.text, name))
    return [summary.text.one_liner, summary.text.tone, *lists]


class RollingSummaryTransfer(_CompanionTransfer):
    """What a user with a persona had lately spoken of, at each time."""

    kind = "rolling_summary"
    plural = "rolling_summaries"
    form = RollingSummaryLine

    def of_space(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The rolling summaries of a space."""
        for each in self.records.rolling_summaries(space):
            yield {
                **_named(each.summary, "uid", "text", "model"),
                **_times(each.summary, "created_at"),
                "turns": list(each.turns),
            }

    def from_values(self, values: Values, space: Space) -> Loaded:
        """The rolling summary of a line."""
        turns = tuple(values.pop("turns"))
        summary = RollingSummary(space=space, **values)
        if not is_uid(summary.uid):
            raise self._refuse("uid", "Must be the uid of a summary.")
        whole = WholeRolling(summary=summary, turns=turns)
        return Loaded(key=rolling_key(summary), record=whole, texts=[summary.text])

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write rolling summaries, and let them rest on messages."""
        return take_in_rolling(transaction, records)


class SpineTransfer(_CompanionTransfer):
    """The long summary of a user; what is open lies in the spaces of the personas."""

    kind = "spine"
    plural = "spines"
    of_users = True
    form = SpinePartLine

    def of_space(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The versions that lie in a space."""
        for spine in self.records.spines(space):
            sections = {
                name: [asdict(line) for line in lines] for name, lines in spine.sections.items()
            }
            yield {
                **_named(spine, "version", "message_count"),
                **_times(spine, "created_at"),
                "sections": sections,
            }

    def from_values(self, values: Values, space: Space) -> Loaded:
        """A version of a line, which counts among those of the user."""
        sections = {
            name: tuple(SpineLine(**{**line, "persona": space.persona}) for line in lines)
            for name, lines in values.pop("sections").items()
        }
        spine = Spine(space=space, sections=sections, **values)
        return Loaded(
            key=spine_key(spine),
            record=spine,
            texts=[line.text for lines in sections.values() for line in lines],
            more_spaces=(space.without_persona,),
        )

    def take_in(self, transaction: Workbench, records: Sequence[Any]) -> Mapping[str, bool]:
        """Write versions, and let them rest on memories."""
        return take_in_spines(transaction, records)


def _named(record: object, *names: str) -> Values:
    return {name: getattr(record, name) for name in names}


def _times(record: object, *names: str) -> dict[str, str | None]:
    return {name: iso(getattr(record, name)) for name in names}
