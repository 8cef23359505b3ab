import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.adapters.drop_folder import free_path


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        ([], "a.md"),
        (["b.md"], "a.md"),
        (["a.md"], "a.md.1"),
        (["a.md.processed.json"], "a.md.1"),
        (["a.md", "a.md.1", "a.md.2.processed.json"], "a.md.3"),
    ],
)
def test_the_first_free_name_is_numbered_behind_those_that_are_taken(tmp_path, taken, expected):
    for name in taken:
        (tmp_path / name).touch()

    assert tmp_path / expected == free_path(tmp_path / "a.md", with_ending=".processed.json")


def test_a_name_that_is_taken_ten_thousand_times_costs_few_looks(tmp_path, monkeypatch):
    taken = {f"{tmp_path}/a.md", *(f"{tmp_path}/a.md.{number}" for number in range(1, 10_000))}
    looked = []
    monkeypatch.setattr(os.path, "lexists", lambda path: looked.append(path) or path in taken)

    assert tmp_path / "a.md.10000" == free_path(tmp_path / "a.md", with_ending=".rejection.json")
    assert len(looked) < 100


@given(st.sets(st.integers(0, 40)))
def test_what_is_found_is_free_whichever_are_taken(taken):
    names = {f"/x/a.{number}" if number else "/x/a" for number in taken}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os.path, "lexists", lambda path: str(path) in names)

        assert str(free_path(Path("/x/a"), with_ending="")) not in names
