from builders import ADA, NOW, a_memory, an_item

from graphmem.gateway.conversation import Chain, built_context, leading_words
from graphmem.gateway.decide import decide
from graphmem.model.policy import Policy
from graphmem.model.source import Source
from graphmem.model.state import GraphState


def turn(number, text=None, actor="Ada", **changes):
    source = Source(conversation_id="c")
    return an_item(text or f"Text {number}.", index=number, actor=actor, source=source, **changes)


def decided(*items, state=None):
    return decide(state or GraphState(), items, policy=Policy(), now=NOW)


def contexts(decision):
    return {memory.content: memory.context for memory in (*decision.created, *decision.changed)}


def test_turns_of_a_batch_are_linked_in_their_order():
    decision = decided(turn(0), turn(1), turn(2))

    keys = [f"{ADA.key}|new-{number}" for number in range(3)]
    assert [(keys[0], keys[1]), (keys[1], keys[2])] == sorted(decision.links)
    assert {f"{ADA.key}|c": keys[2]} == decision.last_turns


def test_the_context_is_the_turn_before_then_the_next_then_the_one_before_that():
    decision = decided(*[turn(number) for number in range(4)])

    assert "Text 1.\nText 3.\nText 0." == contexts(decision)["Text 2."]


def test_the_next_turn_rewrites_the_context_of_the_one_before():
    first = decided(turn(0))
    memory = first.created[0]
    state = GraphState(memories={memory.key: memory}, last_turns=first.last_turns)

    second = decided(turn(1), state=state)

    assert memory.context is None
    assert {"Text 0.": "Text 1.", "Text 1.": "Text 0."} == contexts(second)


def test_a_turn_may_be_put_behind_another():
    decision = decided(turn(0), turn(1), turn(2, after="new-0"))

    keys = [f"{ADA.key}|new-{number}" for number in range(3)]
    assert [(keys[0], keys[2]), (keys[2], keys[1])] == sorted(decision.links)
    assert {f"{ADA.key}|c": keys[1]} == decision.last_turns


def test_a_given_context_is_never_rewritten():
    decision = decided(turn(0, context="Given."), turn(1))

    assert "Given." == contexts(decision)["Text 0."]


def test_neighbours_share_what_the_own_text_leaves_of_the_words():
    own = a_memory("one " * 76)
    neighbour = a_memory("alpha beta gamma delta epsilon")

    assert "alpha beta gamma delta" == built_context(own, [neighbour], word_limit=80)


def test_a_long_text_has_no_neighbours():
    assert built_context(a_memory("one " * 80), [a_memory("alpha")], word_limit=80) is None


def test_names_of_other_speakers_are_left_out():
    own = a_memory("Hi.", actor="Ada")
    neighbour = a_memory("Thanks, Bob! Ada helped too.", actor="Bob")

    assert "Thanks, Ada helped too." == built_context(own, [neighbour], word_limit=80)


def test_words_of_scripts_without_blanks_are_bounded_too():
    assert 80 == len(leading_words("用" * 500, 10))


def test_a_chain_knows_its_neighbours():
    chain = Chain()
    for key in "abc":
        chain.insert(key, "conversation", None)

    assert ("b", "a", None) == (chain.at("c", -1), chain.at("c", -2), chain.at("c", 1))
