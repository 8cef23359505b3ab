"""Facts: the memories that a corpus should have, and what that changes of those there. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from graphmem.corpus.blanks import is_blank
from graphmem.corpus.dates import PRESENT, Interval, interval
from graphmem.corpus.documents import LEGACY, digest
from graphmem.corpus.manifest import CORE_FILES, ITEM_KEYS, has_id, item_paths
from graphmem.corpus.memory_changes import CorpusMemory
from graphmem.corpus.recent import Recent
from graphmem.corpus.schema import items_of
from graphmem.model.corpus import Corpus, Documents, Section
from graphmem.model.entity import EntityRef, EntityType, entity_ref
from graphmem.model.memory import MemoryType
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.text.normalise import shorten

_ENTITIES_MAX = 16  # that one memory mentions
_LABEL_MAX_CHARS = 100
_ENTRY_CHARS = 16  # of the hash by which an entry of a list is known
_SKILLS: Mapping[str, str] = {
    "technical": "Technical skill",
    "platforms": "Platform",
    "methods": "Method",
    "domains": "Domain",
}
_CONTACT = ("email", "phone")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Item:
    """An item of a corpus, or a section that has none, on its way to memories."""

    path: str
    name: str  # of its own memory
    type: MemoryType
    interval: Interval = field(default_factory=Interval)
    entities: tuple[EntityRef, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.path}#{self.name}"

    def memory(self, content: str) -> CorpusMemory:
        """Its own memory."""
        return self._memory(self.name, content)

    def part(self, name: str, content: str) -> CorpusMemory:
        """A memory that is a part of it."""
        return replace(self._memory(name, content), part_of=self.key)

    def _memory(self, name: str, content: str) -> CorpusMemory:
        return CorpusMemory(
            path=self.path,
            field=name,
            type=self.type,
            content=content,
            valid_from=self.interval.begin,
            valid_until=self.interval.end,
            entities=self.entities[:_ENTITIES_MAX],
        )


def corpus_memories(
    corpus: Corpus, documents: Documents, policy: CorpusPolicy
) -> tuple[CorpusMemory, ...]:
    """All memories that a valid corpus should have, each key once; its documents say the paths."""
    paths = item_paths(documents)
    found = (
        *_of_profile(corpus, policy),
        *_of_experience(corpus, paths),
        *_of_projects(corpus, paths),
        *_of_skills(corpus),
        *_of_certifications(corpus),
        *_of_education(corpus),
    )
    by_key = {each.key: _shortened(each, policy.content_chars) for each in found}
    return tuple(by_key.values())


def _shortened(memory: CorpusMemory, limit: int) -> CorpusMemory:
    if len(memory.content) <= limit:
        return memory
    return replace(memory, content=shorten(memory.content, limit))


_Paths = Mapping[tuple[Section, str], str]


def _place(section: Section, item: Corpus, paths: _Paths) -> tuple[str, str]:
    """Where an item stands: in its document, or in the one file of earlier times."""
    uid = _id(item)
    if (section, uid) in paths:
        return paths[section, uid], ITEM_KEYS[section]
    return LEGACY, f"{ITEM_KEYS[section]}:{uid}"


def _id(item: Corpus) -> str:
    """What an item is known by; one of earlier times may have no id."""
    return str(item["id"]) if has_id(item) else digest(item)[:_ENTRY_CHARS]


def _of_profile(corpus: Corpus, policy: CorpusPolicy) -> Iterator[CorpusMemory]:
    profile = corpus.get("profile") or {}
    item = _Item(path=CORE_FILES[Section.PROFILE], name="full_name", type=MemoryType.IDENTITY)
    names = ("full_name", "location", *(_CONTACT if policy.contact_memories else ()), "notes")
    labels = {"full_name": "Name", "notes": "Notes"}
    for name in names:
        if not is_blank(profile.get(name)):
            label = labels.get(name, name.capitalize())
            yield replace(item, name=name).memory(f"{label}: {profile[name]}")
    for link in profile.get("links", ()):
        text = f"{link['name']}: {link['url']}"
        yield replace(item, name=_entry("links", text)).memory(text)


def _entry(name: str, text: str) -> str:
    """The field of an entry of a list: by what it says, so that it stays where others come."""
    return f"{name}:{digest(text)[:_ENTRY_CHARS]}"


_ITEMS_KEPT = 4_000
_of_items: Recent[tuple[CorpusMemory, ...]] = Recent(_ITEMS_KEPT)


def _of_experience(corpus: Corpus, paths: _Paths) -> Iterator[CorpusMemory]:
    for _, found in items_of(corpus, "experience"):
        path, name = _place(Section.EXPERIENCE, found, paths)
        key = (path, name, digest(found))
        memories = _of_items.get(key)
        if memories is None:
            memories = tuple(_of_one_experience(path, name, found))
            _of_items.put(key, memories)
        yield from memories


def _of_one_experience(path: str, name: str, found: Corpus) -> Iterator[CorpusMemory]:
    item = _Item(
        path=path,
        name=name,
        type=MemoryType.FACT,
        interval=interval(found["start_date"], found["end_date"]),
        entities=_entities({EntityType.ORG: [found["employer"]]}),
    )
    tools = _entities({EntityType.ORG: [found["employer"]], EntityType.TOOL: found["tools"]})
    if content := _experience(found):
        yield replace(item, entities=tools).memory(content)
        yield from _parts(item, found, ("bullets", "outcomes"))


def _experience(item: Corpus) -> str:
    employer = f" at {item['employer']}" if not is_blank(item["employer"]) else ""
    location = f" in {item['location']}" if not is_blank(item["location"]) else ""
    when = _when(item["start_date"], item["end_date"])
    return _sentences(
        f"{item['title']}{employer}{location}{when}".strip(", "),
        _listed("Tools", item["tools"]),
        _listed("Domains", item["domain_tags"]),
    )


def _when(start: str, end: str | None) -> str:
    if is_blank(start):
        return "" if is_blank(end) else f", until {end}"
    until = PRESENT if end is None else end
    return f", from {start}" + (f" to {until}" if not is_blank(until) else "")


def _of_projects(corpus: Corpus, paths: _Paths) -> Iterator[CorpusMemory]:
    for _, found in items_of(corpus, "projects"):
        project = {EntityType.PROJECT: [found["name"]]}
        path, name = _place(Section.PROJECTS, found, paths)
        item = _Item(
            path=path,
            name=name,
            type=MemoryType.FACT,
            entities=_entities(project),
        )
        role = f" ({found['role']})" if not is_blank(found["role"]) else ""
        content = _sentences(
            f"Project {found['name']}{role}" if not is_blank(found["name"]) else role.strip(" ()"),
            found.get("description", ""),
            _listed("Stack", found["stack"]),
        )
        if content:
            tools = _entities({**project, EntityType.TOOL: found["stack"]})
            yield replace(item, entities=tools).memory(content)
            yield from _parts(item, found, ("outcomes",))


def _parts(item: _Item, found: Corpus, names: Iterable[str]) -> Iterator[CorpusMemory]:
    for name in names:
        for text in found[name]:
            if not is_blank(text):
                yield item.part(_entry(name, text), text)
    if not is_blank(found.get("notes")):
        yield item.part("notes", found["notes"])


def _of_skills(corpus: Corpus) -> Iterator[CorpusMemory]:
    skills = corpus.get("skills") or {}
    item = _Item(path=CORE_FILES[Section.SKILLS], name="skills", type=MemoryType.IDENTITY)
    for name, label in _SKILLS.items():
        for text in skills.get(name, ()):
            if not is_blank(text):
                named = replace(item, name=_entry(name, text), entities=_skill_entities(name, text))
                yield named.memory(f"{label}: {text}")
    if not is_blank(skills.get("notes")):
        yield replace(item, name="notes").memory(f"Skills: {skills['notes']}")


def _skill_entities(name: str, text: str) -> tuple[EntityRef, ...]:
    is_tool = name in {"technical", "platforms"}
    return _entities({EntityType.TOOL: [text]}) if is_tool else ()


def _of_certifications(corpus: Corpus) -> Iterator[CorpusMemory]:
    path = CORE_FILES[Section.CERTIFICATIONS]
    for _, found in items_of(corpus, "certifications"):
        item = _Item(
            path=path,
            name=_id(found),
            type=MemoryType.FACT,
            entities=_entities({EntityType.ORG: [found["issuer"]]}),
        )
        issuer = f" by {found['issuer']}" if not is_blank(found["issuer"]) else ""
        issued = found.get("issue_date", "")
        if not is_blank(found["name"]):
            yield item.memory(
                _sentences(
                    f"Certification {found['name']}{issuer}",
                    f"Issued {issued}" if not is_blank(issued) else "",
                    f"Status: {found['status']}" if not is_blank(found["status"]) else "",
                    found.get("notes") or "",
                )
            )


def _of_education(corpus: Corpus) -> Iterator[CorpusMemory]:
    path = CORE_FILES[Section.EDUCATION]
    for _, found in items_of(corpus, "education"):
        item = _Item(
            path=path,
            name=_id(found),
            type=MemoryType.FACT,
            entities=_entities({EntityType.ORG: [found["institution"]]}),
        )
        area = found.get("field_of_study", "")
        studied = f"{found['degree']} in {area}" if not is_blank(area) else found["degree"]
        place = f" at {found['institution']}" if not is_blank(found["institution"]) else ""
        year = found["graduation_year"]
        if not is_blank([found["degree"], found["institution"]]):
            yield item.memory(
                _sentences(
                    f"{studied}{place}".strip(),
                    f"Graduation: {year}" if not is_blank(year) else "",
                    found.get("notes") or "",
                )
            )


def _listed(label: str, texts: list[str]) -> str:
    named = ", ".join(text.strip() for text in texts if not is_blank(text))
    return f"{label}: {named}" if named else ""


def _sentences(*parts: str) -> str:
    """Parts that say something, each with a full stop."""
    said = (part.strip() for part in parts if not is_blank(part))
    return " ".join(part if part.endswith((".", "!", "?", "。")) else f"{part}." for part in said)


def _entities(named: Mapping[EntityType, Collection[str]]) -> tuple[EntityRef, ...]:
    """The entities that names declare; a name without letters, digits or signs is none."""
    found = (_entity(kind, name) for kind, names in named.items() for name in names)
    return tuple({each.key: each for each in found if each}.values())


def _entity(kind: EntityType, name: str) -> EntityRef | None:
    label = " ".join(name.split())
    is_label = label.isprintable() and len(label) <= _LABEL_MAX_CHARS
    try:
        return entity_ref(f"{kind}:{label}", label=label if is_label else None)
    except ValueError:
        return None


def declared_entities(memories: Iterable[CorpusMemory]) -> tuple[EntityRef, ...]:
    """The entities that a corpus declares, each once, in the order of their keys."""
    return tuple(
        sorted({each.key: each for one in memories for each in one.entities}.values(), key=_key)
    )


def _key(entity: EntityRef) -> str:
    return entity.key
