"""Identity: reflections on one's own part, one an hour, kept short (003). Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from graphmem.lifecycle.told import Told
from graphmem.model.notebook import Reflection
from graphmem.model.policy import LifecycleConfig
from graphmem.store.identity import IdentityState
from graphmem.text.sentences import sentences
from graphmem.text.statements import statement_form

REFLECTION_MAX_CHARS = 15_000  # of one
FULL_CHARS = 15_000  # from which no reflection is added
CONSOLIDATED_CHARS = 8_000  # above which it is made shorter
_APART = timedelta(hours=1)
_SENTENCES_MAX = 200


def is_too_soon(last: datetime | None, now: datetime) -> bool:
    """Whether the last reflection is less than an hour ago."""
    return last is not None and now - last < _APART


def is_full(characters: int) -> bool:
    """Whether an identity of so many characters takes no more."""
    return characters >= FULL_CHARS


def characters_of(reflections: Sequence[Reflection]) -> int:
    """How long an identity is: its reflections, each on lines of its own."""
    return len(identity_text(reflections))


def identity_text(reflections: Sequence[Reflection]) -> str:
    """An identity as one text, the oldest reflection first."""
    return "\n".join(each.text for each in reflections)


def consolidated(reflections: Sequence[Reflection], now: datetime) -> list[Reflection]:
    """The reflections that change so that an identity has no more than 8,000 characters.

    Repeats are dropped, the older of two; then the oldest shrink to their first sentence, and if
    that does not do, are dropped. The newest one is never dropped.
    """
    if characters_of(reflections) <= CONSOLIDATED_CHARS:
        return []
    was = {each.uid: each for each in reflections}
    left = _without_repeats(reflections)
    for shorten in (_first_sentence, None):
        for each in tuple(left):
            is_last = each.uid == left[-1].uid
            if characters_of(left) <= CONSOLIDATED_CHARS or (shorten is None and is_last):
                break
            at = left.index(each)
            left[at : at + 1] = [shorten(each)] if shorten else []
    now_there = {each.uid: each for each in left}
    gone = [replace(each, dropped_at=now) for uid, each in was.items() if uid not in now_there]
    shorter = [each for each in left if each.text != was[each.uid].text]
    return [*gone, *shorter]


def _without_repeats(reflections: Sequence[Reflection]) -> list[Reflection]:
    newest = {statement_form(each.text): each.uid for each in reflections}
    return [each for each in reflections if newest[statement_form(each.text)] == each.uid]


def _first_sentence(reflection: Reflection) -> Reflection:
    found = sentences(reflection.text, limit=_SENTENCES_MAX)
    return replace(reflection, text=found[0]) if found else reflection


def new_reflections(
    state: IdentityState, told: Told, config: LifecycleConfig, now: datetime
) -> Iterator[Reflection]:
    """The reflection of a model, unless it comes too soon or the identity is full."""
    text = told.extraction.kept.reflection
    is_off = not config.identity_enabled or is_too_soon(state.last_at, now)
    if text and not is_off and not is_full(state.characters):
        yield Reflection(
            uid=f"{told.extraction.uid}-r",
            space=told.extraction.space,
            text=text,
            noted_at=now,
            extraction=told.extraction.uid,
        )
