"""How much memory a server gets that had too little to open its database."""

import pytest

from graphmem.adapters.embedded.memory import LogTails, larger_heap

GIB = 1 << 30


@pytest.mark.parametrize(
    ("heap", "machine", "expected"),
    [
        ("384m", 24 * GIB, "1536m"),
        ("100m", 24 * GIB, "1024m"),
        ("4g", 24 * GIB, "12288m"),
        ("384M", 1 * GIB, "512m"),
        ("512m", 1 * GIB, None),
        ("1g", 1 * GIB, None),
        ("much", 1 * GIB, None),
    ],
)
def test_the_heap_grows_as_far_as_the_machine_allows(heap, machine, expected):
    assert expected == larger_heap(heap, machine)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", True),
        ("MemoryLimitExceededException", True),
        ("Recovery completed", False),
    ],
)
def test_only_what_was_said_since_then_counts(tmp_path, line, expected):
    log = tmp_path / "debug.log"
    log.write_text("java.lang.OutOfMemoryError\n")
    tails = LogTails.of(tmp_path)
    assert not tails.tell_of_little_memory()

    with log.open("a") as file:
        file.write(line + "\n")

    assert expected == tails.tell_of_little_memory()


def test_a_log_that_is_new_or_was_put_away_counts_whole(tmp_path):
    (tmp_path / "old.log").write_text("x" * 1000)
    tails = LogTails.of(tmp_path)
    (tmp_path / "old.log").write_text("OutOfMemoryError")
    assert tails.tell_of_little_memory()
