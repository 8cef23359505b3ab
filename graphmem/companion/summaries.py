"""Summaries (001): of a session, of the last messages, and of all that lasts. Pure.

They are made by rules, or by a model whose answers are read here. Rules say only what was said.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from graphmem.companion.selection import normalized
from graphmem.model.companion import (
    EntityKind,
    Fact,
    FactKind,
    FactStatus,
    Message,
    SpineLine,
    SummaryText,
    Todo,
    TodoKind,
    TodoStatus,
)
from graphmem.model.entity import label_from_key
from graphmem.model.policy.companion import ContextPolicy, SummaryPolicy
from graphmem.text.analysis import STOP_WORDS, words
from graphmem.text.json_answers import json_in
from graphmem.text.model_answers import object_in
from graphmem.text.normalise import is_storable, one_line, shorten
from graphmem.text.rendering import within_line
from graphmem.text.sentences import sentences

SPINE_SECTIONS = ("PROFILE", "PROJECTS", "PEOPLE", "OPEN_LOOPS")
UNAVAILABLE = "Summary unavailable."
_NEUTRAL, _UNKNOWN = "neutral", "unknown"
_LISTS = ("what_mattered", "open_loops", "commitments", "people")
_SECTION_OF = {
    FactKind.PROFILE: "PROFILE",
    FactKind.PROJECT: "PROJECTS",
    FactKind.PEOPLE: "PEOPLE",
}
_OPEN_LOOPS = "OPEN_LOOPS"
# words that tell a tone; of two equally frequent ones the first counts
_TONES = {
    tone: frozenset(said.split())
    for tone, said in {
        "anxious": "anxious worried worry nervous stressed afraid scared panicking overwhelmed",
        "tired": "tired exhausted sleepy drained exhausting",
        "excited": "excited thrilled stoked amazing exciting",
        "calm": "calm relaxed peaceful rested relieved",
        "negative": "sad angry upset annoyed frustrated frustrating terrible awful hate lonely hurt"
        " disappointed unhappy depressed",
        "positive": "happy glad great love proud grateful wonderful enjoyed fun delighted",
    }.items()
}
_DENIALS = frozenset({"not", "never", "no", "t"})  # "didn't" is spoken as "didn t"
_SMALL_TALK = frozenset("hi hello hey yo thanks thank ok okay yes yeah no well bye morning".split())
_NO_CONTENT = STOP_WORDS | _SMALL_TALK
_BEFORE_PUNCTUATION = re.compile(r" (?=[,.!?;:])")
_DATA = ("{", "[", "`")  # what broken JSON begins with


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionMaterial:
    """What was said in a session, oldest first, and what was judged of it."""

    messages: Sequence[Message]
    facts: Sequence[Fact] = ()
    todos: Sequence[Todo] = ()


def session_summary(
    said: SessionMaterial, persona_name: str, policy: SummaryPolicy
) -> tuple[SummaryText, bool]:
    """What a session was about, by rules and in its bounds, and whether something was cut off."""
    users = _of_user(said.messages, policy.session_messages, policy.message_chars)
    judged: list[Fact | Todo] = [*said.facts, *said.todos]
    facts = sorted(said.facts, key=lambda fact: -fact.importance)
    waiting = [todo for todo in said.todos if todo.status is TodoStatus.PENDING]
    promised = [todo for todo in waiting if todo.kind is TodoKind.COMMITMENT]
    text = SummaryText(
        one_liner=_most_telling(users, [each.content for each in judged]),
        what_mattered=tuple(map(_topic, facts)),
        open_loops=tuple(todo.content for todo in waiting if todo not in promised),
        commitments=tuple(todo.content for todo in promised),
        people=tuple(person for fact in facts for person in _people(fact)),
        tone=_tone(users),
    )
    return limited(text, persona_name, policy)


def limited(
    text: SummaryText, persona_name: str, policy: SummaryPolicy
) -> tuple[SummaryText, bool]:
    """A summary without the persona, in its bounds, and whether something was cut off."""
    whole = _without_persona(text, persona_name)
    lists = {
        name: tuple(
            shorten(item, policy.item_chars) for item in getattr(whole, name)[: policy.list_items]
        )
        for name in _LISTS
    }
    kept = SummaryText(
        one_liner=shorten(whole.one_liner, policy.one_liner_chars),
        tone=shorten(whole.tone, policy.tone_chars),
        **lists,
    )
    return kept, kept != whole


def fallback(text: str) -> SummaryText:
    """What is shown where an answer has not the form of a summary: its first sentence, if any."""
    is_prose = is_storable(text) and not text.lstrip().startswith(_DATA)
    return SummaryText(one_liner=(_sentences(text)[0] if is_prose else "") or UNAVAILABLE)


def display(text: SummaryText, policy: ContextPolicy) -> str:
    """A summary on one line, as contexts have it; empty parts are left out."""
    parts = {
        "One-liner": (text.one_liner,),
        "What mattered": text.what_mattered,
        "Open loops": text.open_loops,
        "Commitments": text.commitments,
        "People": text.people,
        "Tone": (text.tone,),
    }
    shown = {
        name: "; ".join(within_line(item, apart="|;") for item in items if item.strip())
        for name, items in parts.items()
    }
    line = " | ".join(f"{name}: {items}" for name, items in shown.items() if items)
    return line[: policy.session_summary_chars]


def summary_from_answer(answer: object) -> SummaryText | None:
    """The summary that a model's answer holds, before it is limited; None where it holds none."""
    found = _object_in(answer)
    lists = {name: tuple(_texts(found.get(name))) for name in _LISTS}
    one_liner = next(_texts(found.get("one_liner")), "")
    if not one_liner and not any(lists.values()):
        return None
    return SummaryText(one_liner=one_liner, tone=next(_texts(found.get("tone")), _UNKNOWN), **lists)


