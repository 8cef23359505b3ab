"""Manifest: a corpus as documents, and the one that names all others (000, split model). Pure.

A document that says what it said keeps its bytes.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import count
from types import MappingProxyType
from typing import Any

from graphmem.corpus.documents import (
    GENERATED_AT,
    LEGACY,
    MANIFEST,
    canonical_json,
    content_hash,
    digest,
    parsed,
)
from graphmem.corpus.file_names import is_unsafe
from graphmem.corpus.schema import SCHEMA_VERSION, is_moment, items_of
from graphmem.model.corpus import (
    ID_PREFIXES,
    Corpus,
    Document,
    Documents,
    Section,
    text_digest,
)
from graphmem.text.times import iso

FORMAT_VERSION = "1.0.0"
CORE_FILES: Mapping[Section, str] = {
    section: f"corpus_{section}.json"
    for section in Section
    if section not in {Section.EXPERIENCE, Section.PROJECTS}
}
# sections with a document for each item, and the key of its content
ITEM_KEYS: Mapping[Section, str] = {Section.EXPERIENCE: "experience", Section.PROJECTS: "project"}
# and the part of the manifest that lists these
ITEM_LISTS: Mapping[Section, str] = {
    Section.EXPERIENCE: "experience_files",
    Section.PROJECTS: "project_files",
}
_SECTIONS = {path: section for section, path in CORE_FILES.items()}
_ITEM_FILE = re.compile(r"corpus_(experience|project)_[^/\\\x00-\x1f\x7f]+\.json")
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64})*")
_PLAIN_MAX_CHARS, _DIGEST_CHARS = 128, 32


def section_of(path: str) -> Section | None:
    """The section that a document belongs to by its name; None for the manifest and all else."""
    if path in _SECTIONS:
        return _SECTIONS[path]
    form = _ITEM_FILE.fullmatch(path)
    if form is None or is_unsafe(path):
        return None
    return next(section for section, key in ITEM_KEYS.items() if key == form[1])


def with_ids(corpus: Corpus, new_id: Callable[[], str]) -> Corpus:
    """The corpus with an id for each item that has none; ``new_id`` gives 32 hex digits."""
    return {
        name: _with_ids(Section(name), value, new_id) if name in ID_PREFIXES else value
        for name, value in corpus.items()
    }


def ids_of(corpus: Corpus) -> Callable[[], str]:
    """A source of ids that are the same for the same corpus, at each load."""
    seed, numbers = digest(corpus), count(1)
    return lambda: text_digest(f"{seed}:{next(numbers)}")[:_DIGEST_CHARS]


def lacks_ids(corpus: Corpus) -> bool:
    """Whether an item of a corpus has no id, so that a load changes it."""
    return any(not has_id(item) for name in ID_PREFIXES for _, item in items_of(corpus, name))


def _with_ids(section: Section, items: Any, new_id: Callable[[], str]) -> Any:  # noqa: ANN401 - any JSON
    if not isinstance(items, list):
        return items
    return [{**item, "id": made_id(section, new_id)} if _lacks_id(item) else item for item in items]


def made_id(section: Section, new_id: Callable[[], str]) -> str:
    """A new id for an item of a section."""
    return f"{ID_PREFIXES[section]}_{new_id()}"


def has_id(item: Mapping[str, Any]) -> bool:
    """Whether an item has an id that is kept: a text that is not blank."""
    uid = item.get("id")
    return isinstance(uid, str) and bool(uid.strip())


def _lacks_id(item: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(item, dict) and not has_id(item)


def split(
    corpus: Corpus,
    *,
    before: Documents,
    offered: Documents = MappingProxyType({}),
    generated_at: datetime,
) -> Documents:
    """The documents of a corpus whose items all have ids.

    ``before`` are those from which it came: what still says the same is taken over byte by byte,
    and items stay in their files. So is what is ``offered``, which nobody proved yet, where it says
    that and nothing beside it.
    """
    files = _item_files(corpus, {**item_paths(offered), **item_paths(before)})
    documents = {
        path: _document(path, key, value, before, offered)
        for path, key, value in _contents(corpus, files)
    }
    manifest = _manifest(corpus, files, documents, generated_at)
    documents[MANIFEST] = _manifest_document(manifest, before, offered)
    return documents


_ItemFiles = Mapping[Section, Mapping[str, str]]  # the path of each item by its id


def _contents(corpus: Corpus, files: _ItemFiles) -> Iterator[tuple[str, str, Any]]:
    """The path, key and value of each document."""
    for section, path in CORE_FILES.items():
        if section in corpus:
            yield path, section.value, corpus[section]
    for section, key in ITEM_KEYS.items():
        for _, item in items_of(corpus, section):
            yield files[section][item["id"]], key, item


def _document(
    path: str,
    key: str,
    value: Any,  # noqa: ANN401 - any JSON
    before: Documents,
    offered: Documents,
) -> Document:
    known, given = before.get(path), offered.get(path)
    made = Document(path=path, text=canonical_json({key: value}))
    if known and (known.text == made.text or _says(known, key, value)):
        return known
    return given if given and says_only(given, {key: value}) else made


def _says(document: Document, key: str, value: Any) -> bool:  # noqa: ANN401 - any JSON
    try:
        content = parsed(document.text)
    except ValueError:
        return False
    has_key = isinstance(content, dict) and key in content
    return has_key and digest(content[key]) == digest(value)


def says_only(document: Document, value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether a document says a value and nothing beside it, nor a name twice."""
    try:
        parsed(document.text)
        return digest(json.loads(document.text, object_pairs_hook=_once)) == digest(value)
    except ValueError:
        return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        message = "A name stands there twice."
        raise ValueError(message)
    return fields


