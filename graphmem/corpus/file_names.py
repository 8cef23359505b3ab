"""File names: where the files of a repository may lie in a folder (000, Files). Pure."""

from collections.abc import Collection, Iterable, Mapping
from itertools import accumulate

from graphmem.errors import InvalidInput

_PART_BYTES_MAX = 255  # what file systems take
_SHORT_GIT = "git~"  # what some file systems call .git too


def is_unsafe(path: str) -> bool:
    """Whether a file of that name could lie outside its folder, or tell a tool what to do there.

    Files with a dot in front do, such as those of ``.git``.
    """
    is_plain = path.isprintable() and "\\" not in path and ".." not in path
    return not is_plain or path.startswith("~") or any(map(_is_unsafe_part, path.split("/")))


def _is_unsafe_part(part: str) -> bool:
    is_hidden = not part or part.startswith(".") or part.casefold().startswith(_SHORT_GIT)
    return is_hidden or len(part.encode()) > _PART_BYTES_MAX


def path_problems(paths: Collection[str]) -> Mapping[str, str]:
    """What is wrong with the names of files that are to lie in one folder, by their paths."""
    folders = {folder for path in paths for folder in _folders(path)}
    unsafe = {
        path: "A file of that name could lie outside its folder."
        for path in paths
        if is_unsafe(path)
    }
    both = dict.fromkeys(folders.intersection(paths), "Is the folder of another file.")
    return {**both, **unsafe}


def _folders(path: str) -> Iterable[str]:
    *folders, _ = path.split("/")
    return accumulate(folders, lambda outer, inner: f"{outer}/{inner}")


def check_paths(paths: Collection[str], field: str = "files") -> None:
    """Refuse names of files that cannot lie in one folder.

    Raises:
        InvalidInput: there are some.
    """
    if problems := path_problems(paths):
        raise InvalidInput({f"{field}.{path}": [message] for path, message in problems.items()})
