"""The command line: ``graphmem`` and its commands."""

import os
import signal
import sys
from collections.abc import Callable
from typing import TextIO

import click
from rich.console import Console

from graphmem import __version__
from graphmem.bootstrap import Graphmem, build, embedder_of
from graphmem.cli.companion import companion
from graphmem.cli.corpus import corpus
from graphmem.cli.governance import governed, trace
from graphmem.cli.lifecycle import lifecycle
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
from graphmem.conversations.keeper import ConversationKeeper
from graphmem.database import admin_key, connect, database, disk_space
from graphmem.errors import GraphmemError, InvalidInput
from graphmem.intake.export_import import Imported, export_lines, import_lines
from graphmem.logs import set_up_logs
from graphmem.model.caller import Role, is_pattern
from graphmem.model.job import Run, RunRecord, RunStatus
from graphmem.model.space import (
    Space,
    is_tenant_name,
    parse_space,
    space_from_key,
)
from graphmem.model.writing import WriteRequest
from graphmem.recall.request import RankerName, RecallRequest
from graphmem.settings import Settings, load_settings
from graphmem.store.migrations import schema_state
from graphmem.supervisor import Supervisor
from graphmem.text.normalise import nfc
from graphmem.upkeep.reembedding import REEMBED


def main() -> None:
    """Run the command line; exit code 0 fine, 1 failed, 2 wrong usage."""
    try:
        cli(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except InvalidInput as error:
        click.echo(error.message, err=True)
        for path, texts in error.fields.items():
            click.echo(f"  {path}: {' '.join(texts)}", err=True)
        sys.exit(2)
    except GraphmemError as error:
        click.echo(error.message, err=True)
        sys.exit(1)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
@click.pass_context
def cli(context: click.Context) -> None:
    """graphmem: a memory service for AI applications on a real graph database."""
    context.obj = load_settings(os.environ)


@cli.command()
@click.pass_obj
def up(settings: Settings) -> None:
    """Run everything: Neo4j when no URI is set, the API and the jobs. Ctrl-C stops it all."""
    set_up_logs(settings.server.log)
    Supervisor(settings).run()


@cli.command()
@click.pass_obj
def serve(settings: Settings) -> None:
    """Run the API alone."""
    connect(settings).close()
    os.environ.setdefault("GRAPHMEM_LOG", settings.server.log)
    os.execv(sys.executable, [sys.executable, "-m", "api"])  # noqa: S606 - our own module


@cli.group(invoke_without_command=True)
@click.pass_context
def jobs(context: click.Context) -> None:
    """Run the jobs alone, or one of them now."""
    if context.invoked_subcommand:
        return
    connect(context.obj).close()
    os.execv(sys.executable, [sys.executable, "-m", "jobs"])  # noqa: S606 - our own module


@jobs.command("list")
@OUTPUT
@with_settings
def jobs_list(settings: Settings, output: str) -> None:
    """List the jobs and how their runs went."""
    with open_service(settings) as graphmem:
        states = graphmem.runner.states()
    print_rows(
        [
            {
                "job": state.name,
                "does": state.does,
                "schedule": state.schedule,
                "last_succeeded_at": state.last_succeeded_at,
                "failed": state.totals.get(RunStatus.FAILED, 0),
                "running": state.holder,
            }
            for state in states
        ],
        output,
    )


@jobs.command("run")
@click.argument("name")
@click.option("--dry-run", is_flag=True, help="Count the same, touch nothing.")
@click.option("--space", default=None, help="Only in this space, such as user:ada.")
@TENANT
@click.option("--repair", is_flag=True, help="Let integrity mend what it finds.")
@OUTPUT
@with_settings
def jobs_run(
    settings: Settings,
    name: str,
    *,
    dry_run: bool,
    space: str | None,
    tenant: str,
    repair: bool,
    output: str,
) -> None:
    """Run a job now and show what it did."""
    waiting = Console(stderr=True).status(f"{name} is running …")

    def show(run: Run) -> None:
        waiting.update(f"{name} is running … {counted(run.counts)}")

    # re-embedding is what one does when the embedder does not fit
    with open_service(settings, check=name != REEMBED) as graphmem, waiting:
        for number in (signal.SIGINT, signal.SIGTERM):
            # ends the batch; the next run goes on
            signal.signal(number, lambda *_: graphmem.runner.stop())
        record = graphmem.runner.run(
            name,
            dry_run=dry_run,
            space_key=_space_key(space, tenant),
            by_hand=True,
            repair=repair,
            watch=show,
        )
    print_rows([_run_row(record)], output)
    if record.status is RunStatus.FAILED:
        sys.exit(1)


def _run_row(record: RunRecord) -> dict[str, object]:
    return {
        "run": record.uid,
        "status": record.status.value,
        **record.counts,
        "examples": dict(record.examples),
        "degraded": list(record.degraded),
        "error": record.error,
    }


def _space_key(name: str | None, tenant: str) -> str:
    return _space(name, tenant).key if name is not None else ""


def _space(name: str, tenant: str) -> Space:
    with named_wrongly("space"):
        return parse_space(name, tenant=tenant)


def _stored_space(name: str, tenant: str) -> Space:
    """A space as the store may hold it, also one that an older version allowed."""
    with named_wrongly("space"):
        return space_from_key(f"{tenant}/{name}")


@cli.group()
def schema() -> None:
    """The schema of the database."""


@schema.command("apply")
@with_settings
def schema_apply(settings: Settings) -> None:
    """Bring the schema up to date; safe to repeat."""
    with database(settings) as connection:
        graphmem = build(settings, connection)
        state = graphmem.prepare(report=lambda text: click.echo(f"{text} …", err=True))
        graphmem.keys.ensure_admin(admin_key(settings))
    click.echo(
        f"The schema is at version {state.version}, the vectors are made by {state.embedder}."
    )


@schema.command("status")
@OUTPUT
@with_settings
def schema_status(settings: Settings, output: str) -> None:
    """Show the version of the schema and the embedder of the vectors."""
    with database(settings) as connection:
        state = schema_state(connection)
    row = {
        "version": state.version,
        "embedder": state.embedder,
        "dimensions": state.dimensions,
        **{f"{room} version": version for room, version in state.rooms.items()},
    }
    print_rows([row], output)


@cli.command()
@OUTPUT
@with_settings
def doctor(settings: Settings, output: str) -> None:
    """Check the settings, the embedder, the database and the schema."""
    checks: dict[str, str] = {"settings": "ok"}
    checks["embedder"] = _checked(lambda: embedder_of(settings).embed_query("doctor"))
    checks["disk"] = _checked(disk_space(settings).check)
    checks["neo4j"] = _checked(lambda: _check_database(settings, checks))
    print_rows([{"part": part, "state": state} for part, state in checks.items()], output)
    if any(state != "ok" for state in checks.values()):
        sys.exit(1)


def _checked(check: Callable[[], object]) -> str:
    try:
        check()
    except GraphmemError as error:
        return error.message
    return "ok"


def _check_database(settings: Settings, checks: dict[str, str]) -> None:
    with database(settings) as connection:
        connection.check()
        graphmem = build(settings, connection)
        checks["schema"] = _checked(graphmem.check_schema)
        checks["spaces"] = _outdated_spaces(graphmem)


def _outdated_spaces(graphmem: Graphmem) -> str:
    """The spaces whose names only older versions allowed; they can be read, not written to."""
    found = graphmem.spaces.outdated()
    names = ", ".join(space.key for space in found)
    if not found:
        return "ok"
    return (
        "Orchestrators have no personas any more, names are in NFC and without *;"
        f" `graphmem export` still reads {names}."
    )


@cli.group()
def keys() -> None:
    """API keys."""


@keys.command("create")
@click.argument("name")
@click.option("--role", type=click.Choice([role.value for role in Role]), default=Role.WRITER.value)
@click.option(
    "--space",
    "spaces",
    multiple=True,
    default=("*",),
    help="A pattern such as user:* ; may be repeated.",
)
@TENANT
@OUTPUT
@with_settings
def keys_create(
    settings: Settings, name: str, role: str, spaces: tuple[str, ...], tenant: str, output: str
) -> None:
    """Make an API key; it is shown this once."""
    wrong: dict[str, list[str]] = {}
    if not is_tenant_name(tenant):
        wrong["tenant"] = ["Must be 1 to 128 characters without blanks or / : |."]
    if unfit := [pattern for pattern in spaces if not is_pattern(pattern)]:
        wrong["space"] = [f"{pattern} is neither * nor kind:owner." for pattern in unfit]
    if wrong:
        raise InvalidInput(wrong)
    with database(settings) as connection:
        made = build(settings, connection).keys.create(
            name=name, role=Role(role), tenant=tenant, spaces=spaces
        )
    print_rows([made], output)


@keys.command("list")
@TENANT
@OUTPUT
@with_settings
def keys_list(settings: Settings, tenant: str, output: str) -> None:
    """List the keys of a tenant."""
    with database(settings) as connection:
        print_rows(build(settings, connection).keys.listing(tenant), output)


@keys.command("revoke")
@click.argument("key_id")
@TENANT
@with_settings
def keys_revoke(settings: Settings, key_id: str, tenant: str) -> None:
    """End a key."""
    with database(settings) as connection:
        build(settings, connection).keys.revoke(key_id, tenant=tenant)
    click.echo("Revoked.")


@cli.command()
@click.argument("space")
@click.argument("content")
@OUTPUT
@with_settings
def add(settings: Settings, space: str, content: str, output: str) -> None:
    """Add a memory; - reads the content from standard input."""
    text = sys.stdin.read() if content == "-" else content
    request = WriteRequest(space=space, content=text, given=frozenset({"space", "content"}))
    with open_service(settings) as graphmem:
        result = graphmem.writing.write([request], caller=operator()).results[0]
    if result.error:
        raise result.error
    uid = result.memory.uid if result.memory else None
    print_rows([{"outcome": result.outcome.value, "uid": uid}], output)


@cli.command()
@click.argument("space")
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 200), default=10, show_default=True)
@click.option("--ranker", type=click.Choice([name.value for name in RankerName]), default=None)
@OUTPUT
@with_settings
def recall(
    settings: Settings, space: str, query: str, limit: int, ranker: str | None, output: str
) -> None:
    """Recall memories of a space."""
    request = RecallRequest(
        spaces=[space], query=query, limit=limit, ranker=RankerName(ranker) if ranker else None
    )
    with open_service(settings) as graphmem:
        bundle = graphmem.recall.recall(request, caller=operator())
    print_rows(
        [
            {"score": item.score, "uid": item.memory.uid, "content": item.memory.content}
            for item in bundle.items
        ],
        output,
    )


