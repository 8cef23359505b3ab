"""Sessions: short ways to say something in a space, and to look at what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphmem.adapters.language_models import build_language_model
from graphmem.conversations.keeper import ConversationKeeper
from graphmem.gateway.status import ChangeStatus
from graphmem.lifecycle.keeper import Heeded, LifecycleKeeper
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.extraction import Extraction, KeptFact
from graphmem.model.memory import Memory, Status
from graphmem.model.space import Space, parse_space


class Session:
    """A session of a space of a house, in which Ada speaks."""

    def __init__(self, house: Any, space: str = "user:ada", session: str = "chat-1") -> None:
        self.house = house
        self.keeper: LifecycleKeeper = house.graphmem.of(LifecycleKeeper)
        self.space: Space = parse_space(space, tenant=house.caller.tenant)
        self.session = session

    def with_model(self, url: str, **options: Any) -> "Session":
        """Let the model of a server read the turns, and order what a context found."""
        model = build_language_model("openai:m", url=url, **options)
        extractor = self.keeper.extractor
        linking = replace(extractor.linking, model=model)
        extractor = replace(extractor, model=model, linking=linking)
        contexts = replace(self.keeper.contexts, model=model)
        self.keeper = replace(self.keeper, extractor=extractor, contexts=contexts)
        return self

    def want(self, **values: Any) -> None:
        """Set values of the lifecycle in the policy of the space."""
        overrides = {f"lifecycle.{name}": value for name, value in values.items()}
        self.house.graphmem.policies.save(self.space, overrides)

    def say(self, *contents: str, wait: bool = True, **options: Any) -> Heeded:
        """Say something, one turn for each text."""
        values = {"role": TurnRole.USER, "actor": "Ada"} | options
        sayings = [Saying(uid="", content=content, **values) for content in contents]
        return self.keeper.heed(
            self.space, self.session, sayings, caller=self.house.caller, wait=wait
        )

    def read(self, content: str, **options: Any) -> Extraction:
        """Say something that is extracted at once."""
        (extraction,) = self.say(content, **options).extractions
        return extraction

    def fact(self, content: str, **options: Any) -> KeptFact:
        """Say something that becomes one fact."""
        (fact,) = self.read(content, **options).kept.facts
        return fact

    def put_away(self, uid: str | None, status: Status = Status.RETRACTED) -> None:
        """Retract a memory, or give it another status."""
        change = ChangeStatus(memory=self.memory(uid), status=status, reason=None)
        self.house.graphmem.gateway.execute(change, self.house.caller)

    def memory(self, uid: str | None) -> Memory:
        """The memory of a uid."""
        key = f"{self.space.key}|{uid}"
        return self.house.graphmem.memories.by_key([key])[key]

    def memories(self) -> Sequence[tuple[Any, ...]]:
        """What the memories of the space say and how they stand, oldest first."""
        return self.house.rows(
            "MATCH (m:Memory {space: $space}) RETURN m.content, m.status"
            " ORDER BY m.created_at, m.key",
            space=self.space.key,
        )

    def delete_turn(self, uid: str) -> None:
        """Delete a turn of the session."""
        keeper = self.house.graphmem.of(ConversationKeeper)
        keeper.delete_turn(self.space, self.session, uid, caller=self.house.caller)

    def run_job(self, **options: Any) -> Mapping[str, int]:
        """Run the job that extracts; what it counted."""
        return self.house.graphmem.runner.run("extract", by_hand=True, **options).counts