def _manifest(
    corpus: Corpus, files: _ItemFiles, documents: Documents, generated_at: datetime
) -> Mapping[str, Any]:
    return {
        "format_version": FORMAT_VERSION,
        "schema_version": corpus.get("schema_version", SCHEMA_VERSION),
        GENERATED_AT: iso(generated_at),
        "core_files": {
            section.value: path for section, path in CORE_FILES.items() if path in documents
        },
        **{
            ITEM_LISTS[section]: [{"id": uid, "path": path} for uid, path in by_id.items()]
            for section, by_id in files.items()
        },
        "file_hashes": {path: content_hash(documents[path]) for path in sorted(documents)},
    }


def _manifest_document(
    manifest: Mapping[str, Any], before: Documents, offered: Documents
) -> Document:
    made = Document(path=MANIFEST, text=canonical_json(manifest))
    known, given = before.get(MANIFEST), offered.get(MANIFEST)
    if known and content_hash(known) == content_hash(made):
        return known
    return given if given and says_only(given, _at_its_time(manifest, given)) else made


def _at_its_time(manifest: Mapping[str, Any], given: Document) -> Mapping[str, Any]:
    """A manifest with the time of another one, if that is one."""
    moment = manifest_of({MANIFEST: given}).get(GENERATED_AT)
    is_time = isinstance(moment, str) and is_moment(moment)
    return {**manifest, GENERATED_AT: moment} if is_time else manifest


def _item_files(corpus: Corpus, known: Mapping[tuple[Section, str], str]) -> _ItemFiles:
    return {
        section: _files_of(section, [item["id"] for _, item in items_of(corpus, section)], known)
        for section in ITEM_KEYS
    }


def _files_of(
    section: Section, ids: list[str], known: Mapping[tuple[Section, str], str]
) -> Mapping[str, str]:
    """The file of each item by its id: the one that it has, else a new one; never one for two."""
    owners = {known[section, uid].casefold(): uid for uid in ids if (section, uid) in known}
    files = {uid: known[section, uid] for uid in owners.values()}
    taken = set(owners)
    for uid in ids:
        if uid not in files:
            files[uid] = next(path for path in _names(section, uid) if path.casefold() not in taken)
            taken.add(files[uid].casefold())
    return {uid: files[uid] for uid in ids}


def _names(section: Section, uid: str) -> Iterator[str]:
    """Files for an item: by its id where that can be a name, else by hashes of it."""
    prefix = f"corpus_{ITEM_KEYS[section]}_"
    if _PLAIN_ID.fullmatch(uid) and len(uid) <= _PLAIN_MAX_CHARS:
        yield f"{prefix}{uid}.json"
    for number in count():
        yield f"{prefix}{text_digest(f'{number}:{uid}')[:_DIGEST_CHARS]}.json"


def item_paths(documents: Documents) -> Mapping[tuple[Section, str], str]:
    """Where the manifest says that each item lies, by section and id."""
    manifest = manifest_of(documents)
    return {
        (section, entry["id"]): entry["path"]
        for section, name in ITEM_LISTS.items()
        for entry in entries(manifest, name)
        if isinstance(entry.get("id"), str) and section_of(str(entry.get("path"))) is section
    }


def manifest_of(documents: Documents) -> Mapping[str, Any]:
    """The manifest among some documents; empty where there is none that can be read."""
    try:
        value = parsed(documents[MANIFEST].text) if MANIFEST in documents else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def entries(manifest: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The entries of a list of a manifest; what has not their form is left out."""
    found = manifest.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def has_corpus(documents: Documents) -> bool:
    """Whether there is a corpus: a manifest, or the one file of earlier times."""
    return MANIFEST in documents or LEGACY in documents
