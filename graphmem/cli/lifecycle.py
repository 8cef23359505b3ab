"""The commands of the lifecycle: a space as a folder of Markdown files, and back."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from graphmem.cli.shared import (
    OUTPUT,
    TENANT,
    counted,
    named_wrongly,
    open_service,
    operator,
    print_rows,
    with_settings,
)
from graphmem.errors import InvalidInput
from graphmem.intake.export_import import Imported
from graphmem.lifecycle.files.folder_export import Report
from graphmem.lifecycle.files.moving import export_folder, import_folder
from graphmem.model.space import parse_space, parse_writable_space
from graphmem.settings import Settings

_FOLDER = click.argument("folder", type=click.Path(path_type=Path))


@click.group()
def lifecycle() -> None:
    """Move a space to and from a folder of Markdown files."""


@lifecycle.command("export")
@click.argument("space")
@_FOLDER
@TENANT
@OUTPUT
@with_settings
def lifecycle_export(
    settings: Settings, space: str, folder: Path, tenant: str, output: str
) -> None:
    """Write a space into a folder; what an earlier export left there is brought up to date."""
    with named_wrongly("space"):
        named = parse_space(space, tenant=tenant)
    with open_service(settings) as graphmem, _shown("exporting") as waiting, _readable():
        counts = export_folder(graphmem, graphmem.transfers, named, folder, report=waiting)
    print_rows([dict(counts)], output)


@lifecycle.command("import")
@click.argument("space")
@_FOLDER
@TENANT
@OUTPUT
@with_settings
def lifecycle_import(
    settings: Settings, space: str, folder: Path, tenant: str, output: str
) -> None:
    """Take in what a folder holds and the space does not; what cannot be read is named."""
    with named_wrongly("space"):
        named = parse_writable_space(space, tenant=tenant)
    caller, done = operator(tenant), Imported()
    with open_service(settings) as graphmem, _shown("importing") as waiting, _readable():
        for done in import_folder(graphmem, graphmem.transfers, named, folder, caller=caller):
            waiting(done.counts)
    for problem in done.problems:
        click.echo(problem, err=True)
    print_rows([dict(done.counts)], output)
    if done.problems:
        sys.exit(1)


@contextmanager
def _shown(doing: str) -> Iterator[Report]:
    """Shows how far a command is."""
    with Console(stderr=True).status(f"{doing} …") as status:
        yield lambda counts: status.update(f"{doing} … {counted(counts)}")


@contextmanager
def _readable() -> Iterator[None]:
    """Let what the file system refuses be an error of the folder."""
    try:
        yield
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise InvalidInput({"folder": [f"{place}{error.strerror}."]}) from error
