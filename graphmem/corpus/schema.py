"""Schema: whether a corpus has the form that it must have, all problems at once. Pure."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from math import isfinite
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError

from graphmem.corpus.documents import DEPTH_MAX, canonical_json, is_too_deep
from graphmem.corpus.recent import Recent
from graphmem.errors import InvalidInput
from graphmem.model.corpus import ID_PREFIXES, Corpus
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.text.normalise import is_storable

SCHEMA_VERSION = "1.0.0"  # of a corpus that does not say its own
WHOLE = "corpus"  # the path of a problem of the whole
_DAY, _TIME, _ZONE = r"\d{4}-\d{2}-\d{2}", r"\d{2}:\d{2}:\d{2}(?:\.\d+)?", r"[Zz]|[+-]\d{2}:\d{2}"
_MOMENT = re.compile(rf"({_DAY})[Tt]({_TIME})({_ZONE})", re.ASCII)
_FORMATS = FormatChecker(formats=())

_KINDS: Mapping[str, str] = {
    "string": "a text",
    "null": "null",
    "object": "an object",
    "array": "a list",
    "integer": "an integer",
    "boolean": "true or false",
}


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Problem:
    """What is wrong at one place of a corpus, such as ``experience.0.title``."""

    path: str
    message: str


Place = tuple[str | int, ...]


def dotted(place: Sequence[str | int]) -> str:
    """A place in a corpus as text."""
    return ".".join(map(str, place)) or WHOLE


@_FORMATS.checks("date-time")
def is_moment(value: object) -> bool:
    """Whether a text is a time with a zone, and there is such a time; only texts can be wrong."""
    if not isinstance(value, str):
        return True
    form = _MOMENT.fullmatch(value)
    if form is None:
        return False
    zone = "+00:00" if form[3] in "zZ" else form[3]
    seconds = re.sub(r"\.\d+", "", form[2])
    try:
        datetime.fromisoformat(f"{form[1]}T{seconds}{zone}")
    except ValueError:
        return False
    return re.search(r":[6-9]\d$", zone) is None  # Python reads +00:60 as an hour


@cache
def _validator() -> Any:  # noqa: ANN401 - a class that jsonschema makes
    """The validator; its references are put in, as to follow them takes half of the time."""
    text = resources.files("graphmem.corpus").joinpath("career_corpus.schema.json").read_text()
    schema = json.loads(text)
    whole = _put_in(schema["$defs"]["corpus"], schema["$defs"])
    return Draft202012Validator(whole, format_checker=_FORMATS)


def _put_in(schema: Any, parts: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON Schema
    if isinstance(schema, list):
        return [_put_in(each, parts) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _put_in(parts[schema["$ref"].rpartition("/")[2]], parts)
    return {name: _put_in(value, parts) for name, value in schema.items()}


def schema_problems(corpus: Any) -> tuple[Problem, ...]:  # noqa: ANN401 - any JSON
    """What the schema has against a value, in the order of the places."""
    return tuple(sorted({each for error in _errors(corpus) for each in _problems_of(error)}))


def _errors(corpus: Any) -> Iterator[ValidationError]:  # noqa: ANN401 - any JSON
    yield from _validator().iter_errors(corpus)


def _problems_of(error: ValidationError) -> Iterator[Problem]:
    place = tuple(error.absolute_path)
    match error.validator:
        case "required":
            for name in _missing(error):
                yield Problem(path=dotted((*place, name)), message="Is missing.")
        case "additionalProperties":
            for name in _extra(error):
                yield Problem(path=dotted((*place, name)), message="Is no field of a corpus.")
        case _:
            yield Problem(path=dotted(place), message=_message(error))


def _missing(error: ValidationError) -> list[str]:
    wanted: Any = error.validator_value
    there: Any = error.instance
    return [name for name in wanted if name not in there]


def _extra(error: ValidationError) -> list[str]:
    schema: Any = error.schema
    there: Any = error.instance
    return [name for name in there if name not in schema["properties"]]


def _message(error: ValidationError) -> str:
    rule: Any = error.validator_value
    match error.validator:
        case "type":
            kinds = [rule] if isinstance(rule, str) else rule
            return f"Must be {' or '.join(_KINDS[kind] for kind in kinds)}."
        case "enum":
            return f"Must be one of {', '.join(rule)}."
        case "format":
            return "Must be a time with a zone, such as 2026-03-01T09:30:00Z."
        case "pattern":
            return "Must be three numbers with dots between them, such as 1.0.0."
        case _:
            return "Must not be empty."


def corpus_problems(corpus: Any, policy: CorpusPolicy) -> tuple[Problem, ...]:  # noqa: ANN401 - any JSON
    """Everything that is wrong with a corpus: its form, double ids, text that no store can hold.

    Of one that is too large only this is said. Items that were sound lately are not looked at
    again, each for itself.
    """
    if unheld := value_problems(corpus):
        return unheld
    items = tuple(_listed(corpus, policy))
    rest = _without_sound(corpus, items)
    is_sound = _is_small(rest, items, policy) and not _problems(rest, policy)
    if is_sound and not any(double_ids(corpus)):
        for item in items:
            _SOUND.put(item.key, item.size)
        return ()
    return _problems(corpus, policy)


_SOUND_KEPT = 20_000
_SOUND: Recent[int] = Recent(_SOUND_KEPT)  # items that had no problem


@dataclass(frozen=True, kw_only=True, slots=True)
class _Listed:
    """An item in its list: its place, what it says under which policy, and how large it is."""

    place: tuple[str, int]
    key: tuple[CorpusPolicy, str, str]
    size: int


def _listed(corpus: Any, policy: CorpusPolicy) -> Iterator[_Listed]:  # noqa: ANN401 - any JSON
    """The items that become a document each; what is too deep to be written is none."""
    for section in _BY_ITEM:
        for number, item in items_of(corpus, section):
            with suppress(RecursionError):
                said = canonical_json(item).encode("utf-8", "surrogatepass")
                key = (policy, section, hashlib.sha256(said).hexdigest())
                yield _Listed(place=(section, number), key=key, size=len(said))


def _without_sound(corpus: Any, items: Sequence[_Listed]) -> Any:  # noqa: ANN401 - any JSON
    """A corpus without the items that are known to have no problem."""
    sound = {item.place for item in items if _SOUND.get(item.key) is not None}
    if not sound:
        return corpus
    lists = {
        section: [
            item for number, item in enumerate(corpus[section]) if (section, number) not in sound
        ]
        for section in {section for section, _ in sound}
    }
    return {**corpus, **lists}


def _is_small(rest: Any, items: Sequence[_Listed], policy: CorpusPolicy) -> bool:  # noqa: ANN401 - any JSON
    """Whether the whole is within its bounds, together with the items that were left out."""
    if len(items) > policy.list_items or depth_problem(rest):
        return False
    return _bytes(rest) + sum(item.size for item in items) <= policy.corpus_bytes


def _problems(corpus: Any, policy: CorpusPolicy) -> tuple[Problem, ...]:  # noqa: ANN401 - any JSON
    if too_large := size_problems(corpus, policy):
        return too_large
    return tuple(sorted({*schema_problems(corpus), *double_ids(corpus)}))


UNSTORABLE = "Has a character that cannot be stored."


def value_problems(value: Any) -> tuple[Problem, ...]:  # noqa: ANN401 - any JSON
    """What no store and no answer can hold of a JSON value, in the order of the places."""
    if too_deep := depth_problem(value):
        return (too_deep,)
    return tuple(sorted(set(_unheld(value))))


def check_value(value: Any) -> None:  # noqa: ANN401 - any JSON
    """Refuse a JSON value that no store and no answer can hold.

    Raises:
        InvalidInput: something in it is so; each is named by its path.
    """
    if problems := value_problems(value):
        raise InvalidInput({each.path: [each.message] for each in problems})


def _unheld(value: Any, place: Place = ()) -> Iterator[Problem]:  # noqa: ANN401 - any JSON
    if isinstance(value, str) and not is_storable(value):
        yield Problem(path=dotted(place), message=UNSTORABLE)
    if isinstance(value, float) and not isfinite(value):
        yield Problem(path=dotted(place), message="Is no finite number.")
    for name, inner in _parts(value):
        if isinstance(name, str) and not is_storable(name):
            yield Problem(path=dotted((*place, name)), message=UNSTORABLE)
        yield from _unheld(inner, (*place, name))


def texts(value: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:  # noqa: ANN401 - any JSON
    """The texts of a JSON value with their places."""
    if isinstance(value, str):
        yield place, value
    for name, inner in _parts(value):
        yield from texts(inner, (*place, name))


def _parts(value: Any) -> Iterator[tuple[str | int, Any]]:  # noqa: ANN401 - any JSON
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def items_of(corpus: Any, name: str) -> Iterator[tuple[int, Corpus]]:  # noqa: ANN401 - any JSON
    """The objects of a list of a corpus with their numbers; what is none is left out."""
    found = corpus.get(name) if isinstance(corpus, Mapping) else None
    for number, item in enumerate(found if isinstance(found, list | tuple) else ()):
        if isinstance(item, Mapping):
            yield number, item


def double_ids(corpus: Any) -> Iterator[Problem]:  # noqa: ANN401 - any JSON
    """The ids that an earlier item of the same list has."""
    for section in ID_PREFIXES:
        seen: set[str] = set()
        for number, item in items_of(corpus, section):
            uid = item.get("id")
            if isinstance(uid, str) and uid in seen:
                path = dotted((section.value, number, "id"))
                yield Problem(path=path, message="Is the id of an earlier item.")
            if isinstance(uid, str):
                seen.add(uid)


def depth_problem(corpus: Any) -> Problem | None:  # noqa: ANN401 - any JSON
    """What a draft cannot take at all, as no rule walks so deep; all else is only listed."""
    if not is_too_deep(corpus):
        return None
    return Problem(path=WHOLE, message=f"Is nested deeper than {DEPTH_MAX} levels.")


def size_problems(corpus: Any, policy: CorpusPolicy) -> tuple[Problem, ...]:  # noqa: ANN401 - any JSON
    """What is too large in a corpus: its depth, lists, documents, the whole."""
    if too_deep := depth_problem(corpus):
        return (too_deep,)
    long_lists = [
        Problem(path=dotted(place), message=f"Has more than {policy.list_items:,} items.")
        for place, found in _lists(corpus)
        if len(found) > policy.list_items
    ]
    if long_lists:
        return tuple(sorted(long_lists))
    sizes = {place: _bytes(value) for place, value in _document_parts(corpus)}
    large = [
        Problem(path=dotted(place), message=f"Is larger than {policy.document_bytes:,} bytes.")
        for place, size in sizes.items()
        if size > policy.document_bytes
    ]
    if sum(sizes.values()) > policy.corpus_bytes:
        large.append(Problem(path=WHOLE, message=f"Is larger than {policy.corpus_bytes:,} bytes."))
    return tuple(sorted(large))


def _bytes(value: Any) -> int:  # noqa: ANN401 - any JSON
    return len(canonical_json(value).encode("utf-8", "surrogatepass"))


def _lists(value: Any, place: Place = ()) -> Iterator[tuple[Place, Sequence[Any]]]:  # noqa: ANN401 - any JSON
    if isinstance(value, list | tuple):
        yield place, value
    for name, inner in _parts(value):
        yield from _lists(inner, (*place, name))


# what has a document of its own for each of its items
_BY_ITEM = ("experience", "projects")


def _document_parts(corpus: Any) -> Iterator[tuple[Place, Any]]:  # noqa: ANN401 - any JSON
    """What becomes a document each: sections, and items of two of them."""
    if not isinstance(corpus, Mapping):
        yield (), corpus
        return
    for name, value in corpus.items():
        if name in _BY_ITEM and isinstance(value, list | tuple):
            yield from (((name, number), item) for number, item in enumerate(value))
        else:
            yield (name,), value
