"""Normalisation: a corpus in its one form, before it is checked and kept (000). Pure.

What has not the form of a corpus is left as it is, for the schema to name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from graphmem.corpus.blanks import is_blank
from graphmem.corpus.dates import is_read
from graphmem.corpus.schema import Problem, dotted, items_of, schema_problems
from graphmem.model.corpus import Corpus, Section

NOTES = "notes"
_JOINT = " | "  # between notes of the whole and those of the profile
_SITES: Mapping[str, str] = {
    "github.com": "GitHub",
    "linkedin.com": "LinkedIn",
    "stackoverflow.com": "Stack Overflow",
}
_OTHER_SITE = "Website"
_SCHEMES = ("http://", "https://")
_ITEM_SECTIONS = ("experience", "projects", "certifications", "education")
# the texts by which an item is known, and its dates
_NAMES: Mapping[str, tuple[str, ...]] = {
    "experience": ("employer", "title"),
    "projects": ("name",),
    "certifications": ("name",),
    "education": ("degree", "institution"),
}
_DATES: Mapping[str, tuple[str, ...]] = {
    "experience": ("start_date", "end_date"),
    "projects": (),
    "certifications": ("issue_date",),
    "education": ("graduation_year",),
}


def normalised(document: Corpus, *, drops_links: bool = True) -> Corpus:
    """A corpus in its one form.

    Links become names with addresses, blank notes none, notes of the whole those of the profile;
    metadata has none. Without ``drops_links`` a link with a name and no address stays, so that a
    draft can say what it lacks.
    """
    corpus = {name: _without_blank_notes(value) for name, value in document.items()}
    corpus = _with_joined_notes(corpus)
    profile, metadata = corpus.get("profile"), corpus.get("metadata")
    if isinstance(profile, dict) and isinstance(profile.get("links"), list):
        links = _links(profile["links"], drops_links=drops_links)
        corpus["profile"] = {**profile, "links": links}
    if isinstance(metadata, dict):
        corpus["metadata"] = {name: value for name, value in metadata.items() if name != NOTES}
    return corpus


def _without_blank_notes(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        return [_with_notes(each) for each in value]
    return _with_notes(value)


def _with_notes(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """An object whose notes are none where they are blank."""
    notes = value.get(NOTES) if isinstance(value, dict) else None
    return {**value, NOTES: None} if isinstance(notes, str) and not notes.strip() else value


def _with_joined_notes(corpus: dict[str, Any]) -> dict[str, Any]:
    notes, profile = corpus.get(NOTES), corpus.get("profile", {})
    if NOTES not in corpus or not isinstance(notes, str | None) or not isinstance(profile, dict):
        return corpus
    rest = {name: value for name, value in corpus.items() if name != NOTES}
    if is_blank(notes) or not isinstance(profile.get(NOTES), str | None):
        return rest if is_blank(notes) else corpus
    joined = _JOINT.join(filter(None, (profile.get(NOTES), notes)))
    return {**rest, "profile": {**profile, NOTES: joined}}


def _links(links: list[Any], *, drops_links: bool) -> list[Any]:
    """The links that say something, each with its name and address."""
    found = (_link(each) for each in links)
    return [each for each in found if not _is_dropped(each, drops_links=drops_links)]


def _is_dropped(link: Any, *, drops_links: bool) -> bool:  # noqa: ANN401 - any JSON
    if not isinstance(link, dict) or not is_blank(link.get("url")):
        return False
    return drops_links or is_blank(link)


def _link(link: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(link, str):
        return _link_of_text(link.strip())
    if not isinstance(link, dict):
        return link
    rest = {name: value for name, value in link.items() if name != "link"}
    if "link" in link and is_blank(link.get("url")):
        rest["url"] = link["link"]
    url = rest.get("url")
    if is_blank(rest.get("name")) and isinstance(url, str) and url.strip():
        rest["name"] = site_name(url)
    return rest


def _link_of_text(text: str) -> dict[str, str]:
    label, colon, rest = text.partition(":")
    if colon and not text.lower().startswith(_SCHEMES) and label.strip() and rest.strip():
        return {"name": label.strip(), "url": rest.strip()}
    return {"name": site_name(text) if text else "", "url": text}


def site_name(url: str) -> str:
    """What a site is called by its host."""
    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError:
        return _OTHER_SITE
    names = (name for site, name in _SITES.items() if host == site or host.endswith(f".{site}"))
    return next(names, _OTHER_SITE)


def links_without_url(document: Corpus) -> Iterator[Problem]:
    """The links of a document that have a name and no address."""
    profile = document.get("profile")
    links = profile.get("links") if isinstance(profile, dict) else None
    for number, link in enumerate(links if isinstance(links, list) else ()):
        shown = _link(link)
        if _is_dropped(shown, drops_links=True) and not is_blank(shown):
            path = dotted(("profile", "links", number, "url"))
            yield Problem(path=path, message="Is missing.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Normalised:
    """A document in its one form, and what was found in it."""

    document: Corpus
    detected_sections: tuple[Section, ...]
    counts: Mapping[str, int]
    ambiguous_fields: tuple[str, ...]


def summary(document: Corpus) -> Normalised:
    """A document in its one form, with what a person should look at."""
    corpus = normalised(document)
    return Normalised(
        document=corpus,
        detected_sections=detected_sections(corpus),
        counts=counts(corpus),
        ambiguous_fields=ambiguous_fields(document),
    )


def detected_sections(corpus: Corpus) -> tuple[Section, ...]:
    """The sections that hold something."""
    return tuple(section for section in Section if not is_blank(corpus.get(section)))


def counts(corpus: Corpus) -> Mapping[str, int]:
    """How many items and technical skills there are."""
    skills = corpus.get("skills")
    technical = skills.get("technical") if isinstance(skills, dict) else None
    return {
        **{name: _length(corpus.get(name)) for name in _ITEM_SECTIONS},
        "skills.technical": _length(technical),
    }


def _length(value: object) -> int:
    return len(value) if isinstance(value, list) else 0


def ambiguous_fields(document: Corpus) -> tuple[str, ...]:
    """The fields that somebody has to look at.

    Dates that are not read, items without the names by which they are known, fields that no corpus
    has, and links without an address.
    """
    corpus = normalised(document)
    unknown = [each.path for each in schema_problems(corpus) if "no field" in each.message]
    return tuple(
        sorted(
            {
                *unknown,
                *(each.path for each in links_without_url(document)),
                *_unclear_items(corpus),
            }
        )
    )


def _unclear_items(corpus: Corpus) -> Iterator[str]:
    for section in _ITEM_SECTIONS:
        for number, item in items_of(corpus, section):
            unread = (name for name in _DATES[section] if _is_unread(item.get(name)))
            nameless = (name for name in _NAMES[section] if is_blank(item.get(name)))
            yield from (dotted((section, number, name)) for name in (*unread, *nameless))


def _is_unread(date: object) -> bool:
    return not is_blank(date) and not is_read(date)
