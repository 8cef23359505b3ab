"""Context: what a persona is told before it answers (001, Context builder).

Three round trips: what lasts, what is nearest to the message, and the facts of cards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from graphmem.companion.context_builder import Context, ContextInput, build_context
from graphmem.companion.projection import todo_of
from graphmem.companion.recall import CompanionRecall, Found
from graphmem.companion.sessions import is_stale
from graphmem.errors import NotFound
from graphmem.model.caller import Caller
from graphmem.model.companion import Fact, Message
from graphmem.model.conversation import Turn, TurnRole
from graphmem.model.policy.companion import CompanionPolicy
from graphmem.model.space import Space
from graphmem.store.companion_context import ContextRows, read_context
from graphmem.store.connection import Connection


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextAnswer:
    """A context, what did not work, and the trace of what was found for it."""

    context: Context
    degraded: tuple[str, ...]
    trace_id: str | None


@dataclass(frozen=True, kw_only=True)
class ContextKeeper:
    """Assembles contexts for callers."""

    connection: Connection
    recall: CompanionRecall

    def build(
        self,
        spaces: Sequence[Space],
        *,
        query: str | None,
        budget: int | None,
        caller: Caller,
    ) -> ContextAnswer:
        """The context of a message, by default the last one of the user.

        ``spaces`` is that of the user with the persona, and if it may be read that of the user.

        Raises:
            NotFound: there is no such persona.
        """
        space, owner = spaces[0], next((each for each in spaces if each.persona is None), None)
        policy = self.recall.policies.of(space).companion
        rows = self._rows(space, owner, policy)
        if rows.persona is None:
            message = f"There is no persona {space.persona}."
            raise NotFound(message)
        said, recent = _split(rows.turns, query)
        message = query or (said.content if said else rows.state.last_user_message or "")
        found = (
            self.recall.find(spaces, message, limit=None, caller=caller)
            if message.strip()
            else None
        )
        foundation = found.foundation if found else self.recall.foundation(spaces)
        given = self._input(rows, found, foundation, recent, message, policy)
        context = build_context(given, budget or policy.context.budget, policy)
        return ContextAnswer(
            context=context,
            degraded=found.degraded if found else (),
            trace_id=found.trace_id if found else None,
        )

    def _rows(self, space: Space, owner: Space | None, policy: CompanionPolicy) -> ContextRows:
        context = policy.context
        return read_context(
            self.connection,
            space,
            owner=owner,
            todos=context.todos,
            wins=context.wins,
            wins_after=self.recall.clock.now() - timedelta(hours=context.win_hours),
            messages=context.messages + 1,
        )

    def _input(
        self,
        rows: ContextRows,
        found: Found | None,
        foundation: Sequence[Fact],
        recent: Sequence[Message],
        message: str,
        policy: CompanionPolicy,
    ) -> ContextInput:
        now = self.recall.clock.now()
        session = rows.session
        if session and is_stale(session.last_activity_at, now, policy.summaries):
            session = None
        assert rows.persona is not None  # noqa: S101 - looked at before
        return ContextInput(
            now=now,
            persona=rows.persona,
            user=rows.user,
            state=rows.state,
            foundation=foundation,
            cards=found.cards if found else (),
            chosen=found.chosen if found else (),
            pending=[todo_of(each) for each in rows.pending],
            wins=[todo_of(each) for each in rows.wins],
            spine=rows.spine,
            session=session,
            latest_summary=rows.summary[1] if rows.summary else None,
            latest_ended_at=rows.summary[0].ended_at if rows.summary else None,
            recent=recent,
            message=message,
            has_entity_pipeline=policy.entity_pipeline,
        )


def _split(turns: Sequence[Turn], query: str | None) -> tuple[Turn | None, list[Message]]:
    """The message that is to be answered, and those before it, oldest first.

    ``turns`` come latest first. The last message of the user is meant, if the query does not say
    another; it stands among the others only where an answer came since.
    """
    said = next((turn for turn in turns if turn.role is TurnRole.USER), None)
    newest = turns[0] if turns else None
    is_present = newest is said and (query is None or (said is not None and said.content == query))
    others = turns[1:] if newest and is_present else turns
    messages = [
        Message(
            uid=turn.uid,
            is_user=turn.role is TurnRole.USER,
            content=turn.content,
            at=turn.at,
        )
        for turn in reversed(others)
    ]
    return said, messages
