"""Onboarding: what was read, what to ask next, and what a partial corpus holds (000). Pure."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from graphmem.corpus.approvals import section_hash
from graphmem.corpus.blanks import is_blank
from graphmem.corpus.documents import parsed
from graphmem.corpus.normalise import detected_sections, normalised
from graphmem.corpus.scaffold import SCAFFOLDED, scaffold_of
from graphmem.corpus.schema import dotted, items_of
from graphmem.model.corpus import ID_PREFIXES, Corpus, Section


class Topic(StrEnum):
    """What an interview asks about, in its order; metadata comes from the service."""

    PROFILE = "profile"
    EXPERIENCE = "experience"
    PROJECTS = "projects"
    SKILLS = "skills"
    CERTIFICATIONS = "certifications"
    EDUCATION = "education"
    MEASURABLE_OUTCOMES = "measurable_outcomes"
    METADATA = "metadata"


CONTENT_SECTIONS = tuple(section for section in Section if section is not Section.METADATA)
_WITH_OUTCOMES = (Section.EXPERIENCE, Section.PROJECTS)
# what a section must say
_REQUIRED: Mapping[Section, tuple[str, ...]] = {
    Section.PROFILE: ("full_name",),
    Section.EXPERIENCE: (
        *("employer", "title", "start_date", "location"),
        *("bullets", "tools", "outcomes", "domain_tags"),
    ),
    Section.PROJECTS: ("name", "role", "stack", "outcomes"),
    Section.SKILLS: ("technical", "platforms", "methods", "domains"),
    Section.CERTIFICATIONS: ("name", "issuer", "status"),
    Section.EDUCATION: ("degree", "institution", "graduation_year"),
}
_HEADINGS: Mapping[Section, tuple[str, ...]] = {
    Section.PROFILE: ("profile", "about", "about me", "summary", "contact", "personal details"),
    Section.EXPERIENCE: (
        *("experience", "work experience", "professional experience"),
        *("employment", "employment history", "work history"),
    ),
    Section.PROJECTS: ("projects", "personal projects", "selected projects"),
    Section.SKILLS: ("skills", "technical skills", "technologies"),
    Section.CERTIFICATIONS: ("certifications", "certificates", "licenses and certifications"),
    Section.EDUCATION: ("education", "academic background"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestionReceipt:
    """What was read of a source, before anything of it is judged or kept."""

    source: str
    read_confirmed: bool
    sections_detected: tuple[Section, ...]
    gaps_detected: tuple[Section, ...]


def receipt(source: str, content: str | Corpus) -> IngestionReceipt:
    """The receipt of a text, or of a document."""
    document = _document_in(content) if isinstance(content, str) else content
    if document is not None:
        found = set(detected_sections(normalised(document)))
    else:
        found = set(_headings_in(str(content)))
    return IngestionReceipt(
        source=source,
        read_confirmed=not is_blank(content),
        sections_detected=tuple(section for section in Section if section in found),
        gaps_detected=tuple(section for section in CONTENT_SECTIONS if section not in found),
    )


def _document_in(text: str) -> Corpus | None:
    try:
        value = parsed(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _headings_in(text: str) -> Iterator[Section]:
    for line in text.splitlines():
        heading = _without_signs_around(line).casefold()
        for section, names in _HEADINGS.items():
            if heading in names:
                yield section


def _without_signs_around(line: str) -> str:
    """A line from its first letter or digit to its last; time grows with its length alone."""
    inside = [place for place, sign in enumerate(line) if sign.isalnum()]
    return line[inside[0] : inside[-1] + 1] if inside else ""


def scaffold_for(corpus: Corpus, kept: Collection[Section], head: Corpus | None) -> Corpus:
    """The scaffold for sections that nobody approved yet, beside those that are kept.

    What the head says already stays as the draft has it.
    """
    written = {section for section in kept if not is_blank(corpus.get(section))}
    return {
        section.value: scaffold_of(section)
        for section in SCAFFOLDED
        if section not in written and is_blank((head or {}).get(section))
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Onboarding:
    """What an interview asks next, what there is of it, and what a corpus lacks."""

    next_section: Topic | None
    preview: str
    content_sha256: str | None
    gaps: tuple[str, ...]
    missing: tuple[Section, ...]


def onboarding(corpus: Corpus, approved: Collection[Section]) -> Onboarding:
    """Where the interview about a draft stands, by the sections whose content is approved."""
    topic = next_topic(corpus, approved)
    return Onboarding(
        next_section=topic,
        preview=preview(corpus, topic) if topic else "",
        content_sha256=_hash_of(corpus, topic),
        gaps=gaps(corpus),
        missing=missing(corpus, approved),
    )


def _hash_of(corpus: Corpus, topic: Topic | None) -> str | None:
    if topic is None or topic is Topic.MEASURABLE_OUTCOMES:
        return None
    return section_hash(corpus, Section(topic))


def next_topic(corpus: Corpus, approved: Collection[Section]) -> Topic | None:
    """The first topic of the interview that is open; outcomes are while metadata is not approved.

    So somebody who has none to tell goes on by approving metadata.
    """
    for topic in Topic:
        if topic is Topic.MEASURABLE_OUTCOMES:
            if Section.METADATA not in approved and any(without_outcomes(corpus)):
                return topic
        elif Section(topic) not in approved:
            return topic
    return None


def without_outcomes(corpus: Corpus) -> Iterator[str]:
    """The paths of items without measurable outcomes."""
    for section in _WITH_OUTCOMES:
        for number, item in items_of(corpus, section):
            if is_blank(item.get("outcomes")):
                yield dotted((section.value, number, "outcomes"))


def gaps(corpus: Corpus) -> tuple[str, ...]:
    """The fields that say nothing in sections that say something."""
    return tuple(path for section in CONTENT_SECTIONS for path in _gaps_of(corpus, section))


def _gaps_of(corpus: Corpus, section: Section) -> Iterator[str]:
    content = corpus.get(section)
    if is_blank(content):
        return
    if section in ID_PREFIXES:
        for number, item in items_of(corpus, section):
            yield from _blank_fields(item, section, (section.value, number))
    elif isinstance(content, dict):
        yield from _blank_fields(content, section, (section.value,))


def _blank_fields(
    content: Mapping[str, Any], section: Section, place: tuple[str | int, ...]
) -> Iterator[str]:
    for name in _REQUIRED[section]:
        if is_blank(content.get(name)):
            yield dotted((*place, name))


def missing(corpus: Corpus, approved: Collection[Section]) -> tuple[Section, ...]:
    """The sections that say nothing, but for those whose emptiness is approved."""
    return tuple(
        section
        for section in CONTENT_SECTIONS
        if section not in approved and is_blank(corpus.get(section))
    )


def preview(corpus: Corpus, topic: Topic) -> str:
    """What there is of a topic, in plain text."""
    if topic is Topic.MEASURABLE_OUTCOMES:
        lines = [f"No outcomes yet: {path}" for path in without_outcomes(corpus)]
    else:
        content = corpus.get(topic)
        lines = [] if is_blank(content) else list(_lines(content, ""))
    return "\n".join((_label(topic), *(lines or ["Nothing yet."])))


def _lines(value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """A value as lines: fields by name, items by number, the values of a list by a dash."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name != "id" and not is_blank(inner):
                yield from _field(name, inner, indent)
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            yield from _item(number, inner, indent)
    else:
        yield f"{indent}{_one_line(value)}"


def _field(name: str, value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, dict | list):
        yield f"{indent}{_label(name)}:"
        yield from _lines(value, f"{indent}  ")
    else:
        yield f"{indent}{_label(name)}: {_one_line(value)}"


def _item(number: int, value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if not isinstance(value, dict | list):
        yield f"{indent}- {_one_line(value)}"
        return
    first, *rest = list(_lines(value, "")) or [""]
    yield f"{indent}{number}. {first}"
    yield from (f"{indent}   {line}" for line in rest)


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _one_line(value: object) -> str:
    return " ".join(str(value).split())
