"""Files of a career corpus in folders and git repositories: nothing lies outside, nothing runs."""

import os
import subprocess
from datetime import UTC, datetime

import pytest
from corpora import NOW, a_corpus, a_file, documents

from graphmem.corpus.folder import FILES_MAX, read_files, taken, write_files
from graphmem.corpus.git_folder import checked_in, commits_of
from graphmem.corpus.packing import zipped
from graphmem.errors import InvalidInput
from graphmem.model.corpus import Commit, StoredCommit

README = a_file("docs/notes/README.md", "Grüße \U0001f600\r\n\r\n")
BYTES = 10_000


def a_revision(files, message="Import", at=NOW):
    commit = Commit(revision=1, message=message, at=at, key_id="k", tree={})
    return StoredCommit(sha="0", commit=commit, documents=files)


def git(folder, *arguments, **more):
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *who, *arguments],  # noqa: S607
        cwd=folder,
        check=True,
        capture_output=True,
        **more,
    ).stdout


def refused(call, *arguments, **more):
    with pytest.raises(InvalidInput) as refusal:
        call(*arguments, **more)
    return list(refusal.value.fields)


# --- folders


@pytest.mark.parametrize("path", ["../x", ".git/config", "a/../../x", "/tmp/x"])  # noqa: S108
def test_no_file_is_written_outside_its_folder_or_where_tools_look_for_orders(tmp_path, path):
    files = {path: a_file(path, "x")}
    folder = tmp_path / "out"
    folder.mkdir()

    for call in (write_files, lambda _, given: zipped(given)):
        assert [f"files.{path}"] == refused(call, folder, files)
    assert [f"files.{path}"] == refused(checked_in, folder, [a_revision(files)])
    assert [] == list(folder.iterdir())


def test_no_file_is_written_through_a_link(tmp_path):
    folder, other = tmp_path / "out", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (folder / "docs").symlink_to(other)

    assert ["files.docs/notes/README.md"] == refused(write_files, folder, {README.path: README})
    assert [] == list(other.iterdir())


def test_a_folder_gives_its_texts_and_names_what_it_keeps(tmp_path):
    write_files(tmp_path, {**documents(), README.path: README})
    (tmp_path / "photo.png").write_bytes(b"\xff\xfe")
    (tmp_path / "nul.txt").write_bytes(b"a\x00b")
    (tmp_path / "long.txt").write_bytes(b"x" * (BYTES + 1))
    (tmp_path / "link.json").symlink_to(tmp_path / "corpus_index.json")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("x")

    found = read_files(tmp_path, most_bytes=BYTES)

    assert {path: each.text for path, each in documents().items()} | {
        README.path: README.text
    } == found.texts
    assert {"photo.png", "nul.txt", "long.txt", "link.json"} == set(found.left_out)


def test_a_document_of_a_corpus_that_is_no_text_is_refused_and_not_left_out(tmp_path):
    (tmp_path / "corpus_skills.json").write_bytes(b"\xff")

    assert ["files.corpus_skills.json"] == refused(read_files, tmp_path, most_bytes=BYTES)


def test_an_empty_folder_and_one_of_too_many_files_are_refused(tmp_path):
    assert ["folder"] == refused(read_files, tmp_path, most_bytes=BYTES)
    assert ["folder"] == refused(taken, {f"f{number}": b"" for number in range(FILES_MAX + 1)})


# --- git


@pytest.mark.parametrize(
    "message", ["A promotion", "", "  lead\n\n\nand trail \n\n", "a\x1eb", "# no comment"]
)
def test_commits_are_the_same_files_messages_and_times_byte_by_byte(tmp_path, message):
    files = {**documents(), README.path: README, 'a "b" c': a_file('a "b" c', "x")}
    later = {**documents(a_corpus(projects=[])), "é": a_file("é", "")}
    other = datetime(2020, 2, 29, 1, 2, 3, tzinfo=UTC)

    checked_in(tmp_path, [a_revision(files, message), a_revision(later, "2", at=other)])

    one, two = commits_of(tmp_path, most_bytes=BYTES)
    assert (message, NOW, ()) == (one.message, one.at, one.left_out)
    assert ("2", other) == (two.message, two.at)
    assert {path: each.text for path, each in files.items()} == one.files
    assert {path: each.text for path, each in later.items()} == two.files
    assert b"" == git(tmp_path, "status", "--porcelain")
    assert set(later) == {
        str(path.relative_to(tmp_path)) for path in tmp_path.iterdir() if path.name != ".git"
    }


def test_a_foreign_repository_becomes_the_same_tree_but_for_what_is_named(tmp_path):
    foreign, again = tmp_path / "foreign", tmp_path / "again"
    foreign.mkdir()
    again.mkdir()
    git(foreign, "init", "-q", "-b", "trunk")
    write_files(foreign, {**documents(), README.path: README})
    git(foreign, "add", "-A")
    git(foreign, "commit", "-q", "--cleanup=verbatim", "-F", "-", input=b"\nFirst\n\n- a\n\n")
    tree = git(foreign, "rev-parse", "HEAD^{tree}")
    body = git(foreign, "cat-file", "commit", "HEAD").partition(b"\n\n")[2]
    (foreign / ".gitignore").write_text("*.json\n")
    (foreign / "photo.png").write_bytes(b"\xff")
    (foreign / "link").symlink_to("/etc/passwd")
    git(foreign, "add", "-f", ".gitignore", "photo.png", "link")
    git(foreign, "commit", "-q", "-m", "Second")

    first, second = commits_of(foreign, most_bytes=BYTES)
    given = {path: a_file(path, text) for path, text in first.files.items()}
    checked_in(again, [a_revision(given, first.message, first.at)])

    assert tree == git(again, "rev-parse", "HEAD^{tree}")
    assert body == git(again, "cat-file", "commit", "HEAD").partition(b"\n\n")[2]
    assert ((), {".gitignore", "photo.png", "link"}) == (first.left_out, set(second.left_out))
    assert first.files == second.files


