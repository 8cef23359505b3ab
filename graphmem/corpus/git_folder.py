"""Git folder: revisions of a corpus as commits of a git repository, and back (000, Files).

Nothing that a repository says is run: no hooks, no monitors, no transports, no settings of others.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from graphmem.corpus.file_names import check_paths
from graphmem.corpus.folder import FILES_MAX, taken, write_files
from graphmem.errors import InvalidInput
from graphmem.model.corpus import StoredCommit
from graphmem.text.normalise import is_storable

_ALONE = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
_QUIET = (
    *("-c", "core.fsmonitor="),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never"),
)
_NOBODY = "graphmem <graphmem@localhost>"
_BRANCH = "refs/heads/main"
_FILES = frozenset({"100644", "100755"})  # all else is a link or a repository of its own
_SECONDS = 60
_LISTED_BYTES = 4_000_000  # of a tree
_WHEN = re.compile(rb"^committer .*> ([0-9]+) [+-][0-9]{4}$", re.MULTILINE)
_ENCODING = re.compile(rb"^encoding (\S+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class GitCommit:
    """A commit: its message and time, its texts by their paths, and what was left out of it."""

    message: str
    at: datetime
    files: Mapping[str, str]
    left_out: tuple[str, ...] = ()


def checked_in(folder: Path, revisions: Sequence[StoredCommit]) -> None:
    """Make a folder a git repository with one commit a revision, whose message and time it has.

    Raises:
        InvalidInput: git is not there, or a file could lie outside the folder.
    """
    for stored in revisions:
        check_paths(stored.documents)
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "fast-import", "--quiet", told=b"".join(map(_told, revisions)))
    if revisions:
        write_files(folder, revisions[-1].documents)
        _git(folder, "reset", "-q")


def _told(stored: StoredCommit) -> bytes:
    """A revision as git takes it in."""
    return b"".join(
        (
            f"commit {_BRANCH}\n".encode(),
            f"committer {_NOBODY} {int(stored.commit.at.timestamp())} +0000\n".encode(),
            _sized(stored.commit.message),
            b"deleteall\n",
            *(_file(path, document.text) for path, document in stored.documents.items()),
        )
    )


def _file(path: str, text: str) -> bytes:
    name = path.replace('"', '\\"')  # a safe path has no backslash
    return f'M 100644 inline "{name}"\n'.encode() + _sized(text)


def _sized(text: str) -> bytes:
    content = text.encode("utf-8")
    return b"data %d\n%b\n" % (len(content), content)


def commits_of(folder: Path, *, most_bytes: int) -> list[GitCommit]:
    """The commits of a git repository, the first first.

    Raises:
        InvalidInput: git is not there, the folder is no repository, or has what is not UTF-8.
    """
    listed = _git(folder, "rev-list", "--reverse", "--first-parent", "HEAD").decode().split()
    commits = dict(_objects(folder, listed))
    trees = {sha: list(_entries(folder, sha)) for sha in listed}
    files = [each for tree in trees.values() for each in tree if each.is_file]
    wanted = {each.sha for each in files if each.size <= most_bytes}
    blobs = dict(_objects(folder, sorted(wanted)))
    return [_commit(commits[sha], trees[sha], blobs) for sha in listed]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entry:
    path: str
    sha: str
    size: int
    is_file: bool


def _entries(folder: Path, sha: str) -> Iterator[_Entry]:
    for entry in _tree_lines(folder, sha):
        told, _, path = entry.partition(b"\t")
        mode, _, blob, size = told.decode().split()
        yield _Entry(
            path=path.decode("utf-8", "surrogateescape"),
            sha=blob,
            size=int(size) if size.isdigit() else 0,
            is_file=mode in _FILES,
        )


def _tree_lines(folder: Path, sha: str) -> list[bytes]:
    """What git says of the files of a commit, a line each.

    Raises:
        InvalidInput: there are more than a corpus can have; trees that hold each other may say
            millions, so no more is read.
    """
    arguments = ("ls-tree", "-r", "-z", "-l", "--full-tree", sha)
    with _process(folder, *arguments) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        listed = process.stdout.read(_LISTED_BYTES + 1)
        process.kill()
    lines = listed.split(b"\0")[:-1]
    if len(listed) > _LISTED_BYTES or len(lines) > FILES_MAX:
        raise InvalidInput({"folder": [f"A commit has more than {FILES_MAX:,} files."]})
    return lines


def _objects(folder: Path, shas: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The bytes of objects by their hashes."""
    told = _git(folder, "cat-file", "--batch", told="".join(f"{sha}\n" for sha in shas).encode())
    place = 0
    while place < len(told):
        end = told.index(b"\n", place)
        sha, *_, size = told[place:end].decode().split()
        if not size.isdigit():
            raise InvalidInput({"folder": [f"The repository lacks {sha}."]})
        yield sha, told[end + 1 : end + 1 + int(size)]
        place = end + 1 + int(size) + 1


def _commit(told: bytes, tree: Iterable[_Entry], blobs: Mapping[str, bytes]) -> GitCommit:
    head, _, body = told.partition(b"\n\n")
    found = taken({each.path: blobs.get(each.sha) if each.is_file else None for each in tree})
    return GitCommit(
        message=_message(head, body),
        at=_moment(head),
        files=found.texts,
        left_out=found.left_out,
    )


def _moment(head: bytes) -> datetime:
    when = _WHEN.search(head)
    try:
        return datetime.fromtimestamp(int(when[1]) if when else 0, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput({"folder": ["A commit has a time that cannot be."]}) from error


def _message(head: bytes, body: bytes) -> str:
    named = _ENCODING.search(head)
    try:
        message = body.decode(named[1].decode() if named else "utf-8")
    except (UnicodeError, LookupError) as error:
        raise InvalidInput({"folder": ["A message cannot be read as text."]}) from error
    if not is_storable(message):
        raise InvalidInput({"folder": ["A message has a character that cannot be stored."]})
    return message


def _git(folder: Path, *arguments: str, told: bytes = b"") -> bytes:
    """Run git in a folder; what it prints.

    Raises:
        InvalidInput: it is not there, or the folder is no repository.
    """
    failed = {"folder": [f"git {arguments[0]} failed there."]}
    with _process(folder, *arguments) as process:
        try:
            found, _ = process.communicate(told, timeout=_SECONDS)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise InvalidInput(failed) from error
    if process.returncode:
        raise InvalidInput(failed)
    return found


def _process(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Git, running in a folder with nothing of its settings and of the environment's.

    Raises:
        InvalidInput: it is not there, or the folder's repository lies elsewhere.
    """
    place = folder.resolve()
    if (place / ".git").is_file():
        raise InvalidInput({"folder": ["Its repository lies elsewhere."]})
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.Popen(
            ["git", *_QUIET, *arguments],  # noqa: S607 - the git of the machine
            cwd=place,
            env={**ours, **_ALONE, "GIT_CEILING_DIRECTORIES": str(place.parent)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise InvalidInput({"folder": [f"git {arguments[0]} failed there."]}) from error
