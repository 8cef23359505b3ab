"""Noting: what the facts of an extraction add to the notebook of their space (003).

It is decided and written together with the facts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from graphmem.gateway.workbench import Workbench
from graphmem.lifecycle.artefacts import artefacts_of
from graphmem.lifecycle.boxes import batch_of, boxed, with_traces
from graphmem.lifecycle.identity import new_reflections
from graphmem.lifecycle.plan import Plan
from graphmem.lifecycle.profile import CATEGORIES, new_lines
from graphmem.lifecycle.questions import new_questions
from graphmem.lifecycle.told import Told
from graphmem.model.conversation import Turn
from graphmem.model.event import Effect, Event, Subject
from graphmem.model.extraction import Category, FactOutcome
from graphmem.model.notebook import Artefact, Box, NotedQuestion, ProfileLine, Reflection
from graphmem.model.policy import LifecycleConfig
from graphmem.store.artefacts import save_artefacts
from graphmem.store.boxes import OpenBox, open_box_of, save_boxes
from graphmem.store.identity import IdentityState, identity_state, save_reflections
from graphmem.store.notebooks import lock_notebook
from graphmem.store.profile import WrittenLine, profile_of, save_lines
from graphmem.store.questions import open_questions_about, resolve_questions, save_questions

_MAY_HAVE_LINES = CATEGORIES | {Category.CORRECTION}  # where it corrects one that has a line


@dataclass(frozen=True, kw_only=True, slots=True)
class NotebookState:
    """What the notebook of a space holds that new facts may change."""

    open_box: OpenBox = field(default_factory=OpenBox)
    profile: tuple[ProfileLine, ...] = ()
    identity: IdentityState = field(default_factory=IdentityState)


@dataclass(frozen=True, kw_only=True, slots=True)
class Notes:
    """What is written into a notebook.

    ``new`` are the uids of new memories; ``settled`` the keys of memories about which no question
    is left.
    """

    boxes: tuple[Box, ...] = ()
    new: frozenset[str] = frozenset()
    artefacts: tuple[Artefact, ...] = ()
    lines: tuple[WrittenLine, ...] = ()
    reflections: tuple[Reflection, ...] = ()
    questions: tuple[NotedQuestion, ...] = ()
    settled: tuple[str, ...] = ()
    settled_by: str = ""  # uid of the extraction
    settled_at: datetime | None = None
    events: tuple[Event, ...] = ()


def read_notebook(
    transaction: Workbench, plan: Plan, turns: Sequence[Turn], config: LifecycleConfig
) -> NotebookState:
    """Lock the notebook of a space, and read what facts of some turns may change."""
    if not turns:
        return NotebookState()
    space, now = turns[0].space, transaction.now
    has_lines = bool(plan.sifted.profile_updates) or any(
        each.item and each.fact.category in _MAY_HAVE_LINES for each in plan.facts
    )
    reflects = plan.sifted.reflection is not None and config.identity_enabled
    if not (config.memory_boxes_enabled or has_lines or reflects):
        return NotebookState()
    lock_notebook(transaction, space)
    last, days = max(turn.at for turn in turns), config.trace_weaver_lookback_days
    return NotebookState(
        open_box=open_box_of(transaction, space, last, days=days)
        if config.memory_boxes_enabled
        else OpenBox(),
        profile=profile_of(transaction, space, now) if has_lines else (),
        identity=identity_state(transaction, space) if reflects else IdentityState(),
    )


def write_notes(transaction: Workbench, notes: Notes) -> None:
    """Write what is new in a notebook."""
    if notes.boxes:
        save_boxes(transaction, notes.boxes, notes.new)
    save_artefacts(transaction, notes.artefacts)
    save_lines(transaction, notes.lines)
    save_reflections(transaction, notes.reflections)
    open_questions = open_questions_about(transaction, notes.settled)
    if open_questions:
        by, at = notes.settled_by, notes.settled_at
        settled = [replace(each, resolved_by=by, resolved_at=at) for each in open_questions]
        resolve_questions(transaction, settled)
    save_questions(transaction, notes.questions)


def noted(state: NotebookState, told: Told, config: LifecycleConfig, now: datetime) -> Notes:
    """What new facts add to a notebook."""
    if not told.turns:
        return Notes()
    batch = batch_of(told, now) if config.memory_boxes_enabled else None
    boxes = boxed(state.open_box.box, batch, config, told.box_uid) if batch else ()
    if config.trace_weaver_enabled:
        boxes = with_traces(boxes, state.open_box.traces, config)
    return Notes(
        boxes=boxes,
        new=frozenset(member.memory for member in batch.members) if batch else frozenset(),
        artefacts=tuple(artefacts_of(told, config, now)),
        lines=tuple(new_lines(state.profile, told, now)),
        reflections=tuple(new_reflections(state.identity, told, config, now)),
        questions=tuple(new_questions(told, now)),
        settled=tuple(sorted(_settled(told))),
        settled_by=told.extraction.uid,
        settled_at=now,
        events=tuple(sealed_event(box) for box in boxes if box.sealed_at),
    )


def _settled(told: Told) -> set[str]:
    """The keys of memories that were said again or superseded."""
    again = {kept.uid for _, kept in told.facts if kept.outcome is FactOutcome.SKIPPED}
    uids = {uid for uid in (*again, *told.superseded) if uid}
    return {f"{told.extraction.space.key}|{uid}" for uid in uids}


def sealed_event(box: Box) -> Event:
    """That a box was sealed, and why."""
    assert box.seal_reason is not None  # noqa: S101 - it is sealed
    return Event(
        space=box.space.key,
        subject=box.uid,
        about=Subject.BOX,
        effect=Effect.BOX_SEALED,
        detail={
            "because": box.seal_reason.value,
            "memories": len(box.members),
            "trace": box.trace,
        },
    )
