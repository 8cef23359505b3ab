"""The commands of career corpora: how one stands, and its files in a folder and back."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from graphmem.cli.shared import TENANT, named_wrongly, open_service, operator, with_settings
from graphmem.corpus.assembly import foreign_files
from graphmem.corpus.folder import read_files, write_files
from graphmem.corpus.git_folder import checked_in, commits_of
from graphmem.corpus.importing import GivenRevision, corpus_of, files_of
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.errors import Conflict, InvalidInput
from graphmem.model.policy.corpus import CorpusPolicy
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
            files = files_of(_read(folder, policy), policy)
            keeper.import_draft(space, session, corpus_of(files), files, caller=caller)
            _tell_left_out(foreign_files(files))
            click.echo(f"{len(files)} files are the draft {session}")
            return
        revisions = (
            list(_commits(folder, policy))
            if git
            else [GivenRevision(files=files_of(_read(folder, policy), policy))]
        )
        result = keeper.import_history(space, revisions, caller=caller)
        if not result.ok:
            raise Conflict(str(result.reason))
        click.echo(f"{len(revisions)} revisions, {keeper.view(space).state}")


def _commits(folder: Path, policy: CorpusPolicy) -> Iterator[GivenRevision]:
    """The commits of a git folder as revisions."""
    for commit in commits_of(folder, most_bytes=policy.document_bytes):
        _tell_left_out(commit.left_out)
        files = files_of(commit.files, policy)
        yield GivenRevision(files=files, message=commit.message, at=commit.at)


def _read(folder: Path, policy: CorpusPolicy) -> Mapping[str, str]:
    found = read_files(folder, most_bytes=policy.document_bytes)
    _tell_left_out(found.left_out)
    return found.texts


def _tell_left_out(paths: Sequence[str]) -> None:
    """Name the files that are not taken along."""
    for path in paths:
        click.echo(f"left out: {path!r}", err=True)


def _space(owner: str, tenant: str) -> Space:
    with named_wrongly("owner"):
        space = parse_writable_space(f"{SpaceKind.CORPUS}:{owner}", tenant=tenant)
    if space.persona:
        raise InvalidInput({"owner": ["Must not have a /."]})
    return space
