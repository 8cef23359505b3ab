"""In whatever order values, corrections, jobs and times come: what a store must never say.

At each instant a key has one value, now and as of now agree, no source is lost, nothing derived
states what is not active, and what is imported again changes nothing.
"""

import contextlib
import json
from dataclasses import replace
from datetime import timedelta
from itertools import count, pairwise
from typing import ClassVar

import hypothesis
import pytest
from builders import a_request
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from graphmem.errors import Conflict, InvalidInput
from graphmem.gateway.status import ChangeStatus
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.model.entity import EntityRef
from graphmem.model.memory import Status
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import Space, SpaceKind
from graphmem.model.writing import OnSameKey, Outcome

STEPS = 14
RUNS = max(5, hypothesis.settings().max_examples // 5)
EXTRACTED = Source(
    type=SourceType.WORKFLOW_OUTPUT,
    workflow_run_id="w",
    step_id="s",
    captured_by=CapturedBy.EXTRACTOR,
)
JOHN = (EntityRef(key="person:john", label="John"),)
JOBS = ("expire", "curate_dedupe", "curate_fold", "consolidate", "archive", "embed_pending")
REFUSALS = (Conflict, InvalidInput)
NUMBERS = st.integers(0, 2)
DAYS = st.none() | st.integers(-30, 30)
STATUSES = st.sampled_from([Status.ACTIVE, Status.RETRACTED, Status.ARCHIVED])


def drawn(lines):
    """The edges of exported lines."""
    values = [json.loads(line) for line in lines]
    said = {each["memory"]["uid"]: each["memory"]["content"] for each in values if "memory" in each}
    edges = [value["edge"] for value in values if "edge" in value]
    return sorted((said[edge["from"]], edge["type"], said[edge["to"]]) for edge in edges)


class Store(RuleBasedStateMachine):
    """One space, in which anything may be said at any time."""

    house: ClassVar = None  # the service that all runs work with, each in a space of its own
    numbers: ClassVar = count()

    def __init__(self):
        super().__init__()
        owner = f"holds-{next(self.numbers)}"
        tenant = self.house.caller.tenant
        self.space = Space(tenant=tenant, kind=SpaceKind.USER, owner=owner)
        self.said = set()  # keys of the sources whose words were taken
        self.words = count()

    @initialize()
    def begin(self):
        """There is something to work with from the start."""
        for number in range(3):
            self.say_a_fact(number)
        self.say_a_turn(0)

    def write(self, content, *, key=None, **values):
        """Write something; what the store refuses, it refuses whole."""
        source = values.pop("source", Source())
        if key:
            values["source"] = replace(source, key=key)
        (result,) = self.house.write(a_request(content, space=self.space.name, **values)).results
        assert result.error is None or isinstance(result.error, REFUSALS)
        if key and result.error is None and "content" not in result.not_taken:
            self.said.add(key)
        return result

    @rule(key=NUMBERS, content=NUMBERS, day=DAYS, how=st.sampled_from(OnSameKey), source=NUMBERS)
    def say_a_value(self, key, content, day, how, source):
        """A value of a key, at any time, in any way."""
        times = {} if day is None else {"valid_from": self.at(day)}
        self.write(
            f"The value said of key {key} is {content}.",
            key=f"v-{key}-{source}",
            logical_key=f"key-{key}",
            on_same_key=how,
            **times,
        )

    @rule(content=NUMBERS, source=st.integers(0, 5), start=DAYS, length=st.integers(1, 20))
    def say_again(self, content, source, start, length):
        """The same few facts, of any period, from any of a few sources."""
        times = {}
        if start is not None:
            times = {"valid_from": self.at(start), "valid_until": self.at(start + length)}
        self.write(f"The thing said again is {content}.", key=f"r-{source}", **times)

    @rule(source=NUMBERS)
    def say_a_fact(self, source):
        """A fact of John, as an extractor puts it: it may be folded."""
        number = next(self.words)
        self.write(
            f"John said that {number}.", key=f"f-{source}-{number}", source=EXTRACTED, entities=JOHN
        )

    @rule(conversation=NUMBERS)
    def say_a_turn(self, conversation):
        """A turn of a conversation."""
        number = next(self.words)
        source = Source(conversation_id=f"c-{conversation}")
        self.write(f"Turn said as {number}.", key=f"t-{number}", source=source)

    @rule(data=st.data())
    def edit_a_message(self, data):
        """A source says something else than before."""
        key = data.draw(st.sampled_from(sorted(self.said)))
        source = EXTRACTED if key[0] == "f" else Source()
        self.write(f"Edited and said as {next(self.words)}.", key=key, source=source)

    @rule(data=st.data(), status=STATUSES)
    def change_status(self, data, status):
        """Retract, archive or restore anything."""
        memory = self.any_memory(data)
        before = self.house.graphmem.histories.last_active(memory)
        change = ChangeStatus(memory=memory, status=status, reason="by hand", before=before)
        self.may_refuse(lambda: self.house.graphmem.gateway.execute(change, self.house.caller))

    @rule(data=st.data(), day=DAYS, is_reworded=st.booleans())
    def correct(self, data, day, is_reworded):
        """Give anything other words or another begin."""
        memory = self.any_memory(data)
        content = f"Corrected and said as {next(self.words)}." if is_reworded else memory.content
        request = a_request(content, uid=memory.uid, space=self.space.name, source=memory.source)
        given = {"content"} if is_reworded else {"valid_from"}
        request = replace(
            request,
            given=frozenset(given),
            type=memory.type,
            actor=memory.actor,
            logical_key=memory.logical_key,
            valid_from=None if day is None else self.at(day),
        )
        self.may_refuse(
            lambda: self.house.graphmem.writing.correct(request, caller=self.house.caller)
        )

    @rule(data=st.data())
    def update(self, data):
        """Something new takes the place of anything."""
        self.write(
            f"Update said as {next(self.words)}.",
            key=f"u-{next(self.words)}",
            updates=(self.any_memory(data).uid,),
        )

    @rule(days=st.integers(1, 20))
    def wait(self, days):
        """Time passes."""
        self.house.clock.advance(days=days)

    @rule(job=st.sampled_from(JOBS))
    def run_a_job(self, job):
        """A job goes through the space."""
        self.run(job)

    @invariant()
    def a_key_has_one_value_at_each_instant(self):
        """The values of a key follow each other."""
        rows = self.house.rows(
            "MATCH (m:Memory {space: $key}) WHERE m.logical_key IS NOT NULL"
            " AND m.status IN ['active', 'superseded']"
            " WITH m, coalesce(m.valid_from, m.occurred_at, m.created_at) AS began"
            " WHERE coalesce(m.valid_until > began, true)"
            " RETURN m.logical_key, toString(began), toString(m.valid_until), m.content"
            " ORDER BY m.logical_key, began",
            key=self.space.key,
        )
        for (key, _, ends, content), (other, begins, _, content_of_next) in pairwise(rows):
            assert key != other or (ends and ends <= begins), (content, content_of_next)

    @invariant()
    def now_and_as_of_now_agree(self):
        """What is true now is what was true at this moment."""
        now = self.house.clock.now()
        recall = {"spaces": [self.space.name], "limit": 200}

        assert sorted(self.contents(**recall)) == sorted(self.contents(as_of=now, **recall))

    @invariant()
    def no_source_is_lost(self):
        """Whatever source was taken is on the memory that its key stands for."""
        rows = self.house.rows(
            "MATCH (k:ClaimKey {space: $key})-[:CLAIMS]->(m:Memory)"
            " WHERE k.key STARTS WITH $key + '|source|'"
            " RETURN split(k.key, '|source|')[1],"
            " m.source_key, [(m)-[:FROM]->(s:Source) | s.source_key]",
            key=self.space.key,
        )

        assert self.said == {key for key, _, _ in rows}
        for key, first, others in rows:
            assert 1 == [first, *others].count(key), key

    @invariant()
    def nothing_derived_states_what_is_not_active(self):
        """No fold, summary or context repeats what was taken back, replaced or put away."""
        rows = self.house.rows(
            "MATCH (m:Memory {space: $key}) WHERE m.status = 'active'"
            " RETURN m.content, m.context, [(m)-[:FOLDED_FROM|SUMMARY_OF]->(o:Memory)"
            " WHERE o.status IN ['retracted', 'superseded'] | o.content],"
            " [(m)-[:NEXT]-(t:Memory) WHERE t.status <> 'active' | t.content]",
            key=self.space.key,
        )
        for content, context, gone, quiet in rows:
            assert not any(each in content for each in gone)
            assert not any(each in (context or "") for each in quiet)

    @invariant()
    def nothing_is_damaged(self):
        """The integrity job finds nothing."""
        counts = self.run("integrity").counts
        assert {name for name, number in counts.items() if number} <= {"inspected", "spaces"}

    def teardown(self):
        """What is exported and imported twice is there once."""
        transfers = self.house.graphmem.transfers
        lines = list(export_lines(transfers, self.space))
        other = replace(self.space, owner=f"{self.space.owner}-again")
        first, second = (
            [None, *import_lines(transfers, lines, other, caller=self.house.caller)][-1]
            for _ in range(2)
        )
        if first:
            assert ([], []) == (first.problems, second.problems)
            assert set(second.counts) <= {Outcome.UNCHANGED, "edges"}
            again = list(export_lines(transfers, other))
            assert drawn(lines) == drawn(again)
            assert len(lines) == len(again)

    def at(self, day):
        """A time some days from the beginning."""
        return self.house.clock.now().replace(hour=0, minute=0) + timedelta(days=day)

    def any_memory(self, data):
        """Any memory of the space."""
        rows = self.house.rows(
            "MATCH (m:Memory {space: $key}) RETURN m.key ORDER BY m.created_at, m.key",
            key=self.space.key,
        )
        (key,) = data.draw(st.sampled_from(rows))
        return self.house.graphmem.memories.by_key([key])[key]

    def contents(self, **options):
        """What a recall of everything returns."""
        spaces = options.pop("spaces")
        return self.house.contents("said", *spaces, **options)

    @staticmethod
    def may_refuse(change):
        """Do what the store may refuse as a conflict."""
        with contextlib.suppress(REFUSALS):
            change()

    def run(self, job):
        """Run a job in this space."""
        return self.house.graphmem.runner.run(job, space_key=self.space.key, by_hand=True)


@pytest.mark.hypothesis
def test_no_order_of_what_is_said_makes_the_store_say_something_false(house):
    machine = type("Machine", (Store,), {"house": house, "numbers": count()})

    run_state_machine_as_test(
        machine,
        settings=hypothesis.settings(
            max_examples=RUNS,
            stateful_step_count=STEPS,
            deadline=None,
            phases=set(hypothesis.Phase) - {hypothesis.Phase.shrink},  # takes minutes here
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )
