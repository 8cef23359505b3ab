"""JSON Resume: a corpus in the form that other tools read. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from graphmem.corpus.blanks import is_blank
from graphmem.corpus.dates import career_date
from graphmem.corpus.schema import items_of
from graphmem.corpus.service_metadata import metadata_of
from graphmem.model.corpus import Corpus

_SCHEMA = "https://raw.githubusercontent.com/jsonresume/resume-schema/v1.0.0/schema.json"
_VERSION = "v1.0.0"
_SKILLS: Mapping[str, str] = {
    "technical": "Technical",
    "platforms": "Platforms",
    "methods": "Methods",
    "domains": "Domains",
}


def json_resume(corpus: Corpus) -> Mapping[str, Any]:
    """A corpus as a JSON Resume; what is blank, and dates that are not read, are left out."""
    updated = metadata_of(corpus).get("last_updated_utc")
    return {
        "$schema": _SCHEMA,
        "basics": _basics(corpus.get("profile")),
        "work": [_work(item) for _, item in items_of(corpus, "experience")],
        "projects": [_project(item) for _, item in items_of(corpus, "projects")],
        "skills": list(_skills(corpus.get("skills"))),
        "certificates": [_certificate(item) for _, item in items_of(corpus, "certifications")],
        "education": [_education(item) for _, item in items_of(corpus, "education")],
        "meta": _filled(version=_VERSION, lastModified=updated),
    }


def _filled(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {name: value for name, value in fields.items() if not is_blank(value)}


def _date(value: object) -> str | None:
    found = career_date(value)
    return found.iso if found else None


def _texts(*lists: Any) -> list[str]:  # noqa: ANN401 - any JSON
    return [text for each in lists for text in each or () if not is_blank(text)]


def _basics(profile: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    known = profile if isinstance(profile, dict) else {}
    links = (each for each in known.get("links") or () if isinstance(each, dict))
    return _filled(
        name=known.get("full_name"),
        email=known.get("email"),
        phone=known.get("phone"),
        summary=known.get("notes"),
        location=_filled(address=known.get("location")),
        profiles=[_filled(network=link.get("name"), url=link.get("url")) for link in links],
    )


def _work(item: Corpus) -> dict[str, Any]:
    return _filled(
        name=item.get("employer"),
        position=item.get("title"),
        location=item.get("location"),
        startDate=_date(item.get("start_date")),
        endDate=_date(item.get("end_date")),
        summary=item.get("notes"),
        highlights=_texts(item.get("bullets"), item.get("outcomes")),
        keywords=_texts(item.get("tools"), item.get("domain_tags")),
    )


def _project(item: Corpus) -> dict[str, Any]:
    return _filled(
        name=item.get("name"),
        description=item.get("description"),
        roles=_texts([item.get("role")]),
        keywords=_texts(item.get("stack")),
        highlights=_texts(item.get("outcomes")),
    )


def _skills(skills: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any JSON
    known = skills if isinstance(skills, dict) else {}
    for name, label in _SKILLS.items():
        if keywords := _texts(known.get(name)):
            yield {"name": label, "keywords": keywords}


def _certificate(item: Corpus) -> dict[str, Any]:
    return _filled(
        name=item.get("name"), issuer=item.get("issuer"), date=_date(item.get("issue_date"))
    )


def _education(item: Corpus) -> dict[str, Any]:
    return _filled(
        institution=item.get("institution"),
        studyType=item.get("degree"),
        area=item.get("field_of_study"),
        endDate=_date(item.get("graduation_year")),
    )
