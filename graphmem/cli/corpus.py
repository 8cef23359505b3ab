"""The commands of career corpora: how one stands, and its files in a folder and back."""

from pathlib import Path

import click

from graphmem.cli.shared import TENANT, named_wrongly, open_service, operator, with_settings
from graphmem.corpus.git_folder import checked_in, commits_of, write_files
from graphmem.corpus.importing import corpus_of, files_of
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.corpus.push_result import PushResult
from graphmem.corpus.schema import texts
from graphmem.errors import Conflict, InvalidInput
from graphmem.model.space import Space, SpaceKind, parse_writable_space
from graphmem.settings import Settings

_GIT = click.option("--git", is_flag=True, help="One commit a revision, with message and time.")
_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group()
def corpus() -> None:
    """Look at career corpora, and carry their files."""


@corpus.command("status")
@click.argument("owner")
@TENANT
@with_settings
def status(settings: Settings, owner: str, *, tenant: str) -> None:
    """Say how a corpus stands."""
    with open_service(settings) as graphmem:
        click.echo(graphmem.of(CorpusKeeper).status(_space(owner, tenant)).text)


@corpus.command("export")
@click.argument("owner")
@click.argument("folder", type=_FOLDER)
@_GIT
@TENANT
@with_settings
def export(settings: Settings, owner: str, folder: Path, *, git: bool, tenant: str) -> None:
    """Write the files of the verified revision into an empty folder; with --git all revisions."""
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput({"folder": ["Must be empty."]})
    with open_service(settings) as graphmem:
        keeper, space = graphmem.of(CorpusKeeper), _space(owner, tenant)
        head = keeper.files(space)
        folder.mkdir(parents=True, exist_ok=True)
        if not git:
            write_files(folder, head.documents)
            click.echo(f"{len(head.documents)} files of revision {head.revision}")
            return
        revisions = [keeper.commit(space, number) for number in range(1, head.revision + 1)]
        checked_in(folder, revisions)
        click.echo(f"{len(revisions)} commits")


@corpus.command("import")
@click.argument("owner")
@click.argument("folder", type=_FOLDER)
@click.option("--into", type=click.Choice(["draft", "repository"]), default="draft")
@click.option("--session", default="default", show_default=True)
@_GIT
@TENANT
@with_settings
def import_(
    settings: Settings,
    owner: str,
    folder: Path,
    *,
    into: str,
    session: str,
    git: bool,
    tenant: str,
) -> None:
    """Take the files of a folder into a draft, or as revisions exactly as they are."""
    with open_service(settings) as graphmem:
        keeper, space = graphmem.of(CorpusKeeper), _space(owner, tenant)
        caller, policy = operator(tenant), keeper.policy(space)
        if not keeper.corpora.find(space).is_there:
            keeper.bootstrap(space, "cli", (), caller=caller)
        if into == "draft" and not git:
            files = files_of(_read(folder), policy)
            found = corpus_of(files)
            words = [text for _, text in texts(found)]
            keeper.import_draft(space, session, found, files, words=words, caller=caller)
            click.echo(f"{len(files)} files are the draft {session}")
            return
        revisions = commits_of(folder) if git else [("Import", None, _read(folder))]
        for number, (message, at, found_files) in enumerate(revisions):
            files = files_of(found_files, policy)
            result = keeper.import_revision(
                space, files, message=message, at=at, is_later=number > 0, caller=caller
            )
            _check(result)
        click.echo(f"{len(revisions)} revisions, {keeper.view(space).state}")


def _check(result: PushResult) -> None:
    if not result.ok:
        raise Conflict(str(result.reason))


def _read(folder: Path) -> dict[str, str]:
    """The JSON files of a folder."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        try:
            found[path.name] = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput({f"files.{path.name}": ["Must be UTF-8."]}) from error
    if not found:
        raise InvalidInput({"folder": ["Has no JSON files."]})
    return found


def _space(owner: str, tenant: str) -> Space:
    with named_wrongly("owner"):
        space = parse_writable_space(f"{SpaceKind.CORPUS}:{owner}", tenant=tenant)
    if space.persona:
        raise InvalidInput({"owner": ["Must not have a /."]})
    return space
