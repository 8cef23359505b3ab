"""The demo: a conversation of two people is added and eight questions are asked."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from time import perf_counter

from rich.console import Console
from rich.table import Table

from graphmem.bootstrap import Graphmem, build
from graphmem.database import database
from graphmem.model.caller import Caller, Role
from graphmem.model.source import Source, SourceType
from graphmem.model.space import FIRST_TENANT
from graphmem.model.writing import WriteRequest
from graphmem.recall.request import RecallRequest
from graphmem.settings import Settings

SPACE = "project:demo"
QUESTIONS = (
    "What is Mira allergic to?",
    "Which programming language will Tidewell be written in?",
    "When does Mira get the keys of the workshop?",
    "What does Mira drink now?",
    "Who lends her money for the kiln?",
    "Why did the cups crack?",
    "When is Jonas' last day at the agency?",
    "Where does Leila want to work?",
)
_SHOWN = 3
_GIVEN = frozenset({"space", "content", "actor", "source", "occurred_at"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One turn of the conversation."""

    number: int
    occurred_at: datetime
    actor: str
    text: str


def turns() -> Iterator[Turn]:
    """The turns of the packaged conversation."""
    text = resources.files("graphmem.demo").joinpath("conversation.txt").read_text("utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        moment, actor, said = (part.strip() for part in line.split("|", 2))
        occurred_at = datetime.strptime(moment, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
        yield Turn(number=number, occurred_at=occurred_at, actor=actor, text=said)


def run_demo(settings: Settings, console: Console) -> None:
    """Add the conversation to the database, once, and ask the questions."""
    # closed before the database goes, so that its recalls are noted
    with database(settings) as connection, closing(build(settings, connection)) as graphmem:
        graphmem.prepare()
        caller = Caller(key_id="demo", tenant=FIRST_TENANT, role=Role.WRITER, spaces=(SPACE,))
        _add(graphmem, caller, console)
        for question in QUESTIONS:
            _ask(graphmem, caller, question, console)


def _add(graphmem: Graphmem, caller: Caller, console: Console) -> None:
    started = perf_counter()
    report = graphmem.writing.write(requests(), caller=caller)
    outcomes = sorted({result.outcome.value for result in report.results})
    console.print(
        f"Added a conversation of {len(report.results)} turns to the space [bold]{SPACE}[/bold] in"
        f" {perf_counter() - started:.1f} s ({', '.join(outcomes)})."
    )


def requests() -> list[WriteRequest]:
    """The writes of the whole conversation, in its order."""
    return [_request(turn) for turn in turns()]


def _request(turn: Turn) -> WriteRequest:
    return WriteRequest(
        space=SPACE,
        content=turn.text,
        actor=turn.actor,
        occurred_at=turn.occurred_at,
        source=Source(
            type=SourceType.CHANNEL_TRANSCRIPT,
            conversation_id="demo",
            key=f"demo-turn-{turn.number}",
        ),
        given=_GIVEN,
    )


def _ask(graphmem: Graphmem, caller: Caller, question: str, console: Console) -> None:
    started = perf_counter()
    bundle = graphmem.recall.recall(
        RecallRequest(spaces=[SPACE], query=question, limit=_SHOWN), caller=caller
    )
    table = Table(
        title=f"{question}  ({(perf_counter() - started) * 1000:.0f} ms)", title_justify="left"
    )
    for name in ("score", "when", "who", "what was said", "found by"):
        table.add_column(name)
    for item in bundle.items:
        arms = [
            f"{name} {arm.rank}"
            for name, arm in (
                ("words", item.explanation.text),
                ("meaning", item.explanation.vector),
            )
            if arm
        ]
        said = item.memory.occurred_at
        table.add_row(
            f"{item.score:.2f}",
            f"{said:%d %b %Y}" if said else "",
            item.memory.actor,
            item.memory.content,
            ", ".join(arms),
        )
    console.print(table)
