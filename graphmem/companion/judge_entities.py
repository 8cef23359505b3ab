"""Judged entities: who and what a statement is about, the main one first. Pure.

A relative without a name is known by what he or she is to the user, such as ``person:mom``.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphmem.companion.entity_refs import REFS_MAX, ref_of
from graphmem.companion.judge import normalised_content
from graphmem.model.companion import EntityKind, FactKind
from graphmem.model.policy.rules import compiled_pattern
from graphmem.text.named_things import OTHER, Place, names_in
from graphmem.text.wording import wording

_PACKAGE, _SECTION = "graphmem.companion", "entities"
_ENDS = ".'-"  # of names
_KINDS = {
    "person": EntityKind.PERSON,
    "company": EntityKind.ORG,
    "place": EntityKind.PLACE,
    "project": EntityKind.PROJECT,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    """Something that a statement is about, by its display name."""

    kind: EntityKind
    name: str


def about(kind: FactKind, clause: str, personas: Iterable[str]) -> tuple[About, ...]:
    """What a statement is about, each once; the names of personas are nobody in a user's life."""
    named = [each for each in names_in(clause, {}) if not _is_persona(each.named.name, personas)]
    main = {FactKind.PEOPLE: _relative, FactKind.PROJECT: _project, FactKind.PROFILE: _nothing}
    found = [*main[kind](clause, named), *_others(kind, clause, named)]
    return tuple({ref_of(each.kind, each.name): each for each in reversed(found)}.values())[::-1]


def refs_and_label(found: Sequence[About]) -> tuple[tuple[str, ...], str | None]:
    """The keys of what a statement is about, and the display name of the first."""
    refs = [ref for each in found if (ref := ref_of(each.kind, each.name))]
    return tuple(refs[:REFS_MAX]), found[0].name if found else None


def own_name(clause: str) -> str | None:
    """The name that users give as their own."""
    match = _matcher("own").search(clause)
    if not match:
        return None
    found = names_in(f"is {match['name']}", {})
    return found[0].named.name if found else None


def is_closest(clause: str) -> bool:
    """Whether a statement is of somebody whom the user lives, or grew up, with."""
    match = _matcher("owned").search(clause)
    return bool(match) and bool(_matcher("closest").search(match["kin"]))


def speaks_of_relative(clause: str) -> bool:
    """Whether a statement is of somebody whom the user stands in a relationship with."""
    return bool(_matcher("owned").search(clause))


def relative_said(text: str, pronoun: str) -> str | None:
    """How a text last speaks of somebody whom ``he`` or ``she`` can mean, such as ``my sister``."""
    other = "she" if pronoun.lower() == "he" else "he"
    found = [*_matcher("owned").finditer(text)]
    return next(
        (each["phrase"] for each in found[::-1] if not _matcher(other).search(each["kin"])), None
    )


def _is_persona(name: str, personas: Iterable[str]) -> bool:
    return normalised_content(name) in {normalised_content(each) for each in personas}


def _nothing(_clause: str, _named: Sequence[Place]) -> Iterator[About]:
    yield from ()


def _relative(clause: str, named: Sequence[Place]) -> Iterator[About]:
    """The person whom a relationship is stated of: by name, or by what it is."""
    apposition = _matcher("apposition").search(clause)
    if apposition:
        yield About(kind=EntityKind.PERSON, name=apposition["name"])
    for place in named:
        before, behind = clause[: place.start], clause[place.end :]
        if _matcher("before").search(before) or _matcher("behind").search(behind):
            yield About(kind=EntityKind.PERSON, name=place.named.name)
            return
    owned = None if apposition else _matcher("owned").search(clause)
    if owned:
        yield About(kind=EntityKind.PERSON, name=_capitalised(owned["kin"]))


def _project(clause: str, _named: Sequence[Place]) -> Iterator[About]:
    for each in wording(_PACKAGE, _SECTION)["projects"]:
        match = _compiled(each).search(clause)
        if match and not _matcher("unnamed").search(match["what"]):
            yield About(kind=EntityKind.PROJECT, name=_capitalised(match["what"].rstrip(_ENDS)))
            return


def _others(kind: FactKind, clause: str, named: Sequence[Place]) -> Iterator[About]:
    """The other people, places and organisations that a statement names; last where from."""
    for place in sorted(named, key=lambda each: bool(_origin(clause, each))):
        entity_kind = _kind_of(kind, clause, place)
        if entity_kind:
            yield About(kind=entity_kind, name=_whole_name(entity_kind, clause, place))


def _origin(clause: str, place: Place) -> Any:  # noqa: ANN401 - re2 has no types
    return _matcher("origin").search(clause[: place.start])


def _kind_of(kind: FactKind, clause: str, place: Place) -> EntityKind | None:
    before = clause[: place.start]
    if _matcher("married").search(before):
        return EntityKind.PERSON
    is_employer = place.named.type == OTHER and _matcher("employer").search(before)
    if kind is FactKind.PROFILE and is_employer:
        return EntityKind.ORG
    return _KINDS.get(place.named.type)


def _whole_name(kind: EntityKind, clause: str, place: Place) -> str:
    """A name; that of a place with the region behind it: ``Austin, Texas``."""
    region = _matcher("region").search(clause[place.end :]) if kind is EntityKind.PLACE else None
    return f"{place.named.name}, {region['region'].rstrip(_ENDS)}" if region else place.named.name


def _capitalised(name: str) -> str:
    return name[:1].upper() + name[1:]


@cache
def _matcher(name: str) -> Any:  # noqa: ANN401 - re2 has no types
    return compiled_pattern(wording(_PACKAGE, _SECTION)[name])


@cache
def _compiled(text: str) -> Any:  # noqa: ANN401 - re2 has no types
    return compiled_pattern(text)
