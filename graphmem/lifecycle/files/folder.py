"""Folder: reading and writing files below a folder, and never outside of it.

Links are not followed and special files are not opened. While an export is written, a list of its
files says that it is not whole; at its end the list of all files takes its place.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from graphmem.errors import Conflict, InvalidInput
from graphmem.lifecycle.files.scratch import Scratch

MANIFEST, UNFINISHED = "state/manifest.txt", "state/manifest.part"
FILE_MAX_BYTES = 32_000_000
_PART = ".graphmem.part"
_TOP = "facts corrections artifacts archive boxes entities questions threads summaries config state"
TOP_FOLDERS = frozenset(_TOP.split())
TOP_FILES = frozenset({"profile.md", "IDENTITY.md"})
_WRITTEN = re.compile(r"(?:[^/\\\x00-\x1f]+/)*[^/\\\x00-\x1f]+")
_DEPTH = 4  # of folders


@dataclass(frozen=True, kw_only=True, slots=True)
class Unfit:
    """A file or folder that is left out, and why."""

    path: str
    reason: str


@dataclass(kw_only=True)
class FolderWriter:
    """Writes an export into a folder; what an earlier one left there and this does not goes."""

    root: Path
    scratch: Scratch
    _sound: set[Path] = field(default_factory=set)  # folders that are no links
    _list: TextIO | None = None  # of what is written, while it is

    def begin(self) -> None:
        """Say that an export is being written.

        Raises:
            InvalidInput: the folder is a file, or holds something that no export wrote.
        """
        self._check_free()
        self.root.mkdir(parents=True, exist_ok=True)
        flags = os.O_CREAT | os.O_WRONLY | os.O_APPEND
        self._list = _text_file(self._place(UNFINISHED), flags)

    def _check_free(self) -> None:
        if self.root.exists() and not self.root.is_dir():
            raise InvalidInput({"folder": ["Is no folder."]})
        if not self.root.is_dir() or any((self.root / each).is_file() for each in _LISTS):
            return
        if here := sorted(each.name for each in self.root.iterdir() if not _is_hidden(each.name)):
            message = f"Holds {here[0]}, and no earlier export; name an empty folder."
            raise InvalidInput({"folder": [message]})

    def write(self, path: str, parts: Iterable[str]) -> None:
        """Write a file whole, or not at all.

        Raises:
            InvalidInput: a link is in its way.
            Conflict: this export wrote it already.
        """
        if not self.scratch.add("file", path):
            message = f"Two records would be the file {path}."
            raise Conflict(message)
        if self._list:
            self._list.write(f"{path}\n")
            self._list.flush()
        self._put(path, parts)

    def _put(self, path: str, parts: Iterable[str]) -> None:
        target = self._place(path)
        part = self.root / _PART
        with suppress(FileNotFoundError):
            part.unlink()
        with _text_file(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY) as file:
            file.writelines(parts)
        part.replace(target)

    def _place(self, path: str) -> Path:
        """Where a file goes, in folders that are there and are no links."""
        folder = self.root
        for name in path.split("/")[:-1]:
            folder /= name
            if folder not in self._sound:
                _make_folder(folder, path)
                self._sound.add(folder)
        target = folder / path.rpartition("/")[2]
        if os.path.lexists(target) and not _is_plain(target):
            raise InvalidInput({"folder": [f"{path} is a link or no plain file."]})
        return target

    def close(self) -> None:
        """Write no more; without a finish the folder holds no whole export."""
        if self._list:
            self._list.close()
            self._list = None

    def finish(self) -> None:
        """Remove what only earlier exports wrote, and say that this one is whole."""
        self.close()
        for path in (MANIFEST, UNFINISHED):
            for earlier in self._listed(path):
                if not self.scratch.has("file", earlier):
                    self._remove(earlier)
        self._put(MANIFEST, (f"{name}\n" for name in self.scratch.names("file")))
        (self.root / UNFINISHED).unlink()

    def _listed(self, path: str) -> Iterator[str]:
        place = self._place(path)
        if not place.exists():
            return
        with _text_file(place, os.O_RDONLY) as file:
            for line in file:
                name = line.rstrip("\n")
                if _may_be_written(name):
                    yield name

    def _remove(self, path: str) -> None:
        """Remove a file that an export wrote, and folders that are empty then."""
        folder = self.root
        for name in path.split("/")[:-1]:
            folder /= name
            if folder.is_symlink() or not folder.is_dir():
                return
        target = self.root / path
        if _is_plain(target):
            target.unlink()
        for parent in target.parents:
            if parent == self.root or any(parent.iterdir()):
                return
            parent.rmdir()


_LISTS = (MANIFEST, UNFINISHED)


def _make_folder(folder: Path, path: str) -> None:
    with suppress(FileExistsError):
        folder.mkdir()
    if folder.is_symlink() or not folder.is_dir():
        raise InvalidInput({"folder": [f"{path} lies behind a link or in a file."]})


def _text_file(path: Path, flags: int) -> TextIO:
    """A file opened as UTF-8 whose line ends stay as they are; never what a link leads to."""
    number = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
    if flags & os.O_ACCMODE == os.O_RDONLY:
        return os.fdopen(number, "r", encoding="utf-8", newline="\n")
    return os.fdopen(number, "w", encoding="utf-8", newline="")


def _is_plain(path: Path) -> bool:
    return os.path.lexists(path) and stat.S_ISREG(path.lstat().st_mode)


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _may_be_written(path: str) -> bool:
    """Whether a line of a list names a file that an export writes."""
    parts = path.split("/")
    is_inside = _WRITTEN.fullmatch(path) is not None and not {"", ".", ".."} & set(parts)
    is_of_layout = parts[0] in TOP_FOLDERS if len(parts) > 1 else path in TOP_FILES
    return is_inside and is_of_layout and path not in _LISTS


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderReader:
    """Reads the files of a folder that somebody wrote; hidden ones are nobody's."""

    root: Path

    def check(self) -> None:
        """Refuse what can be no layout.

        Raises:
            InvalidInput: it is no folder, or holds an export that did not come to its end.
        """
        if not self.root.is_dir():
            raise InvalidInput({"folder": ["Is no folder."]})
        if os.path.lexists(self.root / UNFINISHED):
            message = "Holds an export that did not come to its end; export once more."
            raise InvalidInput({"folder": [message]})

    def strangers(self) -> Iterator[Unfit]:
        """What lies at the top and is no part of the layout."""
        for entry in self._entries(self.root):
            is_known = entry.name in (TOP_FILES if _is_plain(Path(entry)) else TOP_FOLDERS)
            if not is_known or entry.is_symlink():
                yield Unfit(path=shown(entry.name), reason=_reason(entry))

    def files(self, folder: str) -> Iterator[str | Unfit]:
        """The paths of the files below a folder of the layout, by day and time."""
        if (self.root / folder).is_symlink() or not (self.root / folder).is_dir():
            return  # told of as a stranger
        yield from self._below(folder, _DEPTH)

    def _below(self, folder: str, depth: int) -> Iterator[str | Unfit]:
        for entry in self._entries(self.root / folder):
            path = f"{folder}/{entry.name}"
            if entry.is_dir(follow_symlinks=False) and depth > 0:
                yield from self._below(path, depth - 1)
            elif entry.is_file(follow_symlinks=False) and path == shown(path):
                yield path
            else:
                yield Unfit(path=shown(path), reason=_reason(entry))

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        with os.scandir(folder) as found:
            shown = [entry for entry in found if not _is_hidden(entry.name)]
        return sorted(shown, key=lambda entry: entry.name)

    def has(self, path: str) -> bool:
        """Whether a plain file is there."""
        parents = list((self.root / path).parents)[: path.count("/")]
        return _is_plain(self.root / path) and not any(each.is_symlink() for each in parents)

    def text(self, path: str) -> str:
        """What a file says, without a mark of the byte order.

        Raises:
            InvalidInput: it is too large, no UTF-8, or no plain file.
        """
        if not _is_plain(self.root / path):
            raise InvalidInput({"file": ["Is no plain file."]})
        size = (self.root / path).lstat().st_size
        if size > FILE_MAX_BYTES:
            message = f"Has {size:,} bytes, at most {FILE_MAX_BYTES:,} are read."
            raise InvalidInput({"file": [message]})
        try:
            with closing(_text_file(self.root / path, os.O_RDONLY)) as file:
                return file.read().removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise InvalidInput({"file": ["Is not UTF-8."]}) from error
        except OSError as error:
            raise InvalidInput({"file": [f"Cannot be read: {error.strerror}."]}) from error

    def lines(self, path: str) -> Iterator[str]:
        """The lines of a file; what is no UTF-8 becomes what no memory may have."""
        number = os.open(self.root / path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(
            number, "r", encoding="utf-8", errors="surrogateescape", newline="\n"
        ) as file:
            while line := file.readline(FILE_MAX_BYTES):
                yield line


def shown(path: str) -> str:
    """A path as it can be printed."""
    return "".join(char if char.isprintable() else "\ufffd" for char in path)


def _reason(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "Is a link, which is not followed."
    is_usual = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
    return "Is no part of the layout." if is_usual else "Is no plain file."
