"""A data folder on a disk that fills up: a small tmpfs, where this user may mount one."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import eventually

MIB = 1024 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 600 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600m,mode=0700", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    yield folder
    umount = ["umount", "-l", str(folder)]
    subprocess.run(umount, check=True)


def free(folder: Path) -> int:
    """The free bytes of the file system of a folder."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def fill(folder: Path, *, up_to: int) -> Path:
    """Leave so many bytes free; the file that takes the rest."""
    filler = folder / "filler"
    with filler.open("wb") as file:
        while (left := free(folder) - up_to) > 0:
            file.write(b"x" * min(left, MIB))
            file.flush()
    return filler


def add(service, number: int) -> int:
    """Write a memory; the status of the answer."""
    body = {"space": "user:ada", "content": f"Ada has {number} teapots." + " Tea." * 2_000}
    return service.call("POST", "/v1/memories", body)[0]


def recalled(service) -> int:
    """How many memories a recall finds."""
    body = {"spaces": ["user:ada"], "query": "teapots", "limit": 200}
    status, answer = service.call("POST", "/v1/recall", body)
    assert 200 == status
    return len(answer["items"])


def test_on_a_disk_that_is_nearly_full_recalls_go_on_and_writes_come_back(small_disk, service_in):
    with service_in(small_disk, GRAPHMEM_EMBEDDER="hash") as service:
        assert 201 == add(service, 1)
        filler = fill(small_disk, up_to=200 * MIB)
        assert eventually(lambda: 503 == add(service, 2))

        status, refused = service.call(
            "POST", "/v1/memories", {"space": "user:ada", "content": "x"}
        )
        _, ready = service.call("GET", "/health/ready")

        assert (503, "disk_low") == (status, refused["error"]["code"])
        assert 1 == recalled(service)
        assert "nearly full" in ready["checks"]["disk"]
        assert ("ok", True) == (ready["status"], ready["disk_free_mib"] <= 200)
        filler.unlink()
        assert eventually(lambda: 201 == add(service, 2))
        assert 2 == recalled(service)


def test_a_database_that_panicked_is_restarted_when_there_is_room(small_disk, service_in):
    settings = {"GRAPHMEM_EMBEDDER": "hash", "GRAPHMEM__SERVER__DISK_LOW_MIB": "0"}
    with service_in(small_disk, **settings) as service:
        filler = fill(small_disk, up_to=4 * MIB)
        acknowledged = 0
        while 201 == add(service, acknowledged) and acknowledged < 1_000:
            acknowledged += 1
        assert 0 < acknowledged < 1_000

        filler.unlink()

        assert eventually(lambda: 201 == add(service, 1_000), seconds=60)
        _, listed = service.call("GET", "/v1/memories?space=user:ada&limit=1")
        assert acknowledged + 1 <= listed["total"]