@cli.group()
def conversations() -> None:
    """Look at what was said."""


@conversations.command("list")
@click.argument("space")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@TENANT
@OUTPUT
@with_settings
def conversations_list(
    settings: Settings, space: str, limit: int, tenant: str, output: str
) -> None:
    """List the conversations of a space, the latest first."""
    named = _stored_space(space, tenant)
    with open_service(settings) as graphmem:
        page = graphmem.of(ConversationKeeper).conversations.page(named, limit=limit)
    print_rows(
        [
            {
                "id": each.id,
                "title": each.title,
                "user": each.user,
                "turns": each.turns,
                "updated_at": each.updated_at,
                "kept_by": each.kept_by,
            }
            for each in page.items
        ],
        output,
    )


@conversations.command("show")
@click.argument("space")
@click.argument("conversation_id")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--before", default=None, help="The uid of a turn: what was said before it.")
@TENANT
@OUTPUT
@with_settings
def conversations_show(
    settings: Settings,
    space: str,
    conversation_id: str,
    limit: int,
    before: str | None,
    tenant: str,
    output: str,
) -> None:
    """Show the newest turns of a conversation, oldest first."""
    named = _stored_space(space, tenant)
    with open_service(settings) as graphmem:
        keeper = graphmem.of(ConversationKeeper)
        found, _ = keeper.turns(named, nfc(conversation_id), before=before, limit=limit)
    print_rows(
        [
            {
                "at": turn.at,
                "role": turn.role.value,
                "actor": turn.actor,
                "content": turn.content,
                "uid": turn.uid,
                "memories": turn.memories,
            }
            for turn in found.turns
        ],
        output,
    )


