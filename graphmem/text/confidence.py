"""Confidence: how sure a sentence is of what it says, by its wording. Pure."""

import regex


def _whole_words(*alternatives: str) -> regex.Pattern[str]:
    """Whole words in any letter case."""
    return regex.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", regex.IGNORECASE)


_STATED, _TOLD, _HEDGED, _GUESSED = 0.95, 0.8, 0.6, 0.35
_GUESS = _whole_words(
    "maybe|perhaps|possibly|might|may be|could be|not sure|no idea if|i guess|i suppose|who knows",
    "not certain|i wonder",
)
_HEDGE = _whole_words(
    "i think|i believe|i feel like|probably|likely|seems?|apparently|usually|mostly|kind of",
    "sort of",
    "somewhat|more or less|roughly|i reckon|supposedly|tend to|in a way|as far as i know|afaik",
)
_FIRST_PERSON = _whole_words("i|i'm|i've|i'll|i'd|my|mine|we|we're|we've|our|ours")


def confidence_of(sentence: str) -> float:
    """How sure a sentence is, 0 to 1, by its wording: stated, told of others, hedged or guessed."""
    text = sentence.replace("\u2019", "'")
    if _GUESS.search(text):
        return _GUESSED
    if _HEDGE.search(text):
        return _HEDGED
    return _STATED if _FIRST_PERSON.search(text) else _TOLD
