"""Career corpora for tests: one of Ada, and strategies for any."""

from datetime import UTC, datetime
from itertools import count

from hypothesis import strategies as st

from graphmem.corpus.manifest import split
from graphmem.corpus.notes_policy import spoken_of
from graphmem.model.corpus import Document, Head, Section

NOW = datetime(2026, 3, 1, 9, 5, tzinfo=UTC)
SOME = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00"), max_size=20
)
SHOWN = SOME.map(lambda text: text if text.strip() else f"{text}x")
PLAIN_ID = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
ANY_ID = st.one_of(PLAIN_ID, SHOWN)


def hex_ids():
    """A source of ids as the room asks for: 32 hex digits, one after the other."""
    numbers = count(1)
    return lambda: f"{next(numbers):032x}"


def an_experience(uid="exp_1", **changes):
    return {
        "id": uid,
        "employer": "Acme",
        "title": "Engineer",
        "start_date": "2019",
        "end_date": "2021-03",
        "location": "London",
        "bullets": ["Built the engine"],
        "tools": ["Neo4j"],
        "outcomes": ["Halved the cost"],
        "domain_tags": ["energy"],
    } | changes


def a_project(uid="proj_1", **changes):
    return {
        "id": uid,
        "name": "Apollo",
        "role": "lead",
        "stack": ["Python"],
        "outcomes": ["Shipped"],
    } | changes


def a_certification(uid="cert_1", **changes):
    return {"id": uid, "name": "Graph Data", "issuer": "Neo4j", "status": "active"} | changes


def an_education(uid="edu_1", **changes):
    return {
        "id": uid,
        "degree": "BSc",
        "institution": "Cambridge",
        "graduation_year": 2014,
    } | changes


def a_corpus(**changes):
    """A whole corpus of Ada."""
    return {
        "schema_version": "1.0.0",
        "profile": {"full_name": "Ada Lovelace", "location": "London"},
        "experience": [an_experience()],
        "projects": [a_project()],
        "skills": {"technical": ["Python"], "platforms": [], "methods": [], "domains": []},
        "certifications": [a_certification()],
        "education": [an_education()],
        "metadata": {"last_updated_utc": "2026-02-01T08:00:00Z", "source": "onboarding"},
    } | changes


def documents(corpus=None, before=None, at=NOW):
    return split(corpus or a_corpus(), before=before or {}, generated_at=at)


def a_head(revision=1, corpus=None, **more):
    return Head(revision=revision, documents={**documents(corpus), **more})


def a_file(path, text):
    return Document(path=path, text=text)


def mixed(corpus, other, sections):
    """A corpus with some sections of another one."""
    return {**corpus, **{section.value: other[section] for section in sections}}


def without(value, name):
    return {key: inner for key, inner in value.items() if key != name}


TEXTS = st.lists(SOME, max_size=3)
NOTES = st.one_of(st.none(), SOME.filter(lambda text: spoken_of(text) is None))


def _items(required, optional):
    one = st.fixed_dictionaries({"id": ANY_ID, **required}, optional=optional)
    return st.lists(one, max_size=3, unique_by=lambda item: item["id"])


EXPERIENCES = _items(
    {
        **dict.fromkeys(("employer", "title", "start_date", "location"), SOME),
        "end_date": st.one_of(st.none(), SOME),
        **dict.fromkeys(("bullets", "tools", "outcomes", "domain_tags"), TEXTS),
    },
    {"notes": NOTES},
)
PROJECTS = _items(
    {"name": SOME, "role": SOME, "stack": TEXTS, "outcomes": TEXTS},
    {"description": SOME, "notes": NOTES},
)
CERTIFICATIONS = _items(
    dict.fromkeys(("name", "issuer", "status"), SOME), {"issue_date": SOME, "notes": NOTES}
)
EDUCATION = _items(
    {"degree": SOME, "institution": SOME, "graduation_year": st.one_of(st.integers(), SOME)},
    {"field_of_study": SOME, "notes": NOTES},
)
PROFILES = st.fixed_dictionaries(
    {"full_name": SHOWN},
    optional={
        "location": SOME,
        "email": SOME,
        "phone": SOME,
        "links": st.lists(st.fixed_dictionaries({"name": SHOWN, "url": SHOWN}), max_size=3),
        "notes": NOTES,
    },
)
SKILLS = st.fixed_dictionaries(
    dict.fromkeys(("technical", "platforms", "methods", "domains"), TEXTS),
    optional={"notes": NOTES},
)
METADATA = st.fixed_dictionaries(
    {
        "last_updated_utc": st.datetimes(timezones=st.just(UTC)).map(
            lambda at: at.isoformat().replace("+00:00", "Z")
        ),
        "source": st.sampled_from(["onboarding", "user_update", "manual_import"]),
    },
    optional={"onboarding_complete": st.booleans()},
)
CORPORA = st.fixed_dictionaries(
    {
        "schema_version": st.from_regex(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}", fullmatch=True),
        Section.PROFILE.value: PROFILES,
        Section.EXPERIENCE.value: EXPERIENCES,
        Section.PROJECTS.value: PROJECTS,
        Section.SKILLS.value: SKILLS,
        Section.CERTIFICATIONS.value: CERTIFICATIONS,
        Section.EDUCATION.value: EDUCATION,
        Section.METADATA.value: METADATA,
    }
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | SOME,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SOME, inner, max_size=3),
    max_leaves=8,
)