@cli.command("export")
@click.argument("space")
@TENANT
@click.option(
    "-f",
    "--file",
    type=click.File("w", encoding="utf-8"),
    default="-",
    help="Where to; - is the output.",
)
@with_settings
def export_space(settings: Settings, space: str, tenant: str, file: TextIO) -> None:
    """Write all that a space holds as JSON lines."""
    named = _stored_space(space, tenant)
    with open_service(settings) as graphmem:
        file.writelines(export_lines(graphmem.transfers, named))


@cli.command("import")
@click.argument("space")
# a mark of the byte order in front is skipped; a byte that is no UTF-8 becomes a character that no
# memory may have, and its line is named
@click.argument("file", type=click.File("r", encoding="utf-8-sig", errors="surrogateescape"))
@TENANT
@OUTPUT
@with_settings
def import_space(settings: Settings, space: str, file: TextIO, tenant: str, output: str) -> None:
    """Write JSON lines, as export gives them, into a space; - reads standard input.

    A repetition changes nothing.
    """
    named = _space(space, tenant)
    caller = operator(tenant)
    done = Imported()
    with open_service(settings) as graphmem, Console(stderr=True).status("importing …") as waiting:
        for done in import_lines(graphmem.transfers, file, named, caller=caller):
            waiting.update(f"importing … {counted(done.counts)}")
    for problem in done.problems:
        click.echo(problem, err=True)
    print_rows([dict(done.counts)], output)
    if done.problems:
        sys.exit(1)


@cli.command()
@click.pass_obj
def demo(settings: Settings) -> None:
    """Add a conversation of two people and ask eight questions."""
    from graphmem.demo import run_demo  # noqa: PLC0415 - only here

    set_up_logs("error")
    run_demo(settings, Console())


for command in (companion, corpus, governed, lifecycle, trace):
    cli.add_command(command)
