"""The unit tests that 002 asks for, by its names (docs/conformance/002.md)."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from builders import NOW, a_candidate, a_memory
from marshmallow import ValidationError

from api.edges.schemas import EdgeBody
from api.memories.schemas import MemoryRequest
from graphmem.adapters.workspaces import Workspaces
from graphmem.gateway.edges import EdgeRequest, edge_problems
from graphmem.gateway.validation import problems
from graphmem.intake.file_parsers import SourceFile, extract
from graphmem.intake.manifests import RejectedError
from graphmem.model.edge import EdgeType
from graphmem.model.memory import MemoryType
from graphmem.model.policy import RrfPolicy, WritePolicy
from graphmem.model.source import Source, SourceType
from graphmem.model.space import Space, SpaceKind
from graphmem.recall.bulletin_sections import build_bulletin
from graphmem.recall.rankers.rrf import rrf
from graphmem.recall.request import Explanation, RecallItem

MAIN = Space(tenant="main", kind=SpaceKind.ORCHESTRATOR, owner="main")
TYPES = ["Fact", "Preference", "Decision", "Identity", "Event", "Observation", "Goal", "Todo"]
EDGE_TYPES = {
    "RelatedTo": EdgeType.RELATED_TO,
    "Updates": EdgeType.UPDATES,
    "Contradicts": EdgeType.CONTRADICTS,
    "CausedBy": EdgeType.CAUSED_BY,
    "PartOf": EdgeType.PART_OF,
}


def from_file(**changes):
    memory = {
        "memoryId": "m",
        "type": "Fact",
        "importance": 50,
        "content": "Tea.",
        "summary": "Tea",
    }
    values = {"memories": [memory | {"confidence": 0.5, "status": "active"} | changes]}
    content = json.dumps(values).encode()
    return extract(
        SourceFile(dropped_at="/in/a.json", path="/in/processed/a.json", content=content), MAIN
    ).memories[0]


def body(**changes):
    return MemoryRequest().load({"space": "orchestrator:main", "content": "Tea."} | changes)


@pytest.mark.parametrize("name", TYPES)
def test_memory_type_enum_validation_all_8(name):
    assert 8 == len(MemoryType) == len(TYPES)
    assert MemoryType(name) is body(type=name)["type"] is from_file(type=name).type


@pytest.mark.parametrize("name", ["Idea", "fact", "FACT", "", 1, None])
def test_an_unknown_memory_type_is_an_explicit_error(name):
    with pytest.raises(RejectedError, match=r"memories\.0\.type: (InvalidNodeType|MissingField)"):
        from_file(type=name)
    if name is not None:
        with pytest.raises(ValidationError, match="InvalidNodeType"):
            body(type=name)


@pytest.mark.parametrize("name", EDGE_TYPES)
def test_edge_type_enum_validation_all_5(name):
    assert 5 == len(EdgeType) == len(EDGE_TYPES)
    edge, body = {"from": "a", "to": "b"}, EdgeBody(exclude=["space"])
    assert EDGE_TYPES[name] is body.load(edge | {"type": name})["type"]
    assert EDGE_TYPES[name] is body.load(edge | {"type": EDGE_TYPES[name].value})["type"]


@pytest.mark.parametrize("name", ["Knows", "", "NEXT", "FOLDED_FROM"])
def test_an_unknown_edge_type_is_an_explicit_error(name):
    with pytest.raises(ValidationError, match="InvalidEdgeType"):
        EdgeBody(exclude=["space"]).load({"from": "a", "to": "b", "type": name})


@pytest.mark.parametrize(
    ("field", "value", "failure"),
    [
        ("importance", -1, "ImportanceOutOfRange"),
        ("importance", 0, None),
        ("importance", 100, None),
        ("importance", 101, "ImportanceOutOfRange"),
        ("confidence", -0.01, "ConfidenceOutOfRange"),
        ("confidence", 0.0, None),
        ("confidence", 1.0, None),
        ("confidence", 1.01, "ConfidenceOutOfRange"),
        ("confidence", float("nan"), "ConfidenceOutOfRange"),
    ],
)
def test_importance_confidence_bounds_validation(field, value, failure):
    found = problems({field: value}, WritePolicy())

    assert failure is None if not found else failure in found[field][0]


@pytest.mark.parametrize(
    ("weight", "is_fit"), [(-0.01, False), (0.0, True), (1.0, True), (1.01, False)]
)
def test_edge_weight_bounds_validation(weight, is_fit):
    request = EdgeRequest(
        space=MAIN, from_uid="a", to_uid="b", type=EdgeType.RELATED_TO, weight=weight
    )

    assert is_fit is not any(
        "EdgeWeightOutOfRange" in text
        for texts in edge_problems(request).values()
        for text in texts
    )


@pytest.mark.parametrize(
    ("kind", "given", "failures"),
    [
        (SourceType.WORKFLOW_OUTPUT, {}, {"MissingWorkflowRunId", "MissingStepId"}),
        (SourceType.WORKFLOW_OUTPUT, {"workflow_run_id": "r", "step_id": "s"}, set()),
        (SourceType.CHANNEL_TRANSCRIPT, {}, {"MissingConversationId"}),
        (SourceType.CHANNEL_TRANSCRIPT, {"conversation_id": "c"}, set()),
        (SourceType.INGEST_FILE, {}, {"MissingSourcePath"}),
        (SourceType.DIAGNOSTICS, {}, set()),
        (SourceType.MANUAL, {}, set()),
    ],
)
def test_what_each_source_needs_is_named(kind, given, failures):
    found = problems({"source": Source(type=kind, **given)}, WritePolicy())

    said = " ".join(text for texts in found.values() for text in texts)
    assert (len(failures), True) == (len(found), all(failure in said for failure in failures))


def test_provenance_source_path_validation_and_canonicalization(tmp_path):
    workspaces = Workspaces(tmp_path / "data", shared_roots=[tmp_path / "shared"])
    workspace = workspaces.of(MAIN)
    workspace.create()
    (tmp_path / "shared").mkdir()
    outside = tmp_path / "outside.txt"
    for path in (workspace.processed / "in.txt", tmp_path / "shared" / "in.txt", outside):
        path.write_text("Tea.")
    (workspace.processed / "link.txt").symlink_to(outside)
    (workspace.processed / "ring.txt").symlink_to(workspace.processed / "ring.txt")

    def may_cite(path, space=MAIN):
        return workspaces.may_cite(space, str(path))

    assert may_cite(workspace.processed / "in.txt")
    assert may_cite(tmp_path / "shared" / "in.txt")
    assert not may_cite(outside)
    assert not may_cite(workspace.processed / "link.txt")
    assert not may_cite(workspace.processed / "ring.txt")
    assert not may_cite(
        workspace.processed / ".." / ".." / ".." / ".." / ".." / ".." / "outside.txt"
    )
    assert not may_cite(f"{workspace.root}-2/in.txt")
    other = Space(tenant="main", kind=SpaceKind.ORCHESTRATOR, owner="other")
    elsewhere = Space(tenant="acme", kind=SpaceKind.ORCHESTRATOR, owner="main")
    assert not may_cite(workspace.processed / "in.txt", other)
    assert not may_cite(workspace.processed / "in.txt", elsewhere)


def test_a_folder_shared_with_one_orchestrator_is_cited_by_no_other(tmp_path):
    shared = tmp_path / "shared" / "in.txt"
    shared.parent.mkdir()
    shared.write_text("Tea.")
    workspaces = Workspaces(tmp_path / "data", own_roots={"acme/main": [shared.parent]})
    spaces = [
        Space(tenant=tenant, kind=kind, owner="main")
        for tenant, kind in (
            ("acme", SpaceKind.ORCHESTRATOR),
            ("main", SpaceKind.ORCHESTRATOR),
            ("acme", SpaceKind.USER),
        )
    ]

    assert [True, False, False] == [workspaces.may_cite(space, str(shared)) for space in spaces]


@pytest.mark.parametrize(
    "owner", ["main", "..", ".", ".hidden", "a\\b", "%2E", "Ä-1", "a" * 128, "a\u0301"]
)
def test_every_orchestrator_has_a_folder_of_its_own_below_the_data_folder(tmp_path, owner):
    space = Space(tenant="main", kind=SpaceKind.ORCHESTRATOR, owner=owner)
    workspaces = Workspaces(tmp_path)
    workspace = workspaces.of(space)
    workspace.create()

    assert tmp_path.resolve() / "orchestrators" == workspace.root.resolve().parent
    assert [space] == list(workspaces.present())
    assert Path(workspace.root).name not in {".", ".."}


def test_deterministic_rrf_merge_behavior():
    both = a_candidate("both", vector=2, text=2)
    candidates = [a_candidate("words", text=1), both, a_candidate("near", vector=1)]

    scored = rrf(candidates, RrfPolicy(k=60), now=NOW)

    assert ["both", "near", "words"] == [
        entry.candidate.uid for entry in scored
    ]  # of equal ones, the smaller id first
    assert round(2 / 62 * 1.5, 6) == round(scored[0].score, 6)
    assert [entry.score for entry in scored] == [
        entry.score for entry in rrf(candidates[::-1], RrfPolicy(k=60), now=NOW)
    ]


def test_the_four_memories_are_scored_and_ordered_as_in_002():
    candidates = [
        a_candidate("d", importance=100, text=4, updated_at=NOW - timedelta(days=90)),
        a_candidate("c", importance=100, confidence=0.5, text=3, contested=True),
        a_candidate("b", importance=60, text=2, contested=True),
        a_candidate("a", importance=0, text=1),
    ]

    scored = rrf(candidates, RrfPolicy(k=1), now=NOW)

    assert [("a", 0.5), ("b", 0.426667), ("c", 0.2), ("d", 0.1)] == [
        (entry.candidate.uid, round(entry.score, 6)) for entry in scored
    ]


def test_deterministic_bulletin_truncation_prioritization():
    def item(uid, kind, summary):
        memory = a_memory(uid=uid, type=kind, summary=summary)
        return RecallItem(
            memory=memory,
            score=1.0,
            contradicted=False,
            explanation=Explanation(vector=None, text=None, graph=None, factors={}),
        )

    items = [
        item("fact-1", MemoryType.FACT, "A long fact about nothing at all. " * 3),
        item("fact-2", MemoryType.FACT, "Another long fact about nothing. " * 3),
        item("goal", MemoryType.GOAL, "Ship it."),
        item("todo", MemoryType.TODO, "Write."),
        item("decision", MemoryType.DECISION, "Use Rust"),
    ]

    bulletin = build_bulletin(items, limit_chars=180)

    assert (174, ("goal", "todo", "decision")) == (len(bulletin.rendered), bulletin.citations)
    assert bulletin.rendered.startswith("knowledge_summary:\n-\nactive_goals:\n- Ship it. [goal]\n")
    assert bulletin == build_bulletin(items, limit_chars=180)
    assert (124, "") == (
        len(build_bulletin(()).rendered),
        build_bulletin(items, limit_chars=8).rendered,
    )


@pytest.mark.parametrize(("most", "cited"), [(32, 32), (33, 33), (None, 40)])
def test_a_prompt_cites_at_most_so_many(most, cited):
    explanation = Explanation(vector=None, text=None, graph=None, factors={})
    items = [
        RecallItem(
            memory=a_memory(uid=f"m{n}", summary="Tea."),
            score=1.0,
            contradicted=False,
            explanation=explanation,
        )
        for n in range(40)
    ]

    assert cited == len(build_bulletin(items, citations_max=most).citations)