def test_nothing_that_a_repository_says_is_run(tmp_path):
    foreign, mark = tmp_path / "foreign", tmp_path / "mark"
    foreign.mkdir()
    git(foreign, "init", "-q")
    write_files(foreign, documents())
    git(foreign, "add", "-A")
    git(foreign, "commit", "-q", "-m", "1")
    for name in ("core.fsmonitor", "core.pager", "gpg.program", "core.sshCommand"):
        git(foreign, "config", name, f"touch {mark}; false")
    git(foreign, "config", "log.showSignature", "true")
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        path = foreign / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {mark}\n")
        path.chmod(0o755)

    assert 1 == len(commits_of(foreign, most_bytes=BYTES))
    assert not mark.exists()


def test_what_a_repository_lacks_is_fetched_from_nowhere(tmp_path):
    foreign, mark = tmp_path / "foreign", tmp_path / "mark"
    foreign.mkdir()
    git(foreign, "init", "-q")
    write_files(foreign, documents())
    git(foreign, "add", "-A")
    git(foreign, "commit", "-q", "-m", "1")
    blob = git(foreign, "rev-parse", "HEAD:corpus_skills.json").decode().strip()
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", f"ext::sh -c touch% {mark}"),
        ("remote.origin.promisor", "true"),
        ("protocol.ext.allow", "always"),
    ):
        git(foreign, "config", name, value)
    (foreign / ".git" / "objects" / blob[:2] / blob[2:]).unlink()

    with pytest.raises(InvalidInput):
        commits_of(foreign, most_bytes=BYTES)
    assert not mark.exists()


def test_trees_that_hold_each_other_are_not_listed_to_their_end(tmp_path):
    git(tmp_path, "init", "-q")
    blob = git(tmp_path, "hash-object", "-w", "--stdin", input=b"{}").decode().strip()
    kind, below = "blob", blob
    for _ in range(8):
        mode = "100644" if kind == "blob" else "040000"
        lines = "".join(f"{mode} {kind} {below}\tf{n}\n" for n in range(10))
        kind, below = "tree", git(tmp_path, "mktree", input=lines.encode()).decode().strip()
    commit = git(tmp_path, "commit-tree", below, "-m", "1").decode().strip()
    git(tmp_path, "update-ref", "HEAD", commit)

    with pytest.raises(InvalidInput) as error:
        commits_of(tmp_path, most_bytes=BYTES)
    assert {"folder": ["A commit has more than 5,000 files."]} == error.value.fields


@pytest.mark.parametrize(
    ("line", "said", "message"),
    [
        (b"committer A <a@b> 99999999999999 +0000", b"1", "A commit has a time that cannot be."),
        (
            b"committer A <a@b> 1 +0000\nencoding idna",
            b"\xff." * 40,
            "A message cannot be read as text.",
        ),
    ],
)
def test_a_commit_that_cannot_be_is_named(tmp_path, line, said, message):
    git(tmp_path, "init", "-q")
    tree = git(tmp_path, "mktree", input=b"").strip()
    told = b"tree %b\nauthor A <a@b> 1 +0000\n%b\n\n%b\n" % (tree, line, said)
    made = git(tmp_path, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", input=told)
    git(tmp_path, "update-ref", "HEAD", made.decode().strip())

    with pytest.raises(InvalidInput) as error:
        commits_of(tmp_path, most_bytes=BYTES)
    assert {"folder": [message]} == error.value.fields


def test_a_repository_that_lies_elsewhere_is_refused(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    git(outside, "init", "-q")
    (inside / ".git").write_text(f"gitdir: {outside / '.git'}\n")

    with pytest.raises(InvalidInput):
        commits_of(inside, most_bytes=BYTES)


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"])
def test_a_repository_that_the_environment_names_is_left_alone(tmp_path, monkeypatch, name):
    mine, out = tmp_path / "mine", tmp_path / "out"
    mine.mkdir()
    out.mkdir()
    git(mine, "init", "-q")
    (mine / "kept").write_text("x")
    git(mine, "add", "kept")
    places = {"GIT_DIR": ".git", "GIT_WORK_TREE": ".", "GIT_INDEX_FILE": ".git/index"}
    monkeypatch.setenv(name, os.path.normpath(mine / places[name]))

    checked_in(out, [a_revision(documents())])

    monkeypatch.delenv(name)
    assert b"kept\n" == git(mine, "ls-files")
    assert "x" == (mine / "kept").read_text()
    assert 1 == len(commits_of(out, most_bytes=BYTES))


def test_a_folder_inside_a_repository_is_none_itself(tmp_path):
    git(tmp_path, "init", "-q")
    inner = tmp_path / "inner"
    inner.mkdir()
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "1")

    assert ["folder"] == refused(commits_of, inner, most_bytes=BYTES)
