"""An earlier revision is kept as what differs from the next one, and read whole again (000)."""

from datetime import UTC, datetime
from itertools import pairwise

from corpora import SOME, a_corpus, an_experience, documents
from hypothesis import given
from hypothesis import strategies as st

from graphmem.corpus.documents import tree_of
from graphmem.model.corpus import Commit, Document, StoredCommit
from graphmem.store.corpus_deltas import (
    WHOLE_EVERY,
    delta_of,
    documents_of_chain,
    pack,
    tree_of_chain,
    unpack,
)

NOW = datetime(2026, 3, 1, 9, 5, tzinfo=UTC)
TEXTS = st.text(max_size=200)
FOLDERS = st.dictionaries(st.sampled_from("abcdef"), TEXTS)


def a_commit(revision, texts):
    held = {path: Document(path=path, text=text) for path, text in texts.items()}
    commit = Commit(revision=revision, message="m", at=NOW, key_id="k", tree=tree_of(held))
    parent = f"sha{revision - 1}"
    return StoredCommit(sha=f"sha{revision}", commit=commit, parent=parent, documents=held)


def whole_row(stored):
    rows = [[path, document.text, None] for path, document in stored.documents.items()]
    return {"tree": json_of(stored.commit.tree), "delta": None, "documents": rows}


def json_of(tree):
    return "{" + ",".join(f'"{path}":"{sha}"' for path, sha in tree.items()) + "}"


def delta_row(stored, after):
    """A commit as the store has it once there is a later one."""
    delta = delta_of(stored, after)
    rows = [
        [path, None if packed else document.text, packed]
        for path, document in stored.documents.items()
        if path in delta.paths
        for packed in [delta.packed.get(document.sha256)]
    ]
    return {"tree": None, "delta": delta.delta, "documents": rows}


@given(st.lists(FOLDERS, min_size=2, max_size=6))
def test_every_revision_is_read_as_it_was(folders):
    commits = [a_commit(number, texts) for number, texts in enumerate(folders, start=1)]
    rows = [delta_row(one, other) for one, other in pairwise(commits)]
    rows.append(whole_row(commits[-1]))

    for number, stored in enumerate(commits):
        chain = rows[number:][::-1]
        assert stored.commit.tree == tree_of_chain(chain)
        assert stored.documents == documents_of_chain(chain)


@given(TEXTS, st.dictionaries(SOME, SOME))
def test_a_document_is_unpacked_as_it_was(text, tree):
    packed = pack(text * 9, tree)

    assert packed is None or text * 9 == unpack(packed, tree)


def test_a_revision_stays_whole_now_and_then_and_where_the_next_is_not_behind_it():
    before, after = a_commit(WHOLE_EVERY, {"a": "1"}), a_commit(WHOLE_EVERY + 1, {"a": "2"})

    assert delta_of(before, after) is None
    assert delta_of(None, after) is None
    assert delta_of(a_commit(3, {}), a_commit(5, {})) is None


def test_what_was_damaged_when_the_next_came_is_not_packed():
    before, after = a_commit(1, {"a": "1" * 99, "b": "2" * 99}), a_commit(2, {})
    before.documents["a"] = Document(path="a", text="x" * 99)

    delta = delta_of(before, after)

    assert [before.documents["b"].sha256] == list(delta.packed)


def test_what_cannot_be_unpacked_is_missing():
    before, after = a_commit(1, {"a": "1" * 99}), a_commit(2, {"a": "2"})
    row = delta_row(before, after)
    row["documents"][0][2] = b"\xff\xff"

    assert {} == documents_of_chain([whole_row(after), row])


def test_a_manifest_takes_a_tenth_once_there_is_a_later_one():
    items = [an_experience(f"exp_{number}", title=f"T{number}") for number in range(60)]
    held = documents(a_corpus(experience=items))
    text = held["corpus_index.json"].text

    packed = pack(text, tree_of(held))

    assert text == unpack(packed, tree_of(held))
    assert len(packed) < len(text) / 10
