"""Fallback files of a career corpus: what was kept is there, whoever writes at the same time."""

import stat
import subprocess
import sys

import pytest

from graphmem.corpus.edits import Edit, EditKind, whole
from graphmem.corpus.fallback import Fallback
from graphmem.model.corpus import CorpusDraft, Document
from graphmem.model.space import parse_space

SPACE = parse_space("corpus:ada", tenant="t")
_KEEPS = """
import sys
from pathlib import Path
from graphmem.corpus.edits import Edit, EditKind
from graphmem.corpus.fallback import Fallback
from graphmem.model.space import parse_space
space = parse_space("corpus:ada", tenant="t")
for number in range(40):
    edit = Edit(kind=EditKind.PATCH, value={"by": sys.argv[2]})
    assert Fallback(folder=Path(sys.argv[1])).keep(space, "s", edit)
"""


@pytest.fixture
def fallback(tmp_path):
    return Fallback(folder=tmp_path / "kept")


def an_edit(number=1):
    return Edit(kind=EditKind.PATCH, value={"a": number})


def test_two_processes_lose_none_of_what_either_kept(fallback):
    command = (sys.executable, "-c", _KEEPS, str(fallback.folder))
    both = [subprocess.Popen([*command, name]) for name in ("one", "two")]

    assert [0, 0] == [each.wait() for each in both]
    assert 80 == len(fallback.edits(SPACE, "s"))


def test_a_whole_draft_is_kept_with_what_it_was_made_from(fallback):
    files = {"a": Document(path="a", text="{}")}
    draft = CorpusDraft(session="s", revision=7, corpus={"a": 1}, files=files)

    fallback.keep(SPACE, "s", whole(draft))

    (edit,) = fallback.edits(SPACE, "s")
    assert (7, files, {"a": 1}) == (edit.revision, edit.files, edit.value)


def test_a_failed_push_is_noted_without_any_content_until_it_is_recorded(fallback):
    fallback.mark_failed(SPACE, "s")

    assert [(SPACE, "s")] == list(fallback.failed())
    assert fallback.has_failed(SPACE, "s")
    (path,) = fallback.folder.iterdir()
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    fallback.recorded(SPACE, "s")
    assert ([], False) == (list(fallback.failed()), fallback.has_failed(SPACE, "s"))
    assert [] == list(fallback.folder.iterdir())


def test_what_was_restored_leaves_and_what_came_since_stays(fallback):
    for number in (1, 2, 3):
        fallback.keep(SPACE, "s", an_edit(number))
    fallback.mark_failed(SPACE, "s")

    fallback.drop(SPACE, "s", 2)

    assert [{"a": 3}] == [each.value for each in fallback.edits(SPACE, "s")]
    assert fallback.has_failed(SPACE, "s")


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("x")
    blocked = Fallback(folder=tmp_path / "file" / "kept")

    assert not blocked.keep(SPACE, "s", an_edit())
    blocked.mark_failed(SPACE, "s")
    assert [] == list(blocked.failed())
