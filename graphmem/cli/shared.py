"""What the commands share: their options, their settings, the service they open, and tables."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import wraps
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from graphmem.bootstrap import Graphmem, build
from graphmem.database import database
from graphmem.errors import InvalidInput
from graphmem.logs import set_up_logs
from graphmem.model.caller import Caller, Role
from graphmem.model.space import FIRST_TENANT
from graphmem.settings import Settings

OUTPUT = click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), default="table", help="How to print."
)
TENANT = click.option("--tenant", default=FIRST_TENANT, show_default=True, help="Whose it is.")


Command = Callable[..., None]


def with_settings(command: Command) -> Command:
    """Give a command the settings, and logs that do not disturb what it prints."""

    @click.pass_obj
    @wraps(command)
    def run(settings: Settings, /, *args: Any, **options: Any) -> None:  # noqa: ANN401 - click's values
        set_up_logs("warning" if settings.server.log == "info" else settings.server.log)
        command(settings, *args, **options)

    return run


@contextmanager
def named_wrongly(field: str) -> Iterator[None]:
    """Let what is said of a wrong name be an error of its field."""
    try:
        yield
    except ValueError as error:
        raise InvalidInput({field: [str(error)]}) from error


@contextmanager
def open_service(settings: Settings, *, check: bool = True) -> Iterator[Graphmem]:
    """The service for one command, closed before the database goes.

    Raises:
        SchemaMismatch: the schema or the embedder of the database does not fit.
    """
    with database(settings) as connection, closing(build(settings, connection)) as graphmem:
        if check:
            graphmem.check_schema()
        yield graphmem


def operator(tenant: str = FIRST_TENANT) -> Caller:
    """Whoever runs the command line may do everything in a tenant."""
    return Caller(key_id="cli", tenant=tenant, role=Role.ADMIN, spaces=("*",))


def counted(counts: Mapping[str, int]) -> str:
    """Counts on one line."""
    return ", ".join(f"{what} {number:,}" for what, number in counts.items())


def print_rows(rows: Sequence[Mapping[str, object]], output: str) -> None:
    """Print rows as a table, or as JSON."""
    if output == "json":
        click.echo(json.dumps(list(rows), default=str, ensure_ascii=False, indent=2))
        return
    table = Table()
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(_cell(row.get(name)) for name in names))
    Console().print(table)


def _cell(value: object) -> str:
    if isinstance(value, list | tuple):
        return escape(", ".join(map(str, value)))
    return "" if value is None else escape(str(value))
