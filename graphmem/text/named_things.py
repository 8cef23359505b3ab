"""Named things: the names in a sentence, what kind each is, and how they stand to each other. Pure.

Names are capitalised, or known: labels and aliases of entities that are there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from graphmem.model.extraction import Named, Relationship
from graphmem.text.analysis import STOP_WORDS
from graphmem.text.wording import wording

OTHER = "other"
_KNOWN_WORDS_MAX = 4  # of a label or alias that is looked for
_CUE_CHARS = 60  # around a name that tell what it is, or how it stands to another
_NAMES_MAX, _NAME_MAX_CHARS, _CAPITALS_MAX = 16, 100, 3  # of a sentence; words in capitals alone
_WORD = r"(?!I(?:['\u2019]|\s|$))\p{Lu}[\p{L}\p{M}\p{N}'\u2019&.+#-]*"  # I is nobody's name
_NAME = regex.compile(rf"{_WORD}(?:\s+(?:(?:of|the|de|der|la|van|von)\s+)?{_WORD})*")
_TOKEN = regex.compile(r"[\p{L}\p{M}\p{N}'\u2019&.+#-]+")
_NAMES = wording("graphmem.text", "names")
_NO_NAMES = STOP_WORDS | frozenset(_NAMES["none"].split())
_SPEAKER = regex.compile(r"(?:^|\b)(?:I|i|we|We)\b")
_SUBJECT = regex.compile(_NAMES["subject"])
_KIN_BEHIND = regex.compile(_NAMES["kin_behind"], regex.IGNORECASE)
_KIN_BEFORE = regex.compile(_NAMES["kin_before"], regex.IGNORECASE)
_BEFORE = [(type_, regex.compile(cue, regex.IGNORECASE)) for type_, cue in _NAMES["before"]]
_BEHIND = [(type_, regex.compile(cue, regex.IGNORECASE)) for type_, cue in _NAMES["behind"]]
_VERBS = [
    (
        regex.compile(rf"^\s*(?:also |now |still |currently )?{verb}\s+(?:the )?$"),
        label,
        source,
        target,
    )
    for verb, label, source, target in _NAMES["verbs"]
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A name where it stands in a sentence."""

    named: Named
    start: int
    end: int


def candidate_names(text: str) -> list[str]:
    """The texts of one to four words that could be the label or an alias of an entity."""
    tokens = [match[0] for match in _TOKEN.finditer(text)]
    spans = (
        tokens[start : start + size]
        for size in range(1, _KNOWN_WORDS_MAX + 1)
        for start in range(len(tokens) - size + 1)
    )
    names = (" ".join(span).rstrip(".'\u2019") for span in spans)
    return list(dict.fromkeys(name for name in names if name.lower() not in STOP_WORDS))


def names_in(sentence: str, known: Mapping[str, str]) -> list[Place]:
    """The names of a sentence in their order, with their kinds.

    ``known`` gives the kinds of entities that are there, by their names in lower case.
    """
    found: dict[int, Place] = {}
    for match in _NAME.finditer(sentence):
        name = match[0].rstrip(".'\u2019-&")
        name = name.removesuffix("'s").removesuffix("\u2019s")
        if _is_name(name, sentence, match.start(), known):
            end = match.start() + len(name)
            type_ = known.get(name.lower()) or _type_at(sentence, match.start(), end)
            named = Named(name=name, type=type_)
            found[match.start()] = Place(named=named, start=match.start(), end=end)
    for place in _known_in(sentence, known):
        if not any(place.start < each.end and each.start < place.end for each in found.values()):
            found[place.start] = place
    return [found[start] for start in sorted(found)][:_NAMES_MAX]


def _is_name(name: str, sentence: str, start: int, known: Mapping[str, str]) -> bool:
    """Whether a capitalised text is a name, which the first word of a sentence need not be."""
    words = name.lower().split()
    if len(name) > _NAME_MAX_CHARS or (name.isupper() and len(words) > _CAPITALS_MAX):
        return False
    if (
        not words
        or all(word in _NO_NAMES or word.removesuffix("s") in _NO_NAMES for word in words)
        or name.lower() in known
    ):
        return bool(words) and name.lower() in known
    if sentence[:start].strip(" \"'([“\u2018-") or len(words) > 1:
        return words[0] not in _NO_NAMES or len(words) > 1
    behind = sentence[start + len(name) :]
    is_subject = _SUBJECT.match(behind)
    return bool(is_subject) and words[0] not in _NO_NAMES and not words[0].endswith("ing")


def _known_in(sentence: str, known: Mapping[str, str]) -> Iterator[Place]:
    """Names of entities that are there, however they are spelled; the longest first."""
    if not known:
        return
    lowered = sentence.lower()
    for name in sorted(known, key=len, reverse=True):
        at = lowered.find(name)
        while at >= 0:
            end = at + len(name)
            if not (sentence[at - 1 : at].isalnum() or sentence[end : end + 1].isalnum()):
                named = Named(name=sentence[at:end], type=known[name])
                yield Place(named=named, start=at, end=end)
                break
            at = lowered.find(name, end)


def _type_at(sentence: str, start: int, end: int) -> str:
    """What kind of thing a name is, by the words around it."""
    before, behind = sentence[max(0, start - _CUE_CHARS) : start], sentence[end : end + _CUE_CHARS]
    by_behind = (type_ for type_, cue in _BEHIND if cue.search(behind))
    by_before = (type_ for type_, cue in _BEFORE if cue.search(before))
    return next(by_behind, None) or next(by_before, OTHER)


def relationships_in(
    sentence: str, places: Sequence[Place], actor: str | None, statement: int
) -> list[Relationship]:
    """How the named things of a sentence stand to each other; the speaker stands for ``I``."""
    speaker = Named(name=actor, type="person") if actor else None
    found = [
        Relationship(source=source, target=target, label=label, statement=statement)
        for place in places
        for source, label, target in _before(sentence, places, place, speaker)
    ]
    if speaker:
        found += _kin(sentence, places, speaker, statement)
    return found


def _before(
    sentence: str, places: Sequence[Place], target: Place, speaker: Named | None
) -> Iterator[tuple[Named, str, Named]]:
    """Who stands before a name with a verb between, the label that this gives, and the name."""
    first = max(0, target.start - _CUE_CHARS)
    subjects = [(each.end, each.named) for each in places if first <= each.end <= target.start]
    if speaker:
        subjects += [
            (match.end(), speaker) for match in _SPEAKER.finditer(sentence, first, target.start)
        ]
    for end, named in subjects:
        between = sentence[end : target.start]
        for pattern, label, source_type, target_type in _VERBS:
            if pattern.match(between):
                yield _of(named, source_type), label, _of(target.named, target_type)


def _of(named: Named, type_: str) -> Named:
    """A name of the kind that a verb tells, where it tells one."""
    return named if type_ == OTHER else Named(name=named.name, type=type_)


def _kin(
    sentence: str, places: Sequence[Place], speaker: Named, statement: int
) -> Iterator[Relationship]:
    """Who is what to the speaker: ``Nora is my sister``, ``my sister Nora``."""
    for place in places:
        match = _KIN_BEHIND.match(sentence[place.end :]) or _KIN_BEFORE.search(
            sentence[: place.start]
        )
        if match:
            label = f"{match['kin'].lower().replace('-', '_')}_of"
            source = Named(name=place.named.name, type="person")
            yield Relationship(source=source, target=speaker, label=label, statement=statement)
