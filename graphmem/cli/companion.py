"""The commands of the companion: speak with a persona, and see what it is told."""

import sys
from collections.abc import Iterator
from dataclasses import asdict

import click

from graphmem.cli.shared import (
    OUTPUT,
    TENANT,
    named_wrongly,
    open_service,
    operator,
    print_rows,
    with_settings,
)
from graphmem.companion.context import ContextAnswer
from graphmem.companion.keeper import CompanionKeeper
from graphmem.companion.messages import Said
from graphmem.companion.personas import SLUG_FORM, is_slug
from graphmem.errors import InvalidInput
from graphmem.gateway.validation import NOT_STORABLE
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.space import Space, parse_writable_space
from graphmem.settings import Settings
from graphmem.text.normalise import is_storable


@click.group()
def companion() -> None:
    """Speak with a persona, and see what it is told."""


@companion.command("say")
@click.argument("user")
@click.argument("persona")
@click.argument("text")
@click.option("--message-id", default=None, help="Else a new one; the same again counts nothing.")
@click.option(
    "--role",
    type=click.Choice([TurnRole.USER.value, TurnRole.ASSISTANT.value]),
    default=TurnRole.USER.value,
    show_default=True,
    help="Who says it.",
)
@TENANT
@OUTPUT
@with_settings
def companion_say(
    settings: Settings,
    user: str,
    persona: str,
    text: str,
    message_id: str | None,
    role: str,
    tenant: str,
    output: str,
) -> None:
    """Say something to a persona and show what it left; - reads it from standard input."""
    space = _persona_space(user, persona, tenant)
    content = sys.stdin.read() if text == "-" else text
    with open_service(settings) as graphmem:
        saying = Saying(
            uid="",
            role=TurnRole(role),
            content=content,
            message_id=message_id or graphmem.ids.new("message"),
        )
        messages = graphmem.of(CompanionKeeper).messages
        said = messages.say(space, saying, caller=operator(tenant), judges_now=True)
    print_rows(list(_said_rows(said)), output)


def _said_rows(said: Said) -> Iterator[dict[str, object]]:
    """A message, what it left, and what it led to."""
    verdict, followed = said.verdict, said.followed
    made = "created" if said.is_new else "unchanged"
    yield _row("message", said.turn.uid, made, said.turn.content)
    for what, kept in (("memory", verdict.facts), ("todo", verdict.todos)):
        for each in kept:
            if each.memory:
                yield _row(what, each.memory.uid, each.outcome.value, each.memory.content)
    for drop in verdict.dropped:
        yield _row(drop.what, None, f"dropped: {drop.reason}", None)
    for outcome in ("completed", "promoted", "skipped"):
        for uid in getattr(verdict, outcome):
            yield _row("todo", uid, outcome, None)
    if followed.rolling:
        yield _row("rolling summary", None, "created", said.state.rolling_summary)
    if followed.spine_version:
        yield _row("long summary", None, f"version {followed.spine_version}", None)
    for problem in (*verdict.degraded, *followed.degraded):
        yield _row("degraded", None, problem, None)


def _row(what: str, uid: str | None, outcome: str, content: str | None) -> dict[str, object]:
    return {"what": what, "uid": uid, "outcome": outcome, "content": content}


@companion.command("context")
@click.argument("user")
@click.argument("persona")
@click.option("--query", default=None, help="The message to be answered; else the user's last.")
@click.option("--budget", type=click.IntRange(1, 200_000), default=None, help="Tokens.")
@TENANT
@OUTPUT
@with_settings
def companion_context(
    settings: Settings,
    user: str,
    persona: str,
    query: str | None,
    budget: int | None,
    tenant: str,
    output: str,
) -> None:
    """Show what a persona is to be told before it answers."""
    space = _persona_space(user, persona, tenant)
    if query is not None and not is_storable(query):
        raise InvalidInput({"query": [NOT_STORABLE]})
    with open_service(settings) as graphmem:
        contexts = graphmem.of(CompanionKeeper).contexts
        answer = contexts.build(
            space.readable_with_it(), query=query, budget=budget, caller=operator(tenant)
        )
    if output == "json":
        print_rows([_context_row(answer)], output)
        return
    click.echo(answer.context.text)
    for problem in (*answer.degraded, *answer.context.warnings):
        click.echo(problem, err=True)


def _context_row(answer: ContextAnswer) -> dict[str, object]:
    return asdict(answer.context) | {
        "degraded": answer.degraded,
        "trace_id": answer.trace_id,
    }


def _persona_space(user: str, persona: str, tenant: str) -> Space:
    if not is_slug(persona):
        raise InvalidInput({"persona": [SLUG_FORM]})
    with named_wrongly("user"):
        return parse_writable_space(f"user:{user}/{persona}", tenant=tenant)
