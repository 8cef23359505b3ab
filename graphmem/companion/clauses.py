"""Clauses: the statements of a message, and the plain form in which rules read them. Pure."""

import re
from collections.abc import Sequence

from graphmem.text.sentences import sentences

_READ_CHARS, _SENTENCES_MAX = 16_000, 60  # of a message
_WORDS_MIN = 3
_FIRST_PERSON = r"(?:i|i'm|i'll|i've|i'd|im|ive|my|we|we're|we'll|we've|we'd|our)\b"
_JOINT = re.compile(
    rf"(?:,? (?:and|but|so|also|plus)|;| [\u2014\u2013-]) (?={_FIRST_PERSON})", re.IGNORECASE
)
_CONDITION = re.compile(
    r"(?:if|when|whenever|unless|although|though|because|while|before|after|since|once|until)\b",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"(?:so|and|but|well|okay|ok|oh|also|actually|honestly|anyways?|hey|hi|hello|yeah|yes|yep|um|uh"
    r"|hmm|look|listen|basically|plus|btw|fyi|by the way|to be honest|tbh|frankly|i mean|you know"
    r"|the thing is|just so you know|for what it's worth|one more thing|alright|guess what|update"
    r"|good news|bad news|(?:no|right|sorry|please|thanks|remember|ugh|sigh|wow)(?=[,.:!]))"
    r"[,.:;!\u2014\u2013 -]+",
    re.IGNORECASE,
)
_FILLERS_MAX = 4
_PLAIN = (
    (r"\bcan't\b|\bcannot\b|\bcant\b", "can not"),
    (r"\bwon't\b|\bwont\b", "will not"),
    (r"\b(do|does|did|is|are|was|were|has|have|had|would|could|should|must|need)n't\b", r"\1 not"),
    (r"\b(do|does|did|is|are|was|were|has|have|would|could|should)nt\b", r"\1 not"),
    (r"\bI'?m\b", "I am"),
    (r"\bI've\b|\bive\b", "I have"),
    (r"'ve\b", " have"),
    (r"'re\b", " are"),
    (r"'ll\b", " will"),
    (r"\b(i|you|he|she|it|we|they|who|that|there)'d\b", r"\1 would"),
    (r"\blet's\b", "let us"),
    (r"\b(he|she|it|that|there|here|what|who|where|how|everything|everyone)'s\b", r"\1 is"),
    (r"\bgonna\b", "going to"),
    (r"\bgotta\b", "have to"),
    (r"\bwanna\b", "want to"),
)
_CONTRACTIONS = [(re.compile(pattern, re.IGNORECASE), text) for pattern, text in _PLAIN]


def sentences_of(content: str) -> tuple[str, ...]:
    """The sentences of a message, each on one line."""
    text = content[:_READ_CHARS].replace("\u2019", "'")
    found = sentences(text, limit=_SENTENCES_MAX) or (text,)
    lines = (" ".join(each.split()) for each in found)
    return tuple(line for line in lines if len(plain(line).split()) >= _WORDS_MIN)


def clauses_of(sentence: str) -> Sequence[str]:
    """The parts of a sentence that could each be a statement of the user; itself where just one."""
    if _CONDITION.match(sentence):
        return (sentence,)
    parts = _JOINT.split(sentence)
    return parts if all(len(plain(each).split()) >= _WORDS_MIN for each in parts) else (sentence,)


def plain(clause: str) -> str:
    """A clause without fillers before it and without contractions."""
    for _ in range(_FILLERS_MAX):
        filler = _FILLER.match(clause)
        clause = clause[filler.end() :] if filler else clause
    for pattern, text in _CONTRACTIONS:
        clause = pattern.sub(text, clause)
    return clause
