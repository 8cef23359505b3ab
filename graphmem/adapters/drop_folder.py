"""Drop folder: looking at files that others dropped, and moving them without ever losing one."""

import errno
import json
import os
import shutil
import stat
import time
from pathlib import Path
from typing import Any, Final

try:
    import fcntl
except ImportError:  # pragma: no cover - not on Windows
    fcntl = None  # type: ignore[assignment]

_SETTLED_SECONDS: Final = 2.0  # where the system cannot say whether a file is being written


class NotPlainError(Exception):
    """What lies there is not a plain file that can be read; the text says why."""


def dropped(folder: Path) -> list[Path]:
    """Everything in a folder but folders, by name; a link is listed as such, wherever it leads."""
    with os.scandir(folder) as entries:
        return sorted(Path(entry.path) for entry in entries if not entry.is_dir(follow_symlinks=False))


def plain_size(path: Path) -> int:
    """The size of a plain file in bytes.

    Raises:
        NotPlainError: it is a link, a device, a pipe, or gone.
    """
    try:
        found = path.lstat()
    except OSError as error:
        message = f"The file cannot be looked at ({type(error).__name__})."
        raise NotPlainError(message) from error
    if stat.S_ISLNK(found.st_mode):
        message = "The file is a symbolic link, and links are not followed."
        raise NotPlainError(message)
    if not stat.S_ISREG(found.st_mode):
        message = "This is not a plain file."
        raise NotPlainError(message)
    return found.st_size


def is_being_written(path: Path) -> bool:
    """Whether another process has a plain file open for writing, or may have: it was changed a moment ago."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False  # reading it will say what is wrong
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return False
        if fcntl is not None and hasattr(fcntl, "F_SETLEASE"):
            try:
                fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            except BlockingIOError:
                return True
            except OSError:
                pass  # a file of another user, or a file system without leases
            else:
                fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
                return False
        return time.time() - os.fstat(handle).st_mtime < _SETTLED_SECONDS
    finally:
        os.close(handle)


def read_plain(path: Path) -> bytes:
    """The bytes of a plain file; a link that was put there meanwhile is not followed.

    Raises:
        NotPlainError: it cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            return file.read()
    except OSError as error:
        message = f"The file cannot be read ({type(error).__name__})."
        raise NotPlainError(message) from error


def free_place(folder: Path, name: str) -> Path:
    """Where a file of that name can lie: behind ``.1``, ``.2`` and so on where the name is taken (002, Ingestion)."""
    place, number = folder / name, 0
    while os.path.lexists(place):
        number += 1
        place = folder / f"{name}.{number}"
    return place


def move(source: Path, target: Path) -> None:
    """Move a file in one step; to another file system by a whole copy first, so that none is ever half there."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        copy = target.with_name(f".{target.name}.part")
        shutil.copy2(source, copy, follow_symlinks=False)
        copy.replace(target)
        source.unlink()


def write_json(path: Path, values: object, *, durable: bool = False) -> None:
    """Write a JSON file in one step: it is whole or not there. ``durable`` waits until the disk has it."""
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(values, file, ensure_ascii=False, indent=2)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    part.replace(path)


def read_json(path: Path) -> Any:  # noqa: ANN401 - any JSON
    """What a JSON file holds; None where it is not there or not whole."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