def rolling_summary(
    messages: Sequence[Message], previous: str | None, policy: SummaryPolicy
) -> str:
    """What the user said last, oldest first, a sentence of each message; by rules.

    Nothing where he said nothing new since the summary before.
    """
    said = _of_user(messages, policy.rolling_messages, policy.message_chars)
    newest = dict.fromkeys(filter(None, map(_gist, reversed(said))))
    lines = list(newest)[: policy.rolling_lines]
    # so that all lines fit with the line ends between them
    share = max(1, (policy.rolling_chars + 1) // policy.rolling_lines - 1)
    text = "\n".join(shorten(line, share) for line in reversed(lines))[: policy.rolling_chars]
    return "" if text == (previous or "").strip() else text


def rolling_from_answer(answer: object, policy: SummaryPolicy) -> str | None:
    """The rolling summary that a model wrote, in its bounds; None where it wrote none."""
    if not isinstance(answer, str) or not is_storable(answer):
        return None
    lines = [line for line in map(one_line, answer.splitlines()) if line]
    text = "\n".join(lines[: policy.rolling_lines])
    return text[: policy.rolling_chars].rstrip() or None


def spine_sections(
    facts: Iterable[Fact], todos: Iterable[Todo], policy: SummaryPolicy
) -> Mapping[str, tuple[SpineLine, ...]]:
    """The long summary of a user: what is held of him, the weightiest first, and what is open.

    Each persona has room of its own, so that the todos of one never push out those of another.
    """
    active = [fact for fact in facts if fact.status is FactStatus.ACTIVE]
    active.sort(key=lambda fact: (fact.importance, fact.created_at, fact.uid), reverse=True)
    waiting = [todo for todo in todos if todo.status is TodoStatus.PENDING]
    waiting.sort(key=lambda todo: (todo.created_at, todo.uid), reverse=True)
    found: dict[str, list[Fact | Todo]] = {name: [] for name in SPINE_SECTIONS}
    for fact in active:
        found[_SECTION_OF[fact.kind]].append(fact)
    found[_OPEN_LOOPS] += waiting
    return {name: _lines(held, policy) for name, held in found.items()}


def spine_of(
    sections: Mapping[str, tuple[SpineLine, ...]], persona: str | None, policy: SummaryPolicy
) -> Mapping[str, tuple[SpineLine, ...]]:
    """What a persona sees of the long summary: its own lines, and those of all."""
    return {
        name: tuple(line for line in sections.get(name, ()) if line.persona in {None, persona})[
            : policy.spine_lines
        ]
        for name in SPINE_SECTIONS
    }


def spine_text(
    sections: Mapping[str, tuple[SpineLine, ...]], *, persona: str | None, policy: SummaryPolicy
) -> str:
    """The long summary as a persona sees it; nothing where that is next to nothing."""
    parts = [
        "\n".join((f"{name}:", *(f"- {within_line(line.text)}" for line in lines)))
        for name, lines in spine_of(sections, persona, policy).items()
        if lines
    ]
    text = "\n".join(parts)
    return text if len(text) >= policy.spine_min_chars else ""


def _of_user(messages: Sequence[Message], most: int, chars: int) -> list[str]:
    """The beginnings of the last messages of the user."""
    said = [message.content[:chars] for message in messages if message.is_user]
    return said[max(0, len(said) - most) :]


def _sentences(text: str) -> Sequence[str]:
    """The sentences of a text, one at least."""
    return tuple(map(one_line, sentences(text, limit=len(text)))) or (one_line(text),)


def _content_words(text: str) -> frozenset[str]:
    return frozenset(words(text)) - _NO_CONTENT


def _gist(text: str) -> str:
    """The first sentence that says something; nothing where none does."""
    return next((each for each in _sentences(text) if _content_words(each)), "")


def _most_telling(said: Iterable[str], judged: Iterable[str]) -> str:
    """The sentence with most words of what was judged, else the first that says something."""
    known = _content_words("\n".join(judged))
    found = ((sentence, _content_words(sentence)) for text in said for sentence in _sentences(text))
    return max(found, key=lambda each: (len(each[1] & known), bool(each[1])), default=("", None))[0]


def _topic(fact: Fact) -> str:
    """What a memory is about: what it says, and of whom where it does not say so."""
    label = fact.entity_label or ""
    return fact.content if label.lower() in fact.content.lower() else f"{label}: {fact.content}"


def _people(fact: Fact) -> list[str]:
    """The names of the people whom a memory is about."""
    names = {ref: label_from_key(ref) for ref in fact.entity_refs}
    if fact.entity_label and fact.entity_refs:
        names[fact.entity_refs[0]] = fact.entity_label  # a label is that of the first ref
    return [name for ref, name in names.items() if ref.startswith(f"{EntityKind.PERSON}:")]


def _tone(said: Iterable[str]) -> str:
    """The tone of what the user said, by its words; one behind a denial does not count."""
    spoken = [word for text in said for word in ("", *words(text))]
    telling = Counter(
        tone
        for before, word in pairwise(spoken)
        for tone, meant in _TONES.items()
        if word in meant and before not in _DENIALS
    )
    return max(_TONES, key=lambda tone: telling[tone]) if telling else _NEUTRAL


def _without_persona(text: SummaryText, name: str) -> SummaryText:
    """A summary in its normal form, in which the persona is nobody."""
    lists = {each: _distinct(getattr(text, each)) for each in _LISTS}
    lists["people"] = tuple(
        person for person in lists["people"] if person.casefold() != name.casefold()
    )
    return SummaryText(
        one_liner=_unnamed(one_line(text.one_liner), name) or UNAVAILABLE,
        tone=one_line(text.tone) or _UNKNOWN,
        **lists,
    )


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for item in filter(None, map(one_line, items)):
        found.setdefault(normalized(item), item)
    return tuple(found.values())


def _unnamed(line: str, name: str) -> str:
    """A line without a name, in its own letter case or in capitals: "will" is not Will."""
    forms = "|".join(re.escape(form) for form in {name, name.upper(), name[:1].upper() + name[1:]})
    bare, found = re.subn(rf"(?<!\w)(?:{forms})(?:['\u2019]s)?(?!\w)", "", line)
    if not name or not found:
        return line
    return _BEFORE_PUNCTUATION.sub("", " ".join(bare.split())).lstrip(",.;:!? ")


def _object_in(answer: object) -> Mapping[str, object]:
    """The object that an answer is or holds; an empty one where it holds none."""
    if isinstance(answer, str):
        try:
            answer = json_in(answer)
        except ValueError:
            return {}
    return object_in(answer)


def _texts(value: object) -> Iterator[str]:
    """The texts of a value that should be one, or a list of them."""
    values = value if isinstance(value, list) else [value]
    return (each for each in values if isinstance(each, str) and is_storable(each) and each.strip())


def _lines(held: Iterable[Fact | Todo], policy: SummaryPolicy) -> tuple[SpineLine, ...]:
    """A line for each memory or todo that says something new, so many for each persona."""
    found: dict[tuple[str | None, str], SpineLine] = {}
    count: Counter[str | None] = Counter()
    for each in held:
        key = (each.persona, normalized(each.content))
        if key not in found and count[each.persona] < policy.spine_lines:
            count[each.persona] += 1
            text = shorten(each.content, policy.item_chars)
            found[key] = SpineLine(text=text, uid=each.uid, persona=each.persona)
    return tuple(found.values())
