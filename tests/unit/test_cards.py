from hypothesis import given
from hypothesis import strategies as st

from graphmem.model.policy import CardPolicy
from graphmem.recall.cards import entity_cards
from graphmem.store.candidates import CardFact

POLICY = CardPolicy()
JOHN, ACME = ("person:john", "John"), ("org:acme", "Acme")


def a_fact(content, *entities):
    return CardFact(key=f"s|{content}", uid=content, content=content, entities=entities)


def texts(entities, *facts):
    return [card.text for card in entity_cards(entities, facts, POLICY)]


def test_a_card_is_a_line_of_its_facts():
    assert ["[person:john]: likes tea; has a cat"] == texts(
        [JOHN], a_fact("likes tea", "person:john"), a_fact("has a cat", "person:john")
    )


def test_a_fact_stands_only_on_the_card_of_its_first_entity():
    both = a_fact("works at Acme", "org:acme", "person:john")

    assert ["[person:john]: works at Acme"] == texts([JOHN, ACME], both)
    assert ["[org:acme]: works at Acme"] == texts([ACME, JOHN], both)


def test_equal_facts_stand_there_once():
    assert ["[person:john]: Likes tea."] == texts(
        [JOHN], a_fact("Likes tea.", "person:john"), a_fact("likes  Tea", "person:john")
    )


def test_three_facts_fill_a_card():
    facts = [a_fact(f"fact {number}", "person:john") for number in range(5)]

    assert ["[person:john]: fact 0; fact 1; fact 2"] == texts([JOHN], *facts)


def test_five_cards_are_enough():
    keys = [f"person:p{number}" for number in range(7)]

    cards = entity_cards([(key, key) for key in keys], [a_fact(key, key) for key in keys], POLICY)

    assert keys[:5] == [card.key for card in cards]


def test_an_entity_without_facts_has_no_card():
    assert ["[org:acme]: a"] == texts([JOHN, ACME], a_fact("a", "org:acme"))


@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=3), st.sets(st.sampled_from("abcdefg"), min_size=1)),
        max_size=30,
    )
)
def test_no_fact_is_ever_on_two_cards(facts):
    cards = entity_cards(
        [(key, key) for key in "abcdefg"],
        [
            CardFact(key=f"{n}", uid=f"{n}", content=text, entities=tuple(keys))
            for n, (text, keys) in enumerate(facts)
        ],
        POLICY,
    )

    shown = [fact.uid for card in cards for fact in card.facts]
    assert len(set(shown)) == len(shown)
    assert all(len(card.facts) <= POLICY.facts for card in cards)
