"""Folder: the files of a corpus as they lie in a folder, and what of it is taken (000, Files)."""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from graphmem.corpus.documents import LEGACY, MANIFEST
from graphmem.corpus.file_names import check_paths, is_unsafe
from graphmem.corpus.manifest import section_of
from graphmem.errors import InvalidInput
from graphmem.model.corpus import Documents
from graphmem.text.normalise import is_storable

FILES_MAX = 5_000


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderFiles:
    """The texts of a folder by their paths, and what was left out of it, in order."""

    texts: Mapping[str, str]
    left_out: tuple[str, ...] = ()


def write_files(folder: Path, documents: Documents) -> None:
    """Write documents into a folder, byte by byte.

    Raises:
        InvalidInput: one could lie outside it.
    """
    check_paths(documents)
    root = folder.resolve()
    for path, document in documents.items():
        target = root.joinpath(path).resolve()
        if not target.is_relative_to(root):  # a link stands there
            raise InvalidInput({f"files.{path}": ["Would lie outside its folder."]})
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(document.text.encode("utf-8"))


def read_files(folder: Path, *, most_bytes: int) -> FolderFiles:
    """The files of a folder that a repository can take.

    Raises:
        InvalidInput: there are none or too many, or a document of a corpus is not UTF-8.
    """
    paths = list(islice(_paths(folder), FILES_MAX + 1))
    _check_number(paths)
    contents = {path.relative_to(folder).as_posix(): _content(path, most_bytes) for path in paths}
    found = taken(contents)
    if not found.texts:
        raise InvalidInput({"folder": ["Has no text files."]})
    return found


def _paths(folder: Path) -> Iterator[Path]:
    """The files of a folder, but for those in folders with a dot in front."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(names))


def _content(path: Path, most_bytes: int) -> bytes | None:
    """The bytes of a file; None for a link, and what is no plain file or too large."""
    is_plain = path.is_file() and not path.is_symlink()
    return path.read_bytes() if is_plain and path.stat().st_size <= most_bytes else None


def taken(contents: Mapping[str, bytes | None]) -> FolderFiles:
    """What is taken of files: texts with safe names; None is what could not be read.

    Raises:
        InvalidInput: there are too many, or a document of a corpus is no text.
    """
    _check_number(contents)
    texts = {
        path: text
        for path, content in contents.items()
        if not is_unsafe(path) and (text := _text(content)) is not None
    }
    left_out = tuple(path for path in contents if path not in texts)
    if broken := [path for path in left_out if _is_document(path)]:
        raise InvalidInput(
            {f"files.{path}": ["Must be UTF-8, and not too large."] for path in broken}
        )
    return FolderFiles(texts=texts, left_out=left_out)


def _check_number(files: Collection[object]) -> None:
    if len(files) > FILES_MAX:
        raise InvalidInput({"folder": [f"Has more than {FILES_MAX:,} files."]})


def _text(content: bytes | None) -> str | None:
    try:
        text = content.decode("utf-8") if content is not None else None
    except UnicodeDecodeError:
        return None
    return text if text is not None and is_storable(text) else None


def _is_document(path: str) -> bool:
    return path in {MANIFEST, LEGACY} or section_of(path) is not None
