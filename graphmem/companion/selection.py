"""Selection (001, Retrieval): which memories stand in a context, and as which lines. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphmem.companion.judge import normalised_content
from graphmem.model.companion import Fact, FactKind, FactSource
from graphmem.model.policy.companion import CompanionRecallPolicy
from graphmem.text.rendering import within_line

_UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class FactCard:
    """Something that results are about, and what else is known of it."""

    key: str
    facts: tuple[Fact, ...]

    @property
    def text(self) -> str:
        """The card as a line: ``[person:john]: fact1; fact2; fact3``."""
        said = (within_line(fact.content, apart=";") for fact in self.facts)
        return f"[{self.key}]: {'; '.join(said)}"


def normalized(content: str) -> str:
    """The form in which two contents are duplicates (001): case, blanks and the end do not count.

    What is nothing but punctuation stays as it is.
    """
    return normalised_content(content) or content.strip()


def chosen(
    ranked: Iterable[Fact], foundation: Iterable[Fact], policy: CompanionRecallPolicy
) -> tuple[Fact, ...]:
    """The best memories, so many of each kind and in all; none says what another one says."""
    most = {
        FactKind.PROFILE: policy.profile,
        FactKind.PEOPLE: policy.people,
        FactKind.PROJECT: policy.project,
    }
    said = {normalized(fact.content) for fact in foundation}
    taken: list[Fact] = []
    of_kind: Counter[FactKind] = Counter()
    for fact in ranked:
        content = normalized(fact.content)
        if content not in said and of_kind[fact.kind] < most[fact.kind]:
            said.add(content)
            of_kind[fact.kind] += 1
            taken.append(fact)
    return tuple(taken[: policy.chosen])


def ref_keys(results: Iterable[Fact]) -> tuple[str, ...]:
    """The keys of all that results are about, in their order, each once."""
    return tuple(dict.fromkeys(ref for fact in results for ref in fact.entity_refs))


def cards(
    keys: Sequence[str], facts: Iterable[Fact], policy: CompanionRecallPolicy
) -> tuple[FactCard, ...]:
    """The cards of some keys, in their order; ``facts`` come in the order of the store.

    A fact stands only on the card of the first key that it has, and equal facts stand there once.
    """
    found: dict[str, dict[str, Fact]] = {key: {} for key in keys}
    for fact in facts:
        key = next((key for key in found if key in fact.entity_refs), None)
        if key is not None and len(found[key]) < policy.card_facts:
            found[key].setdefault(normalized(fact.content), fact)
    made = [FactCard(key=key, facts=tuple(of.values())) for key, of in found.items() if of]
    return tuple(made[: policy.cards])


def line_of(fact: Fact) -> str:
    """A memory as a line: ``[GOSPEL:seeded_profile] …``, ``[OBSERVATION:curated_fold] …``."""
    rank = "GOSPEL" if fact.source is FactSource.SEEDED_PROFILE else "OBSERVATION"
    return f"[{rank}:{fact.source or _UNKNOWN}] {within_line(fact.content)}"
