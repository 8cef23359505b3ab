"""In whatever order things are done: the graph is what a small model says, and sound.

Left out by name, because they are known to be wrong and are to be mended on their own: intervals of
validity (valid_from, valid_until), the same words written again (reinforcement), and keys of
memories that were retracted (logical keys are never given here).
"""

from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import ClassVar

import hypothesis
import pytest
from builders import a_request
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from graphmem.errors import Conflict, InvalidInput, NotFound
from graphmem.gateway.edges import DrawEdge, EdgeRequest, RemoveEdge
from graphmem.gateway.folding import Unfold
from graphmem.gateway.status import ChangeStatus
from graphmem.model.edge import EdgeType
from graphmem.model.entity import EntityRef
from graphmem.model.job import RunStatus
from graphmem.model.memory import Status
from graphmem.model.policy import CuratePolicy
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import Space, SpaceKind
from graphmem.model.writing import Outcome

STEPS = 12
FOLDED_FROM = CuratePolicy().fold_members
EXTRACTED = Source(
    type=SourceType.WORKFLOW_OUTPUT,
    workflow_run_id="w",
    step_id="s",
    captured_by=CapturedBy.EXTRACTOR,
)
RUNS = max(5, hypothesis.settings().max_examples // 6)
NAMES = ("ada", "bob", "eve")
TYPES = (EdgeType.RELATED_TO, EdgeType.CAUSED_BY, EdgeType.PART_OF)
HARMLESS_JOBS = ("expire", "embed_pending", "curate_dedupe", "archive", "decay_commitments")
SUBJECTS = st.sets(st.sampled_from(NAMES), max_size=2)


class Graph(RuleBasedStateMachine):
    """One space, what was done in it, and a model of what it should hold."""

    house: ClassVar = None  # the service that all runs work with, each in a space of its own
    numbers: ClassVar = count()

    memories = Bundle("memories")
    merges = Bundle("merges")

    def __init__(self):
        super().__init__()
        number = next(self.numbers)
        self.space = Space(
            tenant=self.house.caller.tenant, kind=SpaceKind.USER, owner=f"machine-{number}"
        )
        self.contents = {}
        self.statuses = {}
        self.mentions = {}
        self.edges = set()
        self.stands_for = {}  # names that were merged into others
        self.superseded_by = {}
        self.words = count()

    @initialize(target=memories)
    def begin(self):
        """There is something to work with from the start."""
        return multiple(*(self.write_one({name}) for name in NAMES))

    @rule(target=memories, names=SUBJECTS)
    def write(self, names):
        """Write something new."""
        return self.write_one(names)

    def write_one(self, names, updates=(), *, with_uid=True, **values):
        """Write a memory of words that were never used."""
        uid = f"m-{next(self.words)}"
        content = f"Sentence {uid} about nothing else than {uid}."
        own = {"uid": uid} if with_uid else {}
        result = self.house.write(
            a_request(
                content,
                space=self.space.name,
                **own,
                entities=tuple(EntityRef(key=f"person:{name}") for name in sorted(names)),
                updates=updates,
                **values,
            )
        ).results[0]
        assert result.error is None
        expected = Outcome.SUPERSEDED if updates else Outcome.CREATED
        assert expected == result.outcome
        uid = result.memory.uid
        self.contents[uid] = content
        self.statuses[uid] = "active"
        self.mentions[uid] = {self.stands_for.get(name, name) for name in names}
        return uid

    @rule(target=memories, old=memories, names=SUBJECTS)
    def write_an_update(self, old, names):
        """Write something that takes the place of another memory, where that is current."""
        if self.statuses[old] != "active":
            return multiple()
        new = self.write_one(names, updates=(old,))
        self.statuses[old] = "superseded"
        self.superseded_by.setdefault(old, set()).add(new)
        self.edges.add((new, "UPDATES", old))
        return new

    @rule(uid=memories, importance=st.integers(1, 99), is_reworded=st.booleans())
    def correct(self, uid, importance, is_reworded):
        """Give a memory other words or another importance."""
        memory = self.stored(uid)
        content = memory.content
        if is_reworded:
            content = f"Sentence {uid} in words of {next(self.words)}."
        request = a_request(content, uid=uid, space=self.space.name, importance=importance)
        given = {"uid", "space", "importance"} | ({"content"} if is_reworded else set())
        request = replace(request, given=frozenset(given), source=memory.source)
        result, _ = self.house.graphmem.writing.correct(request, caller=self.house.caller)
        assert result.outcome in {Outcome.REVISED, Outcome.UNCHANGED}
        self.contents[uid] = content

    @rule(uid=memories, status=st.sampled_from(["archived", "retracted", "active"]))
    def change_status(self, uid, status):
        """Archive, retract or restore."""
        successors = self.superseded_by.get(uid, set())
        is_kept_away = any("active" == self.statuses[each] for each in successors)
        memory = self.stored(uid)

        def change():
            before = self.house.graphmem.histories.last_active(memory)
            self.execute(
                ChangeStatus(memory=memory, status=Status(status), reason="by hand", before=before)
            )

        if status == "active" and self.statuses[uid] != "active" and is_kept_away:
            with pytest.raises(Conflict):
                change()
            return
        change()
        if status == "active" and self.statuses[uid] != "active":
            for old, successors in self.superseded_by.items():
                if uid in successors and self.statuses[old] == "active":
                    self.statuses[old] = "superseded"
        self.statuses[uid] = status

    @rule(start=memories, end=memories, kind=st.sampled_from(TYPES))
    def draw_edge(self, start, end, kind):
        """Draw an edge between two memories."""
        request = EdgeRequest(space=self.space, from_uid=start, to_uid=end, type=kind)
        if start == end:
            with pytest.raises(InvalidInput):
                self.execute(DrawEdge(request=request))
            return
        drawn = self.execute(DrawEdge(request=request))
        place = (start, kind.value, end)
        assert drawn.is_new == (place not in self.edges)
        self.edges.add(place)

    @rule(start=memories, end=memories, kind=st.sampled_from(TYPES))
    def remove_edge(self, start, end, kind):
        """Remove an edge where there is one."""
        if (start, kind.value, end) not in self.edges:
            return
        request = EdgeRequest(space=self.space, from_uid=start, to_uid=end, type=kind)
        remove = RemoveEdge(space=self.space, edge=self.execute(DrawEdge(request=request)).edge)
        self.execute(remove)
        self.edges.discard((start, kind.value, end))
        with pytest.raises(NotFound):
            self.execute(remove)

    @rule(target=merges, name=st.sampled_from(NAMES), into=st.sampled_from(NAMES))
    def merge(self, name, into):
        """Let one entity stand for another too."""
        standing = {name, into} - set(self.stands_for)
        if name == into or len(standing) < 2:
            return multiple()
        before = {uid: set(names) for uid, names in self.mentions.items()}
        change = self.house.graphmem.entity_keeper.merge(
            self.space, f"person:{name}", f"person:{into}", caller=self.house.caller
        )
        self.stands_for[name] = into
        for other, target in self.stands_for.items():
            if target == name:
                self.stands_for[other] = into
        for names in self.mentions.values():
            if name in names:
                names.discard(name)
                names.add(into)
        return change.uid, name, before, dict(self.stands_for)

    @rule(merge=consumes(merges))
    def undo(self, merge):
        """Undo a merge that nothing builds on: who was mentioned then is mentioned again."""
        uid, name, before, stood_for = merge
        if stood_for != self.stands_for or set(before) != set(self.mentions):
            return
        self.house.graphmem.entity_keeper.undo(uid, caller=self.house.caller)
        self.stands_for.pop(name)
        self.mentions = before

    @rule(target=memories)
    def fold_and_unfold(self):
        """Three facts of one person become one memory, and three again."""
        number = next(self.words)
        members = [
            self.write_one({f"folded{number}"}, with_uid=False, source=EXTRACTED)
            for _ in range(FOLDED_FROM)
        ]
        self.run("curate_fold")
        memory = self.stored(members[0])
        assert Status.ARCHIVED == memory.status
        ((uid, content),) = self.house.rows(
            "MATCH (f:Memory)-[:FOLDED_FROM]->(:Memory {key: $key}) RETURN f.uid, f.content",
            key=memory.key,
        )
        folded = self.stored(uid)
        unfolded = self.execute(
            Unfold(folded=folded, members=self.house.graphmem.histories.folded_from(folded))
        )
        assert set(members) == set(unfolded.restored)
        self.contents[uid], self.statuses[uid] = content, "archived"
        self.mentions[uid] = {f"folded{number}"}
        return multiple(*members)

    @rule(target=memories, names=SUBJECTS)
    def let_one_expire(self, names):
        """A memory whose time has passed is put away."""
        ends = self.house.clock.now() + timedelta(seconds=5)
        uid = self.write_one(names, expires_at=ends)
        self.house.clock.advance(seconds=5)
        self.run("expire")
        self.statuses[uid] = "archived"
        return uid

    @rule(job=st.sampled_from(HARMLESS_JOBS))
    def run_a_job(self, job):
        """Jobs find nothing to do among memories that differ and are young."""
        record = self.run(job)
        assert RunStatus.SUCCEEDED == record.status, record.error

    def execute(self, operation):
        """Change the graph; the answer."""
        return self.house.graphmem.gateway.execute(operation, self.house.caller).answer

    def run(self, job):
        """Run a job in this space."""
        return self.house.graphmem.runner.run(job, space_key=self.space.key, by_hand=True)

    @invariant()
    def nothing_is_damaged(self):
        """The integrity job finds nothing."""
        counts = self.run("integrity").counts
        wrong = {name: number for name, number in counts.items() if number}
        assert set(wrong) <= {"inspected", "spaces"}
        assert len(self.contents) == counts["inspected"]

    @invariant()
    def the_graph_is_what_the_model_says(self):
        """Each memory has the words, the status and the mentions that it should have."""
        rows = self.house.rows(
            "MATCH (m:Memory {space: $key}) RETURN m.uid, m.content, m.status,"
            " [(m)-[:MENTIONS]->(e) | e.key]",
            key=self.space.key,
        )
        edges = self.house.rows(
            "MATCH (a:Memory {space: $key})-[r]->(b:Memory) WHERE type(r) IN $types"
            " RETURN a.uid, type(r), b.uid",
            key=self.space.key,
            types=[kind.value for kind in (*TYPES, EdgeType.UPDATES)],
        )

        assert {
            (uid, self.contents[uid], self.statuses[uid], frozenset(self.mentions[uid]))
            for uid in self.contents
        } == {
            (uid, content, status, frozenset(key.rpartition("|person:")[2] for key in keys))
            for uid, content, status, keys in rows
        }
        assert self.edges == set(edges)
        assert len(edges) == len(set(edges))

    def stored(self, uid):
        """A memory as it is stored."""
        key = f"{self.space.key}|{uid}"
        return self.house.graphmem.memories.by_key([key])[key]


@pytest.mark.hypothesis
def test_no_order_of_calls_damages_the_graph(house):
    machine = type("Machine", (Graph,), {"house": house, "numbers": count()})

    run_state_machine_as_test(
        machine,
        settings=hypothesis.settings(
            max_examples=RUNS,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )
