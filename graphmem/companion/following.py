"""Following up: what a judged message means for summaries and upkeep (001, Summaries, Curator).

Each step stands by itself: where one fails, the message is kept and judged all the same.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graphmem.adapters.asking import Ask
from graphmem.companion import summary_model
from graphmem.companion.curating import is_too_soon
from graphmem.companion.curator import CompanionCurator
from graphmem.companion.summaries import rolling_summary
from graphmem.companion.summing import KeepRolling, MakeSpine, is_rolling_due, is_spine_due
from graphmem.errors import GraphmemError, ModelUnavailable, StoreUnavailable
from graphmem.gateway.gateway import Gateway
from graphmem.model.caller import Caller
from graphmem.model.companion import (
    CONVERSATION,
    CompanionUser,
    Message,
    Persona,
    SessionState,
)
from graphmem.model.conversation import Turn, TurnRole, conversation_key
from graphmem.model.policy.companion import CompanionPolicy
from graphmem.model.space import Space
from graphmem.ports import Clock, IdSource, LanguageModel
from graphmem.store.spaces import SpacePolicies
from graphmem.store.summaries import Summaries

log = logging.getLogger(__name__)

_MODEL_AWAY = "model_unavailable"


@dataclass(frozen=True, kw_only=True, slots=True)
class Followed:
    """What a message led to: summaries that were made, and what did not work."""

    rolling: bool = False
    spine_version: int | None = None
    degraded: tuple[str, ...] = ()
    state: SessionState | None = None  # after what changed it


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """A message that was judged, and what lasts after it."""

    turn: Turn
    persona: Persona
    state: SessionState
    user: CompanionUser


@dataclass(frozen=True, kw_only=True)
class Following:
    """Does what messages lead to."""

    gateway: Gateway
    summaries: Summaries
    curator: CompanionCurator
    policies: SpacePolicies
    model: LanguageModel | None
    clock: Clock
    ids: IdSource

    def run(self, heard: Heard, *, caller: Caller) -> Followed:
        """All that a message leads to.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        config = self.policies.of(heard.turn.space).companion
        followed = Followed()
        for step in (self._rolling, self._spine, self._curate):
            followed = self._done(step, heard, config, followed, caller)
        return followed

    def _done(
        self,
        step: Callable[[Heard, CompanionPolicy, Followed, Caller], Followed],
        heard: Heard,
        config: CompanionPolicy,
        followed: Followed,
        caller: Caller,
    ) -> Followed:
        """What was followed after a step; one that fails is told."""
        try:
            return step(heard, config, followed, caller)
        except StoreUnavailable:
            raise
        except GraphmemError as error:
            log.warning("a step after a message of %s failed: %s", heard.turn.space.key, error.code)
            return replace(followed, degraded=(*followed.degraded, error.code))

    def _rolling(
        self, heard: Heard, config: CompanionPolicy, followed: Followed, caller: Caller
    ) -> Followed:
        """Sum up what was lately spoken of, each fourth message."""
        if not is_rolling_due(heard.state, config.summaries):
            return followed
        text, state, degraded = self._rolled(heard.turn.space, heard.state, config, caller)
        return replace(
            followed,
            rolling=bool(text) and state.rolling_summary == text,
            state=state,
            degraded=(*followed.degraded, *degraded),
        )

    def roll(self, space: Space, state: SessionState, *, caller: Caller) -> bool:
        """Make a rolling summary that is due without a message; whether it was made."""
        config = self.policies.of(space).companion
        if not is_rolling_due(state, config.summaries):
            return False
        text, after, _ = self._rolled(space, state, config, caller)
        return bool(text) and after.rolling_summary == text

    def _rolled(
        self, space: Space, before: SessionState, config: CompanionPolicy, caller: Caller
    ) -> tuple[str | None, SessionState, tuple[str, ...]]:
        """The text of a rolling summary, what lasts after it, and what did not work."""
        policy = config.summaries
        conversation = conversation_key(space, CONVERSATION)
        turns = self.summaries.latest_messages(conversation, limit=policy.rolling_messages)
        text, model, degraded = self._rolling_text(turns, before.rolling_summary, config)
        operation = KeepRolling(
            space=space,
            uid=self.ids.new("summary"),
            text=text,
            model=model,
            turns=[turn.key for turn in turns],
            policy=policy,
        )
        return text, self.gateway.execute(operation, caller).answer, degraded

    def _rolling_text(
        self, turns: Sequence[Turn], previous: str | None, config: CompanionPolicy
    ) -> tuple[str | None, str, tuple[str, ...]]:
        """A rolling summary, who made it, and what did not work."""
        policy, messages = config.summaries, messages_of(turns)
        by_rules = rolling_summary(messages, previous, policy)
        if self.model is None:
            return by_rules, "rules", ()
        ask = Ask(model=self.model, seconds=policy.rolling_timeout_seconds)
        try:
            text = summary_model.rolling_summary(ask, messages, previous, policy=policy)
        except ModelUnavailable:
            return by_rules, "rules", (_MODEL_AWAY,)
        return (text, self.model.name, ()) if text else (by_rules, "rules", ())

    def _spine(
        self, heard: Heard, config: CompanionPolicy, followed: Followed, caller: Caller
    ) -> Followed:
        """Make a version of the long summary, after more than twenty messages."""
        if not (heard.persona.enable_spine and is_spine_due(heard.user, config.summaries)):
            return followed
        user = heard.turn.space.without_persona
        operation = MakeSpine(space=user, policy=config.summaries)
        return replace(followed, spine_version=self.gateway.execute(operation, caller).answer)

    def _curate(
        self, heard: Heard, config: CompanionPolicy, followed: Followed, caller: Caller
    ) -> Followed:
        """Look after what is kept of the user, if that is due."""
        space = heard.turn.space
        if is_too_soon(heard.state.curator, config.curate, self.clock.now()):
            return followed
        if self.curator.run_for(space, caller=caller) is None:
            return followed
        return replace(followed, state=self.curator.curating.state(space))


def messages_of(turns: Sequence[Turn]) -> list[Message]:
    """Turns as summaries read them."""
    return [
        Message(
            uid=turn.uid,
            is_user=turn.role is TurnRole.USER,
            content=turn.content,
            at=turn.at,
        )
        for turn in turns
    ]
