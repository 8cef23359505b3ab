"""Shows on standard error how far a download has come."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

PLAIN_LINES = 10


@contextmanager
def download_progress(title: str, total_bytes: int) -> Iterator[Callable[[int], None]]:
    """Yield what to call with each number of bytes that has arrived.

    One thread may call it at a time.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield plain_progress(title, total_bytes)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(title, total=total_bytes)
        yield lambda size: bar.advance(task, size)


def plain_progress(title: str, total_bytes: int) -> Callable[[int], None]:
    """Return a progress that writes a line at the start and at every tenth part."""
    arrived = 0
    lines = 0

    def advance(size: int) -> None:
        nonlocal arrived, lines
        arrived += size
        if arrived * PLAIN_LINES >= (lines + 1) * total_bytes:
            lines = arrived * PLAIN_LINES // total_bytes
            write()

    def write() -> None:
        sys.stderr.write(f"{title}: {arrived / 1e6:.0f} of {total_bytes / 1e6:.0f} MB\n")
        sys.stderr.flush()

    write()
    return advance
