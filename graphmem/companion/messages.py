"""Messages: what a user and a persona say is kept, judged, and followed up."""

from dataclasses import dataclass, replace

from graphmem.companion.following import Followed, Following, Heard
from graphmem.companion.judging import ClaimMessage, Judging, Verdict
from graphmem.companion.posting import Posted, PostMessage
from graphmem.conversations.keeper import ConversationKeeper
from graphmem.conversations.sayings import (
    AHEAD_MAX,
    NOT_READABLE,
    TOO_FAR_AHEAD,
    is_readable,
    normalised,
)
from graphmem.errors import InvalidInput, NotFound
from graphmem.model.caller import Caller
from graphmem.model.companion import (
    CONVERSATION,
    ROOM,
    CompanionUser,
    Session,
    SessionState,
)
from graphmem.model.conversation import Saying, Turn, TurnRole
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space
from graphmem.ports import Clock, IdSource
from graphmem.store.companions import find_state, find_user
from graphmem.store.messages import Waiting
from graphmem.store.sessions import Sessions, session_of_turn, unjudged
from graphmem.store.spaces import SpacePolicies
from graphmem.store.turns import SomeTurns

_SPOKEN = frozenset({TurnRole.USER, TurnRole.ASSISTANT})


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What became of a message: itself, its session, the state after it, and what it said."""

    turn: Turn
    is_new: bool
    is_judged: bool | None  # None: of what is never judged
    session: Session | None
    state: SessionState
    verdict: Verdict
    followed: Followed
    trace_id: str


@dataclass(frozen=True, kw_only=True)
class Messages:
    """Keeps messages for callers."""

    conversations: ConversationKeeper
    judging: Judging
    following: Following
    policies: SpacePolicies
    sessions: Sessions
    clock: Clock
    ids: IdSource

    def say(self, space: Space, saying: Saying, *, caller: Caller, judges_now: bool) -> Said:
        """Keep a message of a user with a persona, whose space it is, and judge it.

        Raises:
            InvalidInput: something is wrong with it, by field.
            NotFound: there is no such persona.
            Conflict: the persona is not active, or the message says something else than before.
            PolicyRefused, KeptByRoom, RetractedSource: it may not be stored.
        """
        self._check(saying)
        posted, claim, trace_id = self._posted(space, saying, caller, judges_now=judges_now)
        verdict, followed = Verdict(), Followed()
        if judges_now and posted.turn.role is TurnRole.USER:
            verdict = self._judged(posted, claim, caller)
        if verdict.is_judged:
            followed = self._followed(posted, caller)
        return self._answer(posted, verdict, followed, trace_id)

    def _followed(self, posted: Posted, caller: Caller) -> Followed:
        heard = Heard(
            turn=posted.turn,
            persona=posted.persona,
            state=posted.state,
            user=posted.user,
        )
        return self.following.run(heard, caller=caller)

    def _check(self, saying: Saying) -> None:
        wrong: dict[str, list[str]] = {}
        if saying.role not in _SPOKEN:
            wrong["role"] = ["Must be user or assistant."]
        if not is_readable(saying.content):
            wrong["content"] = [NOT_READABLE]
        if saying.at and saying.at > self.clock.now() + AHEAD_MAX:
            wrong["occurred_at"] = [TOO_FAR_AHEAD]
        if wrong:
            raise InvalidInput(wrong)

    def _posted(
        self, space: Space, saying: Saying, caller: Caller, *, judges_now: bool
    ) -> tuple[Posted, str, str]:
        """The message as it was kept, the claim of its judge, and the trace."""
        config = self.policies.of(space).companion
        append = self.conversations.to_append(
            space, CONVERSATION, [normalised(saying)], caller=caller, remember=False
        )
        operation = PostMessage(
            append=replace(append, kept_by=ROOM),
            slug=space.persona or "",
            session=self.ids.new("session"),
            policy=config.summaries,
            claim=self.ids.new("claim") if judges_now else "",
            claimed_for=self.judging.claimed_for(config),
        )
        done = self.conversations.gateway.execute(operation, caller)
        return done.answer, operation.claim, done.trace_id

    def _judged(self, posted: Posted, claim: str, caller: Caller) -> Verdict:
        """What became of a message that is to be judged now, unless another judge has it."""
        if not posted.is_new:
            claim = self.ids.new("claim")
            if self._claim(posted.turn.space, posted.turn.key, claim, caller) is None:
                return Verdict()
        return self.judging.run(
            posted.turn, posted.persona, posted.user, claim=claim, caller=caller
        )

    def _claim(self, space: Space, key: str, claim: str, caller: Caller) -> Turn | None:
        config = self.policies.of(space).companion
        operation = ClaimMessage(
            space=space, key=key, claim=claim, claimed_for=self.judging.claimed_for(config)
        )
        return self.conversations.gateway.execute(operation, caller).answer

    def judge_waiting(self, waiting: Waiting, space: Space, *, caller: Caller) -> Verdict:
        """Judge a message that nobody judged yet."""
        claim = self.ids.new("claim")
        turn = self._claim(space, waiting.key, claim, caller)
        if turn is None:
            return Verdict()
        persona, owner = self.judging.personas.of_space(space), space.without_persona
        user = find_user(self.judging.connection, owner) or CompanionUser(space=owner)
        verdict = self.judging.run(turn, persona, user, claim=claim, caller=caller)
        if verdict.is_judged:
            heard = Heard(
                turn=turn,
                persona=persona,
                state=self.state(space),
                user=user,
            )
            self.following.run(heard, caller=caller)
        return verdict

    def _answer(self, posted: Posted, verdict: Verdict, followed: Followed, trace_id: str) -> Said:
        connection = self.judging.connection
        turn, is_user = posted.turn, posted.turn.role is TurnRole.USER
        session = posted.session or session_of_turn(connection, turn.key)
        waits = not verdict.is_judged and bool(unjudged(connection, [turn.key]))
        uids = tuple(each.memory.uid for each in verdict.kept if each.memory)
        return Said(
            turn=replace(turn, memories=turn.memories or uids),
            is_new=posted.is_new,
            is_judged=not waits if is_user else None,
            session=session,
            state=followed.state or posted.state,
            verdict=verdict,
            followed=followed,
            trace_id=trace_id,
        )

    def page(
        self, space: Space, *, before: str | None, after: str | None, limit: int
    ) -> tuple[SomeTurns, int, frozenset[str]]:
        """The newest messages, or those before or behind one; how many, and which wait for judges.

        Raises:
            InvalidInput: there is no message of that uid.
        """
        try:
            some, total = self.conversations.turns(
                space, CONVERSATION, before=before, after=after, limit=limit
            )
        except NotFound:
            return SomeTurns(turns=(), has_more=False), 0, frozenset()
        waiting = unjudged(self.judging.connection, (turn.key for turn in some.turns))
        return some, total, frozenset(waiting)

    def state(self, space: Space) -> SessionState:
        """What lasts of a user with a persona."""
        return find_state(self.judging.connection, space)

    def session_page(self, space: Space, after: Cursor | None, *, limit: int) -> Page[Session]:
        """One page of the sessions of a user with a persona, the latest first."""
        return self.sessions.page(space, after, limit=limit)

    def session(self, space: Space, uid: str) -> Session:
        """A session of a user with a persona.

        Raises:
            NotFound: there is none of that uid.
        """
        found = self.sessions.find(space, uid)
        if found is None:
            raise NotFound
        return found
