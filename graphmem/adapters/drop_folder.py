"""Drop folder: looking at files that others dropped, and moving them without ever losing one."""

import errno
import json
import os
import shutil
import signal
import stat
import time
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

try:
    import fcntl
except ImportError:  # pragma: no cover - not on Windows
    fcntl = None  # type: ignore[assignment]

Signature = tuple[int, int, int]  # inode, size and time of change of a file

_SETTLED_SECONDS: Final = 2.0  # where the system cannot say whether a file is being written
_FORGOTTEN_SECONDS: Final = (
    600.0  # a file that was not written to for so long may be open, but is done
)


class NotPlainError(Exception):
    """What lies there is not a plain file that can be read; the text says why."""


def dropped(folder: Path) -> list[Path]:
    """Everything in a folder but folders, by name; a link is listed as such, wherever it leads."""
    with os.scandir(folder) as entries:
        return sorted(
            Path(entry.path) for entry in entries if not entry.is_dir(follow_symlinks=False)
        )


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


def is_being_written(path: Path, *, settled_seconds: float = _SETTLED_SECONDS) -> bool:
    """Whether another process writes to a plain file, or may: it was changed a moment ago.

    A read lease is refused while a file is open for writing. What breaks one is told by a signal
    that nobody minds: the usual one would end the process.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False  # reading it will say what is wrong
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return False
        unchanged = time.time() - found.st_mtime
        if fcntl is not None and hasattr(fcntl, "F_SETLEASE"):
            try:
                fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
                fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            except BlockingIOError:
                return unchanged < _FORGOTTEN_SECONDS
            except OSError:
                pass  # a file of another user, or a file system without leases
            else:
                return False
        return 0 <= unchanged < settled_seconds
    finally:
        os.close(handle)  # ends the lease


def signature(path: Path) -> Signature:
    """The inode, size and time of change of a file: these differ once it is another."""
    found = path.lstat()
    return found.st_ino, found.st_size, found.st_mtime_ns


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


def free_path(path: Path, *, with_ending: str) -> Path:
    """A path where nothing lies, nor beside it under another ending; else a numbered one.

    That is the same with ``.1``, ``.2`` and so on behind its name (002, Ingestion). Numbers are
    taken one after the other, so the first free one is looked for as in a book: a name that is
    used ten thousand times costs some twenty looks.
    """

    def at(number: int) -> Path:
        return path.with_name(f"{path.name}.{number}") if number else path

    def is_free(number: int) -> bool:
        return not any(os.path.lexists(f"{at(number)}{ending}") for ending in {"", with_ending})

    free = 0
    while not is_free(free):
        free = 2 * free + 1
    taken = (free - 1) // 2 if free else -1
    while free - taken > 1:
        middle = (taken + free) // 2
        taken, free = (taken, middle) if is_free(middle) else (middle, free)
    return at(free)


def move(source: Path, target: Path) -> None:
    """Move a file in one step; to another file system, by a whole copy first."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        copy = target.with_name(f".{uuid4().hex}.part")
        shutil.copy2(source, copy, follow_symlinks=False)
        copy.replace(target)
        source.unlink()


def write_json(path: Path, values: object, *, durable: bool = False) -> None:
    """Write a JSON file in one step: it is whole or not there.

    ``durable`` waits until the disk has it.
    """
    part = path.with_name(f".{uuid4().hex}.part")
    with part.open("w", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(values, file, ensure_ascii=False, indent=2)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    part.replace(path)


def drop(folder: Path, name: str, data: bytes, *, parts: Path) -> None:
    """Put a file into a folder, in one step where the file system has links.

    ``parts`` is a folder on the same file system.

    Raises:
        FileExistsError: one of that name is there.
    """
    part = parts / f".{uuid4().hex}.part"
    part.write_bytes(data)
    try:
        os.link(part, folder / name)  # fails where the name is taken, as a move would not
    except FileExistsError:
        raise
    except OSError:
        with (folder / name).open("xb") as file:
            file.write(data)
    finally:
        part.unlink()


def read_json(path: Path) -> Any:  # noqa: ANN401 - any JSON
    """What a JSON file holds; None where it is not there or not whole."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
