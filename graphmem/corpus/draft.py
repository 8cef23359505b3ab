"""Draft: what a change makes of a corpus that is worked on (000). Pure.

Blanks never take the place of content, unless that is allowed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.corpus.blanks import Taken, is_blank, replaced
from graphmem.corpus.manifest import has_id, made_id
from graphmem.corpus.schema import Place, items_of
from graphmem.errors import InvalidInput, NotFound
from graphmem.model.corpus import ID_PREFIXES, Corpus, Section

# by which an item is known that has no id
NATURAL_KEYS: Mapping[Section, tuple[str, ...]] = {
    Section.EXPERIENCE: ("employer", "title", "start_date"),
    Section.PROJECTS: ("name", "role"),
    Section.CERTIFICATIONS: ("name", "issuer"),
    Section.EDUCATION: ("degree", "institution"),
}


def merged(corpus: Corpus, patch: Corpus, *, allows_blank: bool) -> Taken:
    """A corpus with a patch: objects merge, lists and single values take the place of others."""
    return _merged(corpus, patch, (), allows_blank=allows_blank)


def _merged(before: Any, patch: Any, place: Place, *, allows_blank: bool) -> Taken:  # noqa: ANN401
    if not isinstance(before, dict) or not isinstance(patch, dict):
        return Taken(value=patch) if allows_blank else replaced(before, patch, place)
    fields = {
        name: _merged(before.get(name), value, (*place, name), allows_blank=allows_blank)
        for name, value in patch.items()
    }
    return Taken(
        value=before | {name: each.value for name, each in fields.items()},
        not_taken=tuple(path for each in fields.values() for path in each.not_taken),
    )


def with_section(corpus: Corpus, section: Section, value: Any, *, allows_blank: bool) -> Taken:  # noqa: ANN401
    """A corpus with another value of a section."""
    taken = Taken(value=value)
    if not allows_blank:
        taken = replaced(corpus.get(section), value, (section.value,))
    return Taken(value={**corpus, section.value: taken.value}, not_taken=taken.not_taken)


@dataclass(frozen=True, kw_only=True, slots=True)
class Upserted:
    """A corpus with an item: its id, whether it is new, and where a blank was not taken."""

    corpus: Corpus
    id: str
    is_new: bool
    not_taken: tuple[str, ...] = ()


def upserted(
    corpus: Corpus,
    section: Section,
    item: Mapping[str, Any],
    *,
    match: Sequence[str] = (),
    new_id: Callable[[], str],
    allows_blank: bool = False,
) -> Upserted:
    """A corpus with an item that joins the one that it means, or comes last.

    It means the one of its id, else that of the fields of ``match``, else that of its natural key.

    Raises:
        InvalidInput: the fields of ``match`` are those of several items, or the draft has no list.
    """
    items = _items(corpus, section)
    number = _meant(corpus, section, item, match)
    if number is None:
        uid = item["id"] if has_id(item) else made_id(section, new_id)
        return Upserted(
            corpus={**corpus, section.value: [*items, {**item, "id": uid}]}, id=uid, is_new=True
        )
    before = items[number]
    uid = before["id"] if has_id(before) else made_id(section, new_id)
    fields = _joined(before, {**item, "id": uid}, (section.value, number), allows_blank)
    changed = [*items[:number], fields.value, *items[number + 1 :]]
    return Upserted(
        corpus={**corpus, section.value: changed},
        id=uid,
        is_new=False,
        not_taken=fields.not_taken,
    )


def _joined(
    before: Mapping[str, Any],
    item: Mapping[str, Any],
    place: Place,
    allows_blank: bool,  # noqa: FBT001
) -> Taken:
    """An item with the fields of another; what that does not speak of stays."""
    fields = Taken(value=item) if allows_blank else replaced(dict(before), dict(item), place)
    return Taken(value={**before, **fields.value}, not_taken=fields.not_taken)


def _items(corpus: Corpus, section: Section) -> list[Any]:
    items = corpus.get(section, [])
    if not isinstance(items, list):
        raise InvalidInput({section.value: ["Must be a list before items can join it."]})
    return items


def _meant(
    corpus: Corpus, section: Section, item: Mapping[str, Any], match: Sequence[str]
) -> int | None:
    """The number of the item that another one means."""
    if has_id(item):
        same = (n for n, known in items_of(corpus, section) if known.get("id") == item["id"])
        by_id = next(same, None)
        if by_id is not None:
            return by_id
    if match:
        matching = list(_same(corpus, section, item, match))
        if len(matching) > 1:
            raise InvalidInput({"match": ["Several items have these values."]})
        if matching:
            return matching[0]
    return next(_same(corpus, section, item, NATURAL_KEYS[section]), None)


def _same(
    corpus: Corpus, section: Section, item: Mapping[str, Any], names: Sequence[str]
) -> Iterator[int]:
    """The numbers of the items with equal values; blank ones are equal to none."""
    if any(is_blank(item.get(name)) for name in names):
        return
    wanted = [_comparable(item[name]) for name in names]
    for number, known in items_of(corpus, section):
        if wanted == [_comparable(known.get(name)) for name in names]:
            yield number


def _comparable(value: Any) -> Any:  # noqa: ANN401 - any JSON
    return " ".join(value.split()) if isinstance(value, str) else value


def without_item(corpus: Corpus, section: Section, uid: str) -> Corpus:
    """A corpus without an item.

    Raises:
        NotFound: there is none of that id.
    """
    items = _items(corpus, section)
    left = [each for each in items if not (isinstance(each, dict) and each.get("id") == uid)]
    if len(left) == len(items):
        raise NotFound
    return {**corpus, section.value: left}


def list_section(name: str) -> Section:
    """A section that is a list of items, by its name.

    Raises:
        InvalidInput: there is none.
    """
    if name not in {section.value for section in ID_PREFIXES}:
        known = ", ".join(section.value for section in ID_PREFIXES)
        raise InvalidInput({"section": [f"Must be one of {known}."]})
    return Section(name)
