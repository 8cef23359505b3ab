"""Plain tables."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table


def show_table(
    console: Console,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str = "",
) -> None:
    """Print a table; every column but the first holds numbers."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", no_wrap=index == 0)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    if caption:
        console.print(caption, style="dim", soft_wrap=True)
    console.print()
