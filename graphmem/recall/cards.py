"""Entity cards: what else is known of the entities that the results mention (001, Retrieval)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphmem.model.policy import CardPolicy
from graphmem.model.relation import Relation
from graphmem.store.candidates import CardFact
from graphmem.text.normalise import comparable
from graphmem.text.rendering import within_line


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """An entity, the most important facts about it beside the results, and how it is related."""

    key: str
    label: str
    facts: tuple[CardFact, ...]
    relations: tuple[Relation, ...] = ()

    @property
    def text(self) -> str:
        """The card as a line of a prompt: ``[person:john]: fact1; fact2; fact3``.

        Relations stand behind the facts: ``John works at Acme``.
        """
        said = [fact.content for fact in self.facts]
        said += [
            f"{each.start.label or each.start.key} {each.label} {each.end.label or each.end.key}"
            for each in self.relations
        ]
        return f"[{self.key}]: " + "; ".join(within_line(text, apart=";") for text in said)


def entity_cards(
    entities: Iterable[tuple[str, str]],
    facts: Sequence[CardFact],
    policy: CardPolicy,
    relations: Sequence[Relation] = (),
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
    related = {
        key: tuple(each for each in relations if key in {each.start.key, each.end.key})
        for key in labels
    }
    cards = [
        Card(
            key=key,
            label=labels[key],
            facts=tuple(found.values()),
            relations=related[key][: policy.relations],
        )
        for key, found in chosen.items()
        if found or related[key]
    ]
    return tuple(cards[: policy.cards])
