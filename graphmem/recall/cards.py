"""Entity cards: what else is known of the entities that the results mention (001, Retrieval)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphmem.model.policy import CardPolicy
from graphmem.store.candidates import CardFact
from graphmem.text.normalise import comparable
from graphmem.text.rendering import within_line


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """An entity and the most important facts about it, beside the results themselves."""

    key: str
    label: str
    facts: tuple[CardFact, ...]

    @property
    def text(self) -> str:
        """The card as a line of a prompt: ``[person:john]: fact1; fact2; fact3``."""
        return f"[{self.key}]: " + "; ".join(
            within_line(fact.content, apart=";") for fact in self.facts
        )


def entity_cards(
    entities: Iterable[tuple[str, str]], facts: Sequence[CardFact], policy: CardPolicy
) -> tuple[Card, ...]:
    """The cards of entities, in their order; ``facts`` come most important first.

    A fact stands only on the card of the first entity that it mentions, and equal facts stand there
    once.
    """
    labels = dict(entities)
    chosen: dict[str, dict[str, CardFact]] = {key: {} for key in labels}
    for fact in facts:
        about = next((key for key in labels if key in fact.entities), None)
        if about is not None and len(chosen[about]) < policy.facts:
            chosen[about].setdefault(comparable(fact.content) or fact.content, fact)
    cards = [
        Card(key=key, label=labels[key], facts=tuple(found.values()))
        for key, found in chosen.items()
        if found
    ]
    return tuple(cards[: policy.cards])
