"""Rules of policy values: which values one may take, and whether a space may set it.

They stand beside the value, as metadata of its field.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field
from typing import Any, cast

import re2

_RULE = "rule"
_MOST = 1_000_000
_PATTERNS_MAX, _PATTERN_MAX_CHARS = 50, 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """What a value may be: a number from ``least`` to ``most``, one of some words, or several.

    ``is_positive`` refuses 0; ``is_pattern`` takes a list of regular expressions instead. A
    ``form`` says itself what is wrong with a value. Those ``of_all`` spaces no space may set.
    """

    least: float = 0
    most: float = _MOST
    is_positive: bool = False
    words: Sequence[str] = ()
    is_pattern: bool = False
    form: Callable[[object], str | None] | None = None
    of_all: bool = False

    def problem(self, default: object, value: object) -> str | None:
        """What is wrong with a value, by the kind of the default; None when all is well."""
        if self.form:
            return self.form(value)
        if isinstance(default, bool):
            return None if isinstance(value, bool) else "Must be true or false."
        if isinstance(default, str):
            return None if value in self.words else f"Must be one of {', '.join(self.words)}."
        if isinstance(default, tuple):
            return _problem_of_patterns(value) if self.is_pattern else self._problem_of_words(value)
        return self._problem_of_number(default, value)

    def _problem_of_words(self, value: object) -> str | None:
        if not isinstance(value, list | tuple) or any(each not in self.words for each in value):
            return f"Must be a list of {', '.join(self.words)}."
        return None

    def _problem_of_number(self, default: object, value: object) -> str | None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or value != value:  # noqa: PLR0124 - not a number
            return "Must be a number."
        number = cast("float", value)
        if not 0 <= number <= self.most or (number == 0 and self.is_positive):
            begin = "above" if self.is_positive else "at least"
            return f"Must be {begin} 0 and at most {self.most:,}."
        if number < self.least:
            return f"Must be at least {self.least}."
        if isinstance(default, int) and number != int(number):
            return "Must be an integer."
        return None


def _problem_of_patterns(value: object) -> str | None:
    if not isinstance(value, list | tuple) or len(value) > _PATTERNS_MAX:
        return f"Must be a list of at most {_PATTERNS_MAX} regular expressions."
    found = (
        f"{number}: {problem}"
        for number, each in enumerate(value)
        if (problem := pattern_problem(each))
    )
    return next(found, None)


def pattern_problem(pattern: object) -> str | None:
    """What is wrong with a regular expression, which has to match in linear time."""
    if not isinstance(pattern, str) or not 1 <= len(pattern) <= _PATTERN_MAX_CHARS:
        return f"Must be a regular expression of 1 to {_PATTERN_MAX_CHARS} characters."
    try:
        compiled_pattern(pattern)
    except (re2.error, UnicodeEncodeError):
        return "Must be a regular expression without look-around and back references."
    return None


def compiled_pattern(pattern: str) -> Any:  # noqa: ANN401 - re2 has no types
    """A regular expression that matches in linear time, whatever the case.

    Raises:
        re2.error: it is broken, or could only match by trying again.
    """
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    return re2.compile(pattern, options)


def patterns() -> Any:  # noqa: ANN401 - a field of that default
    """A list of regular expressions that a space may set."""
    return field(default=(), metadata={_RULE: Rule(is_pattern=True)})


def number(default: float, **rule: Any) -> Any:  # noqa: ANN401 - a field of that default
    """A number that a space may set, within bounds."""
    return field(default=default, metadata={_RULE: Rule(**rule)})


def share(default: float) -> Any:  # noqa: ANN401 - a field of that default
    """A number from 0 to 1 that a space may set."""
    return number(default, most=1)


def flag(default: bool, **rule: Any) -> Any:  # noqa: ANN401, FBT001 - a field of that default
    """A truth value that a space may set."""
    return field(default=default, metadata={_RULE: Rule(**rule)})


def text_of_all(default: str, form: Callable[[object], str | None]) -> Any:  # noqa: ANN401 - a field of that default
    """A text of a form that holds for all spaces."""
    return field(default=default, metadata={_RULE: Rule(form=form, of_all=True)})


def table_of_all(form: Callable[[object], str | None]) -> Any:  # noqa: ANN401 - a field of that default
    """A table of a form that holds for all spaces."""
    empty: Callable[[], Mapping[str, str]] = dict
    return field(default_factory=empty, metadata={_RULE: Rule(form=form, of_all=True)})


def word(default: str, *words: str) -> Any:  # noqa: ANN401 - a field of that default
    """One of some words that a space may set."""
    return field(default=default, metadata={_RULE: Rule(words=words)})


def word_list(default: Sequence[str], *words: str) -> Any:  # noqa: ANN401 - a field of that default
    """Some of some words that a space may set."""
    return field(default=tuple(default), metadata={_RULE: Rule(words=words)})


def rule_of(value: "Field[Any]") -> Rule | None:
    """The rule beside a value; None where it holds for the whole service and nobody sets it."""
    rule: Rule | None = value.metadata.get(_RULE)
    return rule
