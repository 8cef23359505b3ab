"""What every room brings has its place in the docs."""

from pathlib import Path

import pytest

from graphmem.bootstrap import ROOMS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["http-api.md", "policy.md", "glossary.md"]


def page(name):
    return (DOCS / name).read_text("utf-8")


@pytest.fixture(scope="module")
def rooms(house_of_module):
    found = house_of_module.graphmem.rooms
    assert len(ROOMS) == len(found)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_every_room_has_a_line_in_the_docs(rooms, name):
    text = page(name)
    assert [] == [room.name for room in rooms if f"\n| {room.name} | " not in text]


def test_every_job_of_a_room_is_documented_with_its_time(rooms):
    lines = page("operations.md").splitlines()
    for job in (job for room in rooms for job in room.jobs):
        when = job.schedule.text.partition(",")[0]
        assert any(line.startswith(f"| {job.name} | {when}") for line in lines), job.name


def test_every_kind_of_line_of_an_export_is_documented(rooms):
    kinds = [transfer.kind for room in rooms for transfer in room.transfers]
    assert [] == [kind for kind in kinds if f'{{"{kind}": ' not in page("operations.md")]
