"""The commands of governed memory: replay calls under a contract, and see why things were done."""

import json
import sys
from dataclasses import replace
from typing import TextIO

import click
from uuid6 import uuid7

from graphmem.cli.shared import TENANT, open_service, operator, with_settings
from graphmem.errors import NotFound
from graphmem.governance.keeper import GovernanceKeeper
from graphmem.governance.replay import (
    TENANT_PREFIX,
    ForgetReplay,
    Replayed,
    read_replay,
    replayed,
)
from graphmem.recall.trace_view import trace_view
from graphmem.settings import Settings
from graphmem.text.plain_view import plain_view


@click.command("trace")
@click.argument("trace_id")
@click.option("--plain", is_flag=True, help="One value a line, without brackets.")
@TENANT
@with_settings
def trace(settings: Settings, trace_id: str, *, plain: bool, tenant: str) -> None:
    """Show what a call, a recall or a job did, and why."""
    with open_service(settings) as graphmem:
        found = graphmem.explainer.trace(tenant, trace_id)
        if found is None:
            raise NotFound
        shown = trace_view(found, graphmem.of(GovernanceKeeper).events_of(found))
    text = plain_view(shown) if plain else json.dumps(shown, ensure_ascii=False, indent=2) + "\n"
    click.echo(text, nl=False)


@click.group()
def governed() -> None:
    """Try contracts."""


@governed.command("replay")
@click.argument("file", type=click.File("r", encoding="utf-8"))
@click.option("--show", is_flag=True, help="Print the file with the events that its calls gave.")
@with_settings
def replay(settings: Settings, file: TextIO, *, show: bool) -> None:
    """Run the calls of a file in an empty tenant; exit code 1 where their events differ.

    It holds {"profile", "contract", "calls": [{"input", "output", …, "events": [expected]}]}.
    """
    values = read_replay(file.read())
    caller = replace(operator(), tenant=f"{TENANT_PREFIX}{uuid7()}")
    done: list[Replayed] = []
    with open_service(settings) as graphmem:
        try:
            for each in replayed(graphmem.of(GovernanceKeeper), values, caller=caller):
                done.append(each)
                if not show:
                    click.echo(_said(each))
                if each.difference:
                    break
        finally:
            graphmem.gateway.execute(ForgetReplay(tenant=caller.tenant), caller)
    if show:
        calls = [
            call | {"events": list(each.events)}
            for call, each in zip(values["calls"], done, strict=False)
        ]
        click.echo(json.dumps({**values, "calls": calls}, ensure_ascii=False, indent=1))
    if any(each.difference for each in done):
        sys.exit(1)


def _said(each: Replayed) -> str:
    count = f"call {each.number}: {len(each.events)} events"
    if each.difference:
        return f"{count}, which differ at {each.difference}"
    return f"{count}, as expected" if each.is_compared else f"{count}, not compared"
