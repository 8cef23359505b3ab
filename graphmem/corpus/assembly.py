"""Assembly: the corpus that some documents are, or why they are none (000, split model). Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from graphmem.corpus.documents import LEGACY, MANIFEST, parsed
from graphmem.corpus.file_names import is_unsafe
from graphmem.corpus.manifest import CORE_FILES, ITEM_KEYS, ITEM_LISTS, section_of
from graphmem.corpus.schema import SCHEMA_VERSION
from graphmem.model.corpus import Corpus, Documents, Section


class FaultKind(StrEnum):
    """Why documents are no corpus."""

    MISSING_FILE = "split_file_missing"
    FOREIGN_FILE = "foreign_file"
    UNSAFE_NAME = "unsafe_name"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    LACKS_KEY = "content_key_missing"
    BAD_ENTRY = "manifest_entry_invalid"


_MESSAGES: Mapping[FaultKind, str] = {
    FaultKind.MISSING_FILE: "The manifest names this file, and it is not there.",
    FaultKind.FOREIGN_FILE: "No document of a corpus has that name.",
    FaultKind.UNSAFE_NAME: "A file of that name could lie outside its folder.",
    FaultKind.NOT_JSON: "Is no JSON.",
    FaultKind.NOT_AN_OBJECT: "Must be a JSON object.",
    FaultKind.LACKS_KEY: "Lacks the key of its content.",
    FaultKind.BAD_ENTRY: "The manifest must name files as texts, and items by id and path.",
}


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Fault:
    """What is wrong with one document."""

    path: str
    kind: FaultKind

    @property
    def message(self) -> str:
        """The same as a sentence."""
        return _MESSAGES[self.kind]

    @property
    def reason(self) -> str:
        """The same as results name it."""
        return f"{self.kind}:{self.path}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Assembly:
    """The corpus that documents are, or all that is wrong with them; neither of no corpus."""

    corpus: Corpus | None = None
    faults: tuple[Fault, ...] = ()


class _Broken(Exception):
    def __init__(self, path: str, kind: FaultKind) -> None:
        super().__init__()
        self.fault = Fault(path=path, kind=kind)


def assembled(documents: Documents) -> Assembly:
    """The corpus of a manifest and what it names, else that of the one file of earlier times."""
    if MANIFEST not in documents:
        return _of_legacy(documents) if LEGACY in documents else Assembly()
    try:
        manifest = _object(documents, MANIFEST)
        named = list(_named(manifest))
    except _Broken as broken:
        return Assembly(faults=(broken.fault,))
    contents: dict[Section, list[Any]] = {section: [] for section in ITEM_KEYS}
    faults = []
    for file in named:
        try:
            contents.setdefault(file.section, []).append(_content(documents, file))
        except _Broken as broken:
            faults.append(broken.fault)
    if faults:
        return Assembly(faults=tuple(sorted(set(faults))))
    return Assembly(corpus=_corpus(manifest, contents))


def _of_legacy(documents: Documents) -> Assembly:
    try:
        return Assembly(corpus=_object(documents, LEGACY))
    except _Broken as broken:
        return Assembly(faults=(broken.fault,))


def _corpus(manifest: Mapping[str, Any], contents: Mapping[Section, list[Any]]) -> Corpus:
    sections = {
        section.value: contents[section] if section in ITEM_KEYS else contents[section][0]
        for section in Section
    }
    return {"schema_version": manifest.get("schema_version", SCHEMA_VERSION), **sections}


@dataclass(frozen=True, kw_only=True, slots=True)
class _File:
    """A file that a manifest names, with the key of its content, and the id that it says."""

    path: str
    section: Section
    key: str
    id: str | None = None


def _named(manifest: Mapping[str, Any]) -> Iterator[_File]:
    core = manifest.get("core_files", {})
    if not isinstance(core, dict):
        raise _Broken(MANIFEST, FaultKind.BAD_ENTRY)
    for section, usual in CORE_FILES.items():
        path = core.get(section.value, usual)
        yield _File(path=_text(path), section=section, key=section.value)
    for section, key in ITEM_KEYS.items():
        for entry in _list(manifest, ITEM_LISTS[section]):
            yield _File(path=_text(entry.get("path")), section=section, key=key, id=entry.get("id"))


def _list(manifest: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = manifest.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise _Broken(MANIFEST, FaultKind.BAD_ENTRY)
    return found


def _text(path: object) -> str:
    if not isinstance(path, str):
        raise _Broken(MANIFEST, FaultKind.BAD_ENTRY)
    return path


def _content(documents: Documents, file: _File) -> Any:  # noqa: ANN401 - any JSON
    if is_unsafe(file.path):
        raise _Broken(file.path, FaultKind.UNSAFE_NAME)
    if section_of(file.path) is not file.section:
        raise _Broken(file.path, FaultKind.FOREIGN_FILE)
    if file.path not in documents:
        raise _Broken(file.path, FaultKind.MISSING_FILE)
    document = _object(documents, file.path)
    if file.key not in document:
        raise _Broken(file.path, FaultKind.LACKS_KEY)
    return _with_named_id(document[file.key], file.id)


def _with_named_id(content: Any, uid: str | None) -> Any:  # noqa: ANN401 - any JSON
    """The content of an item, with the id that the manifest says where it has none of its own."""
    lacks_id = isinstance(content, dict) and "id" not in content
    return {**content, "id": uid} if lacks_id and isinstance(uid, str) else content


def _object(documents: Documents, path: str) -> Mapping[str, Any]:
    try:
        value = parsed(documents[path].text)
    except ValueError as error:
        raise _Broken(path, FaultKind.NOT_JSON) from error
    if not isinstance(value, dict):
        raise _Broken(path, FaultKind.NOT_AN_OBJECT)
    return value


def foreign_files(documents: Documents) -> tuple[str, ...]:
    """Files of a folder that no corpus has, in order; only unsafe names among them are refused."""
    return tuple(
        path
        for path in sorted(documents)
        if path not in {MANIFEST, LEGACY} and section_of(path) is None
    )
