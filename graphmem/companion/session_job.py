"""Session job: sessions end after a while without messages, and are summed up."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.adapters.asking import Ask
from graphmem.companion import summary_model
from graphmem.companion.following import Following, messages_of
from graphmem.companion.projection import fact_of, is_fact, todo_of
from graphmem.companion.sessions import window
from graphmem.companion.summaries import SessionMaterial, session_summary
from graphmem.companion.summing import EndSession, KeepSessionSummary
from graphmem.errors import GraphmemError, ModelUnavailable, StoreUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.model.caller import caller_of_job
from graphmem.model.companion import Message, Persona, Session, SessionSummary
from graphmem.model.job import Run
from graphmem.model.policy.companion import CompanionPolicy, SummaryPolicy
from graphmem.model.space import Space, space_from_key
from graphmem.ports import Clock, LanguageModel
from graphmem.store.companions import find_state
from graphmem.store.connection import Connection
from graphmem.store.personas import Personas
from graphmem.store.sessions import Sessions
from graphmem.store.spaces import SpacePolicies
from graphmem.store.summaries import Summaries

log = logging.getLogger(__name__)

_RULES_DO_INSTEAD = "model_unavailable"


@dataclass(frozen=True, kw_only=True)
class SessionJob:
    """Ends sessions that nobody goes on with, and makes their summaries."""

    gateway: Gateway
    connection: Connection
    following: Following
    summaries: Summaries
    sessions: Sessions
    personas: Personas
    policies: SpacePolicies
    model: LanguageModel | None
    clock: Clock

    def run(self, run: Run) -> None:
        """One pass; a dry run counts what it would do."""
        run.counts.update({"ended": 0, "summaries": 0, "rolling": 0, "failed": 0})
        now = self.clock.now()
        # a space may have another window: each session is looked at again under its lock
        stale = self.summaries.stale(now, run.space)
        self._each(stale, run, "ended", lambda key: self._end(key, now, run))
        if not run.dry_run:
            waiting = self.summaries.unsummed(run.space)
            self._each(waiting, run, "summaries", lambda key: self._sum_up(key, run))
            unrolled = (f"{key}|" for key in self.summaries.unrolled(run.space))
            self._each(unrolled, run, "rolling", lambda key: self._roll(key, run))

    def _roll(self, key: str, run: Run) -> bool:
        """Make a rolling summary anew, a message of which was deleted."""
        space = _space_of(key)
        caller = caller_of_job(run.job, space)
        return self.following.roll(space, find_state(self.connection, space), caller=caller)

    def _each(self, keys: Iterator[str], run: Run, what: str, step: Callable[[str], bool]) -> None:
        """Do a step for each of some sessions; one that fails keeps no other from it."""
        for key in keys:
            if run.must_stop():
                return
            try:
                run.counts[what] += step(key)
            except StoreUnavailable:
                raise
            except Exception as error:
                log.exception("a session of %s failed", _space_of(key).key)
                run.counts["failed"] += 1
                code = error.code if isinstance(error, GraphmemError) else type(error).__name__
                run.note_degraded(f"{_space_of(key).key}: {code}")

    def _end(self, key: str, now: datetime, run: Run) -> bool:
        space = _space_of(key)
        policy = self.policies.of(space).companion.summaries
        session = self._session(key)
        if session is None or now - session.last_activity_at <= window(policy):
            return False
        operation = EndSession(key=key, space=space, policy=policy)
        return self.gateway.execute(operation, run).answer or run.dry_run

    def _session(self, key: str) -> Session | None:
        return self.sessions.find(_space_of(key), key.rpartition("|")[2])

    def _sum_up(self, key: str, run: Run) -> bool:
        session = self._session(key)
        if session is None:
            return False
        config = self.policies.of(session.space).companion
        persona = self.personas.of_space(session.space)
        turns = self.summaries.messages_of(session, limit=config.summaries.session_messages)
        summary = self._summary(session, messages_of(turns), persona, config, run)
        operation = KeepSessionSummary(
            session=session, summary=summary, turns=[turn.key for turn in turns]
        )
        return self.gateway.execute(operation, run).answer

    def _summary(
        self,
        session: Session,
        messages: Sequence[Message],
        persona: Persona,
        config: CompanionPolicy,
        run: Run,
    ) -> SessionSummary:
        """What a session was about: by a model, or while that is silent by rules."""
        policy = config.summaries
        if self.model is None:
            return self._by_rules(session, messages, persona, policy)
        try:
            return self._by_model(self.model, session, messages, persona, policy)
        except ModelUnavailable:
            run.note_degraded(_RULES_DO_INSTEAD)
            return self._by_rules(session, messages, persona, policy)

    def _by_model(
        self,
        model: LanguageModel,
        session: Session,
        messages: Sequence[Message],
        persona: Persona,
        policy: SummaryPolicy,
    ) -> SessionSummary:
        before = self.summaries.of_session(session)
        found = summary_model.session_summary(
            Ask(model=model, seconds=policy.session_timeout_seconds),
            messages,
            before.text if before else None,
            persona=persona.name,
            policy=policy,
        )
        return SessionSummary(
            session=session.uid,
            text=found.text,
            created_at=self.clock.now(),
            model=model.name,
            parse_error=found.parse_error,
            truncated=found.truncated,
        )

    def _by_rules(
        self,
        session: Session,
        messages: Sequence[Message],
        persona: Persona,
        policy: SummaryPolicy,
    ) -> SessionSummary:
        judged = self.summaries.judged_in(session)
        material = SessionMaterial(
            messages=messages,
            facts=[fact_of(each) for each in judged if is_fact(each)],
            todos=[todo_of(each) for each in judged if not is_fact(each)],
        )
        text, is_cut = session_summary(material, persona.name, policy)
        return SessionSummary(
            session=session.uid, text=text, created_at=self.clock.now(), truncated=is_cut
        )


def _space_of(key: str) -> Space:
    return space_from_key(key.rpartition("|")[0])
