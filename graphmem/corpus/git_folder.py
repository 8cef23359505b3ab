"""Git folder: revisions of a corpus as commits of a git repository, and back (000, Files)."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from graphmem.errors import InvalidInput
from graphmem.model.corpus import Documents, StoredCommit
from graphmem.text.times import iso, moment_of

_NOBODY = {
    "GIT_AUTHOR_NAME": "graphmem",
    "GIT_AUTHOR_EMAIL": "graphmem@localhost",
    "GIT_COMMITTER_NAME": "graphmem",
    "GIT_COMMITTER_EMAIL": "graphmem@localhost",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}
_SECONDS = 60
_END = "\x1e"
GitCommit = tuple[str, datetime, Mapping[str, str]]  # its message, time and JSON files


def write_files(folder: Path, documents: Documents) -> None:
    """Write documents into a folder, byte by byte."""
    for path, document in documents.items():
        target = folder.joinpath(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(document.text.encode("utf-8"))


def checked_in(folder: Path, revisions: Sequence[StoredCommit]) -> None:
    """Make a folder a git repository with one commit a revision, whose message and time it has."""
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "config", "core.autocrlf", "false")
    for stored in revisions:
        _git(folder, "rm", "-r", "-q", "-f", "--ignore-unmatch", ".")
        write_files(folder, stored.documents)
        at = iso(stored.commit.at)
        _git(folder, "add", "-A")
        _git(
            folder,
            *("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", stored.commit.message),
            GIT_AUTHOR_DATE=at,
            GIT_COMMITTER_DATE=at,
        )


def commits_of(folder: Path) -> list[GitCommit]:
    """The commits of a git repository, the first first, each with its JSON files."""
    listed = _git(folder, "log", "--reverse", "--first-parent", f"--format=%H%x00%cI%x00%B{_END}")
    found: list[GitCommit] = []
    for entry in filter(None, (part.strip("\n") for part in listed.split(_END))):
        sha, at, message = entry.split("\0", 2)
        files = {path: _git(folder, "show", f"{sha}:{path}") for path in _paths(folder, sha)}
        found.append((message.strip() or "Import", moment_of(at), files))
    return found


def _paths(folder: Path, sha: str) -> list[str]:
    names = _git(folder, "ls-tree", "-r", "-z", "--name-only", sha).split("\0")
    return [name for name in names if name.endswith(".json")]


def _git(folder: Path, *arguments: str, **variables: str) -> str:
    """Run git in a folder; what it prints.

    Raises:
        InvalidInput: it is not there, the folder is no repository, or a file is not UTF-8.
    """
    try:
        done = subprocess.run(
            ["git", *arguments],  # noqa: S607 - the git of the machine
            cwd=folder,
            env={**os.environ, **_NOBODY, **variables},
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
        return done.stdout.decode("utf-8")
    except (OSError, subprocess.SubprocessError) as error:
        raise InvalidInput({"folder": [f"git {arguments[0]} failed there."]}) from error
    except UnicodeDecodeError as error:
        raise InvalidInput({"folder": ["A file is not UTF-8."]}) from error
