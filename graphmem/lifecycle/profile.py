"""Profile: how somebody works and wants to be treated, line by line (003). Pure.

A line that says what another one says, or is contained in it, is not added.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache

from graphmem.lifecycle.told import Told, stating
from graphmem.model.extraction import Category, FactOutcome
from graphmem.model.notebook import ProfileLine
from graphmem.store.profile import WrittenLine
from graphmem.text.statements import statement_form

CATEGORIES = frozenset(
    {Category.PREFERENCE, Category.PRINCIPLE, Category.SKILL, Category.RELATIONSHIP}
)
LINES_MAX = 300  # more are compacted, to less than these (trap 8)
_CONTAINED_MIN_CHARS = 20  # the shorter has more
_CONTAINED_SHARE = 0.6  # the shorter is more than this share of the longer


def says_the_same(one: str, other: str) -> bool:
    """Whether two lines are equal in their normal form, or one is contained in the other."""
    shorter, longer = sorted((_form(one), _form(other)), key=len)
    return _is_said_in(shorter, longer)


def _is_said_in(shorter: str, longer: str) -> bool:
    if shorter == longer:
        return True
    is_long = len(shorter) > _CONTAINED_MIN_CHARS
    return is_long and len(shorter) > _CONTAINED_SHARE * len(longer) and shorter in longer


@lru_cache(maxsize=2_000)
def _form(text: str) -> str:
    return statement_form(text)


def with_line(lines: Sequence[ProfileLine], new: ProfileLine) -> tuple[ProfileLine, ...]:
    """The lines with one more, unless one of them says the same."""
    is_known = any(says_the_same(each.text, new.text) for each in lines)
    return tuple(lines) if is_known else (*lines, new)


def to_add(lines: Sequence[ProfileLine], lacking: Iterable[ProfileLine]) -> list[ProfileLine]:
    """Those of the lines that facts lack which say anything new.

    A fact whose words another line had said has none of its own; it needs one when that is gone.
    """
    shown = tuple(lines)
    for line in lacking:
        shown = with_line(shown, line)
    return list(shown[len(lines) :])


def to_drop(
    lines: Iterable[ProfileLine], repeats: Iterable[tuple[str, str]] = ()
) -> list[ProfileLine]:
    """The lines that go where there are more than 300, until less are left.

    First those that repeat others, the longer of two stays; then those of ``repeats``, uids of a
    line and of one that says it too, as far as the other stays; then the least important, the
    oldest of these first.
    """
    left = list(lines)
    if len(left) <= LINES_MAX:
        return []
    gone = _repeats(left)
    repeated = {line.uid for line in gone}
    left = [line for line in left if line.uid not in repeated]
    staying = {line.uid: line for line in left}
    for uid, other in repeats:
        if uid != other and other in staying and uid in staying:
            gone.append(staying.pop(uid))
    left = list(staying.values())
    over = max(0, len(left) - (LINES_MAX - 1))
    by_weight = sorted(left, key=lambda line: (line.importance, line.noted_at, line.uid))
    return [*gone, *by_weight[:over]]


def _repeats(lines: Sequence[ProfileLine]) -> list[ProfileLine]:
    kept: list[str] = []
    kept_text = ""  # all of them: what is not in it is in none, which one search tells
    gone: list[ProfileLine] = []
    forms = {line.uid: _form(line.text) for line in lines}
    by_length = sorted(lines, key=lambda line: (-len(forms[line.uid]), line.noted_at, line.uid))
    for line in by_length:
        form = forms[line.uid]
        if form in kept_text and any(_is_said_in(form, each) for each in kept):
            gone.append(line)
        else:
            kept.append(form)
            kept_text += f"{form}\n"
    return gone


def new_lines(profile: Sequence[ProfileLine], told: Told, now: datetime) -> Iterator[WrittenLine]:
    """The new lines of a profile: what kept facts say, then what a model says of them."""
    known = tuple(profile)
    corrected = any(not told.superseded.isdisjoint(line.memories) for line in profile)
    for number, (planned, kept) in enumerate(told.facts):
        is_line = kept.category in CATEGORIES or (
            kept.category is Category.CORRECTION and corrected
        )
        if is_line and kept.uid and kept.outcome is not FactOutcome.SUPERSEDED_BY_NEWER:
            line = _line(told, f"p{number}", planned.fact.content, (kept.uid,), now)
            left = [each for each in known if told.superseded.isdisjoint(each.memories)]
            if len(with_line(left, line)) > len(left):
                known = (*known, line)
                yield WrittenLine(line=line, has_words=False)
    for number, text in enumerate(told.extraction.kept.profile_updates):
        memories = stating(text, told)
        line = _line(told, f"w{number}", text, memories, now, is_worded=True)
        if memories and len(with_line(known, line)) > len(known):
            known = (*known, line)
            yield WrittenLine(line=line, has_words=True)


def _line(
    told: Told,
    suffix: str,
    text: str,
    memories: tuple[str, ...],
    now: datetime,
    *,
    is_worded: bool = False,
) -> ProfileLine:
    scores = [kept.importance for _, kept in told.facts if kept.uid in memories]
    return ProfileLine(
        uid=f"{told.extraction.uid}-{suffix}",
        space=told.extraction.space,
        text=text,
        memories=memories,
        importance=round(max(scores, default=0.5) * 100),
        noted_at=now,
        extraction=told.extraction.uid if is_worded else None,
    )
