"""The ingest folder over HTTP: dropped files become memories, once each, with a manifest."""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import pytest
from fakes import Faulty
from parts import with_intake

from graphmem.adapters.drop_folder import NotPlainError
from graphmem.adapters.workspaces import Workspaces
from graphmem.errors import Conflict, StoreUnavailable
from graphmem.intake.room import Intake
from graphmem.model.caller import Role
from graphmem.model.space import Space, SpaceKind
from graphmem.store.connection import Connection
from graphmem.store.memories import Memories

SPACE = "orchestrator:main"
LARGE_CHARS = 20


@pytest.fixture
def api(api):
    """A client over a service that waits for no file to settle."""
    return api.over(with_intake(api.house.graphmem))


def with_faulty_writing(api, failure, **options):
    """The same client over a service whose writes fail."""
    graphmem = api.house.graphmem
    return api.over(
        with_intake(graphmem, writing=Faulty(graphmem.writing, "write", failure, **options))
    )


def with_whole_writing(api):
    """The same client after a restart: all is well again."""
    return api.over(with_intake(api.house.graphmem))


@pytest.fixture
def workspace(api):
    space = Space(tenant=api.house.caller.tenant, kind=SpaceKind.ORCHESTRATOR, owner="main")
    found = Workspaces(api.house.graphmem.settings.server.data_dir).of(space)
    found.create()
    return found


def upload(api, filename="notes.txt", content="We ship on Friday.", space=SPACE):
    return api.post("/v1/ingest", {"space": space, "filename": filename, "content": content})


def scan(api):
    answer = api.post("/v1/ingest/scan", {"space": SPACE})
    assert 200 == answer.status_code, answer.get_json()
    return answer.get_json()


def memories(api):
    return api.get(f"/v1/memories?space={SPACE}&limit=200").get_json()["items"]


def a_memory(uid="d-1", **changes):
    values = {
        "memoryId": uid,
        "type": "Decision",
        "importance": 80,
        "content": "We use Go.",
        "summary": "Go",
    }
    return values | {"confidence": 0.9, "status": "active"} | changes


def an_edge(uid="e-1", from_uid="d-1", to_uid="d-2", **changes):
    values = {
        "edgeId": uid,
        "fromMemoryId": from_uid,
        "toMemoryId": to_uid,
        "edgeType": "RelatedTo",
        "weight": 0.4,
    }
    return values | changes


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def rejection(folder, name):
    return json.loads((folder / f"{name}.rejection.json").read_text("utf-8"))


def test_ingest_folder_lifecycle_of_a_text(api, workspace):
    path = workspace.ingest / "notes.txt"
    path.write_text("  We ship\n\non   Friday. ")
    key = hashlib.sha256(str(path).encode() + b"\0" + path.read_bytes())

    done = scan(api)

    manifest = {
        "status": "processed",
        "idempotencyKey": key.hexdigest(),
        "memoriesWritten": 1,
        "edgesWritten": 0,
    }
    assert (1, 0, 0) == (done["processed"], done["duplicate"], done["rejected"])
    assert [{"file": "notes.txt"} | manifest] == done["manifests"]
    assert manifest == json.loads((workspace.processed / "notes.txt.processed.json").read_text())
    assert (["notes.txt", "notes.txt.processed.json"], []) == (
        names(workspace.processed),
        names(workspace.ingest),
    )
    (memory,) = memories(api)
    key.update(b"\x000")
    expected = {
        "uid": f"ingest-{key.hexdigest()[:24]}",
        "type": "Observation",
        "content": "  We ship\n\non   Friday.",
        "summary": "We ship on Friday.",
        "importance": 50,
        "confidence": 0.6,
    }
    assert expected == {name: memory[name] for name in expected}
    source = memory["source"]
    assert ("ingest_file", str(workspace.processed / "notes.txt"), "extractor") == (
        source["type"],
        source["path"],
        source["captured_by"],
    )


def test_the_same_file_twice_is_one_memory_and_a_duplicate_manifest(api, workspace):
    for _ in range(2):
        (workspace.ingest / "notes.md").write_text("We ship on Friday.")
        done = scan(api)

    (manifest,) = done["manifests"]
    assert ("duplicate", "notes.md.1", 0) == (
        manifest["status"],
        manifest["file"],
        manifest["memoriesWritten"],
    )
    assert 1 == len(memories(api))
    assert [
        "notes.md",
        "notes.md.1",
        "notes.md.1.processed.json",
        "notes.md.processed.json",
    ] == names(workspace.processed)
    assert "duplicate" == upload(api, "notes.md").get_json()["status"]
    assert "processed" == upload(api, "notes.md", "We ship on Monday.").get_json()["status"]
    assert 2 == len(memories(api))


def test_a_moved_file_is_a_new_file_but_its_content_is_said_again(api):
    upload(api, "a.txt")

    assert "processed" == upload(api, "b.txt").get_json()["status"]
    (memory,) = memories(api)
    assert 2 == memory["mention_count"]


def test_a_json_file_brings_memories_and_edges_with_their_ids(api):
    content = {
        "memories": [
            a_memory(createdAt=1_700_000_000),
            a_memory(
                "d-2",
                content="We use Rust.",
                status="superseded",
                orchestratorId="main",
                createdAt="2025-01-01T00:00:00+02:00",
                updatedAt=1_740_000_000,
            ),
        ],
        "edges": [an_edge(reason="both are languages", createdAt="2025-01-01T00:00:00Z")],
    }

    manifest = upload(api, "facts.json", json.dumps(content)).get_json()

    assert ("processed", 2, 1) == (
        manifest["status"],
        manifest["memoriesWritten"],
        manifest["edgesWritten"],
    )
    (memory,) = memories(api)
    assert ("d-1", "Decision", "Go", "2023-11-14T22:13:20Z") == tuple(
        memory[name] for name in ("uid", "type", "summary", "created_at")
    )
    other = api.get(f"/v1/memories/d-2?space={SPACE}").get_json()
    assert ("superseded", "2024-12-31T22:00:00Z", "2025-02-19T21:20:00Z") == tuple(
        other[name] for name in ("status", "created_at", "updated_at")
    )
    (edge,) = api.get(f"/v1/edges?space={SPACE}").get_json()["items"]
    assert (
        "e-1",
        "d-1",
        "d-2",
        "RELATED_TO",
        0.4,
        "both are languages",
        "2025-01-01T00:00:00Z",
    ) == tuple(
        edge[name] for name in ("uid", "from", "to", "type", "weight", "reason", "created_at")
    )


def test_an_upsert_keeps_when_it_was_created_and_draws_edges_to_what_is_there(api):
    upload(api, "one.json", json.dumps({"memories": [a_memory(createdAt=1_700_000_000)]}))
    later = {"memories": [a_memory(content="We use Zig."), a_memory("d-2")], "edges": [an_edge()]}

    assert "processed" == upload(api, "two.json", json.dumps(later)).get_json()["status"]
    assert (
        1
        == upload(
            api, "three.json", json.dumps({"edges": [an_edge("e-2", "d-2", "d-1")]})
        ).get_json()["edgesWritten"]
    )
    memory = api.get(f"/v1/memories/d-1?space={SPACE}").get_json()
    assert ("We use Zig.", "2023-11-14T22:13:20Z") == (memory["content"], memory["created_at"])
    assert 2 == api.get(f"/v1/edges?space={SPACE}").get_json()["total"]


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        ("{", "invalid_json", "not JSON"),
        ("[]", "invalid_json", "file: "),
        ("[" * 100_000, "invalid_json", "not JSON"),
        ({"memories": [a_memory(type="Idea")]}, "invalid_json", "memories.0.type: InvalidNodeType"),
        ({"memories": [a_memory(status="gone")]}, "invalid_json", "InvalidStatus"),
        ({"memories": [a_memory(extra=1)]}, "invalid_json", "memories.0.extra"),
        ({"memories": [{"memoryId": "d-1"}]}, "invalid_json", "memories.0.content: MissingField"),
        ({"memories": [a_memory(), a_memory()]}, "invalid_json", "twice"),
        ({"edges": [an_edge(edgeType="Knows")]}, "invalid_json", "InvalidEdgeType"),
        ({"edges": [an_edge(createdAt="soon")]}, "invalid_json", "unix seconds"),
        (
            {"memories": [a_memory(orchestratorId="other")]},
            "scope_mismatch",
            "OrchestratorScopeMismatch",
        ),
        ({"memories": [a_memory(content=" ")]}, "empty_content", "memories.0.content"),
        ({"memories": [a_memory(summary=" ")]}, "empty_summary", "memories.0.summary"),
        (
            {"memories": [a_memory(), a_memory("d-2", importance=101)]},
            "repository_error",
            "ImportanceOutOfRange",
        ),
        ({"memories": [a_memory(confidence=1.1)]}, "repository_error", "ConfidenceOutOfRange"),
        ({"memories": [a_memory("d 1")]}, "repository_error", "uid"),
        (
            {"memories": [a_memory(), a_memory("d-2")], "edges": [an_edge(weight=2)]},
            "repository_error",
            "EdgeWeight",
        ),
        (
            {"memories": [a_memory()], "edges": [an_edge()]},
            "repository_error",
            "edges.0.to: There is no memory",
        ),
        (
            {"memories": [a_memory(content="password: hunter22hunter")]},
            "repository_error",
            "secret",
        ),
    ],
)
def test_a_bad_file_is_rejected_whole_with_its_reason(api, workspace, content, code, said):
    text = content if isinstance(content, str) else json.dumps(content)
    (workspace.ingest / "bad.json").write_text(text)

    done = scan(api)

    assert (0, 1) == (done["processed"], done["rejected"])
    manifest = rejection(workspace.rejected, "bad.json")
    assert [{"file": "bad.json"} | manifest] == done["manifests"]
    assert ("rejected", code) == (manifest["status"], manifest["error"]["code"])
    assert said in manifest["error"]["message"]
    assert str(workspace.ingest / "bad.json") == manifest["sourcePath"]
    assert 64 == len(manifest["idempotencyKey"])
    assert text == (workspace.rejected / "bad.json").read_text()
    assert ([], []) == (names(workspace.ingest), names(workspace.processed))
    assert [] == memories(api)


def test_blank_and_broken_texts_are_rejected(api, workspace):
    (workspace.ingest / "blank.txt").write_text(" \n ")
    (workspace.ingest / "latin.txt").write_bytes("Café".encode("latin-1"))

    scan(api)

    codes = {
        name: rejection(workspace.rejected, name)["error"]["code"]
        for name in ("blank.txt", "latin.txt")
    }
    assert {"blank.txt": "empty_content", "latin.txt": "unsupported_file_type"} == codes


def test_what_is_no_plain_file_of_a_known_kind_is_rejected_and_kept(api, workspace, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("Never read.")
    (workspace.ingest / "link.txt").symlink_to(secret)
    os.mkfifo(workspace.ingest / "pipe.txt")
    (workspace.ingest / ".hidden.txt").write_text("Hidden.")
    (workspace.ingest / "photo.png").write_bytes(b"png")
    (workspace.ingest / "a.txt.processed.json").write_text("{}")
    (workspace.ingest / "big.txt").write_bytes(b"a" * (26 * 1024 * 1024))
    (workspace.ingest / "folder").mkdir()

    done = scan(api)

    codes = {manifest["file"]: manifest["error"]["code"] for manifest in done["manifests"]}
    assert {
        "link.txt": "invalid_source_path",
        "pipe.txt": "invalid_source_path",
        "hidden.txt": "invalid_source_path",
        "photo.png": "unsupported_file_type",
        "a.txt.processed.json": "invalid_source_path",
        "big.txt": "file_too_large",
    } == codes
    assert (workspace.rejected / "link.txt").is_symlink()
    assert 26 * 1024 * 1024 == (workspace.rejected / "big.txt").stat().st_size
    assert "Never read." == secret.read_text()
    assert [] == memories(api)


@pytest.mark.parametrize(
    ("size", "code"), [(25 * 1024 * 1024, "invalid_json"), (25 * 1024 * 1024 + 1, "file_too_large")]
)
def test_a_file_of_25_megabytes_is_not_too_large(api, workspace, size, code):
    (workspace.ingest / "edge.json").write_bytes(b"[" + b" " * (size - 2) + b"]")

    scan(api)

    assert code == rejection(workspace.rejected, "edge.json")["error"]["code"]


def test_an_unreadable_file_is_rejected(api, workspace):
    (workspace.ingest / "closed.txt").write_text("Closed.")

    def refused(_):
        message = "The file cannot be read (PermissionError)."
        raise NotPlainError(message)

    scan(api.over(with_intake(api.house.graphmem, read=refused)))

    assert "PermissionError" in rejection(workspace.rejected, "closed.txt")["error"]["message"]


def test_a_file_that_is_being_written_waits(api, workspace):
    script = (
        "import sys, time; f = open(sys.argv[1], 'w');"
        " f.write('Half'); f.flush(); print(flush=True); input()"
    )
    path = workspace.ingest / "slow.txt"
    writer = subprocess.Popen(
        (sys.executable, "-c", script, str(path)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    writer.stdout.readline()

    assert (["slow.txt"], 0) == ((done := scan(api))["waiting"], done["processed"])
    assert 409 == upload(api, "slow.txt").status_code

    writer.communicate(b"\n", timeout=10)
    assert 1 == scan(api)["processed"]


@pytest.mark.parametrize(
    "filename",
    ["../up.txt", "/etc/passwd.txt", "..", "a\\b.txt", ".hidden.txt", "a" * 250 + ".txt"],
)
def test_an_upload_whose_name_is_no_plain_one_is_rejected_and_kept(api, workspace, filename):
    answer = upload(api, filename)

    assert (200, "rejected", "invalid_source_path", filename) == (
        answer.status_code,
        answer.get_json()["status"],
        answer.get_json()["error"]["code"],
        answer.get_json()["sourcePath"],
    )
    kept = answer.get_json()["file"]
    assert "We ship on Friday." == (workspace.rejected / kept).read_text()
    assert not (workspace.memory.parent / "up.txt").exists()


def test_an_upload_is_for_writers_of_an_orchestrator(api):
    assert 422 == upload(api, space="user:ada").status_code
    assert 403 == upload(api.with_key(Role.READER, "*")).status_code
    assert 403 == upload(api.with_key(Role.WRITER, "user:*")).status_code
    assert (
        422
        == api.post(
            "/v1/ingest", {"space": SPACE, "filename": "a.txt", "content": "A.", "more": 1}
        ).status_code
    )


def test_a_long_text_is_split_on_paragraphs_into_parts_of_a_document(api):
    paragraphs = [f"Paragraph {number} speaks of topic {number}. " * 20 for number in range(60)]

    manifest = upload(api, "long.md", "\n\n".join(paragraphs)).get_json()

    found = memories(api)
    assert manifest["memoriesWritten"] == len(found)
    (document,) = [
        memory for memory in found if memory["content"].startswith("long.md, a document of ")
    ]
    edges = api.get(f"/v1/edges?space={SPACE}&type=PART_OF&limit=200").get_json()["items"]
    assert {memory["uid"] for memory in found} - {document["uid"]} == {
        edge["from"] for edge in edges
    }
    assert {document["uid"]} == {edge["to"] for edge in edges}
    words = " ".join(paragraphs).split()
    parts = [memory["content"] for memory in found if memory is not document]
    assert sorted(words) == sorted(word for part in parts for word in part.split())
    assert all(len(part) <= 4_000 and part.startswith("Paragraph") for part in parts)


@pytest.mark.parametrize(("characters", "count"), [(32_000, 1), (32_001, 10)])
def test_a_text_of_32_000_characters_is_one_memory(api, characters, count):
    words = " ".join(map(str, range(10_000)))
    upload(api, "edge.txt", words[: characters - 1].replace(" ", "-", 1) + "x")

    assert count == len(memories(api))


def test_a_restart_in_the_middle_finishes_what_was_on_its_way(api, workspace):
    (workspace.ingest / "a.txt").write_text("First of two.")
    (workspace.ingest / "b.json").write_text(json.dumps({"memories": [a_memory()]}))
    dying = with_faulty_writing(api, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        dying.house.graphmem.of(Intake).ingest.scan(the_space(api), caller=api.house.caller)
    api = with_whole_writing(api)
    assert (["a.txt", "b.json"], []) == (names(workspace.processed), names(workspace.ingest))

    done = scan(api)

    assert [("a.txt", "processed", 1), ("b.json", "processed", 1)] == [
        (manifest["file"], manifest["status"], manifest["memoriesWritten"])
        for manifest in done["manifests"]
    ]
    assert 2 == len(memories(api))
    assert [] == scan(api)["manifests"]


def test_a_restart_after_the_write_leaves_one_memory_and_its_manifest(api, workspace):
    (workspace.ingest / "a.txt").write_text("Written, but no manifest yet.")
    dying = with_faulty_writing(api, KeyboardInterrupt(), after=True)
    with pytest.raises(KeyboardInterrupt):
        dying.house.graphmem.of(Intake).ingest.scan(the_space(api), caller=api.house.caller)
    api = with_whole_writing(api)
    assert 1 == len(memories(api))

    assert ["processed"] == [manifest["status"] for manifest in scan(api)["manifests"]]
    assert 1 == len(memories(api))


def test_a_file_that_was_copied_but_not_removed_is_taken_in_once(api, workspace):
    content = "On two file systems."
    (workspace.ingest / "half.txt").write_text(content)

    def dies(_source, _target):
        raise KeyboardInterrupt

    dying = api.over(with_intake(api.house.graphmem, move=dies))
    with pytest.raises(KeyboardInterrupt):
        dying.house.graphmem.of(Intake).ingest.scan(the_space(api), caller=api.house.caller)
    api = with_whole_writing(api)
    (workspace.processed / "half.txt").write_text(
        content
    )  # the copy was whole, the source still there

    done = scan(api)

    assert ["processed", "duplicate"] == [manifest["status"] for manifest in done["manifests"]]
    assert 1 == len(memories(api))


def test_a_store_that_is_away_loses_no_file(api, workspace):
    (workspace.ingest / "a.txt").write_text("While it was away.")
    with patch.object(Connection, "write", side_effect=StoreUnavailable()):
        answer = api.post("/v1/ingest/scan", {"space": SPACE})
    assert (503, "store_unavailable") == (answer.status_code, answer.get_json()["error"]["code"])

    assert 1 == scan(api)["processed"]
    assert 1 == len(memories(api))


def test_two_scans_at_once_take_each_file_in_once(api, workspace):
    for number in range(40):
        (workspace.ingest / f"{number:02}.txt").write_text(f"File number {number}.")
    with ThreadPoolExecutor(2) as pool:
        done = list(
            pool.map(
                lambda _: api.house.graphmem.of(Intake).ingest.scan(
                    the_space(api), caller=api.house.caller
                ),
                range(2),
            )
        )

    assert 40 == sum(each.count("processed") for each in done)
    assert 40 == len(memories(api))
    assert 80 == len(names(workspace.processed))


def test_the_job_takes_in_what_was_dropped_for_any_orchestrator(api, workspace):
    (workspace.ingest / "a.txt").write_text("Dropped for the job.")

    run = api.house.graphmem.runner.run("ingest")

    assert ("succeeded", 1) == (run.status.value, run.counts["processed"])
    assert 1 == len(memories(api))
    lines = [json.loads(line) for line in workspace.log.read_text("utf-8").splitlines()]
    assert [
        "memory.ingest.processed",
        "memory.worker.bootstrap_complete",
        "memory.worker.heartbeat",
    ] == [line["event"] for line in lines]
    assert all({"timestamp", "event", "orchestrator_id"} <= set(line) for line in lines)


def the_space(api):
    return Space(tenant=api.house.caller.tenant, kind=SpaceKind.ORCHESTRATOR, owner="main")


@pytest.mark.parametrize("filename", ["processed", "rejected", "/ingest", "/logs", "logs"])
def test_an_upload_moves_no_folder_away(api, workspace, filename):
    upload(api, "kept.txt")

    answer = upload(api, filename)

    assert (200, "rejected") == (answer.status_code, answer.get_json()["status"])
    assert ["kept.txt", "kept.txt.processed.json"] == names(workspace.processed)
    assert "We ship on Friday." == (workspace.rejected / answer.get_json()["file"]).read_text()
    assert "processed" == upload(api, "later.txt", "Later.").get_json()["status"]


@pytest.mark.parametrize(
    "content",
    [
        '{"memories": [{"importance": ' + "9" * 5_000 + "}]}",
        '{"\\ud800": 1}',
        '{"memories": [{"memoryId": "\\ud800"}]}',
        json.dumps({"memories": [a_memory("m", content="\ud800")]}),
        json.dumps(
            {"memories": [a_memory(), a_memory("d-2")], "edges": [an_edge(reason="\ud800")]}
        ),
        json.dumps({"memories": [a_memory(createdAt=1e300)]}),
        json.dumps({"memories": [a_memory(confidence=float("nan"))]}),
    ],
)
def test_a_hostile_file_is_rejected_and_holds_up_no_other(api, workspace, content):
    (workspace.ingest / "bad.json").write_text(content)
    (workspace.ingest / "good.txt").write_text("All is well.")

    done = scan(api)

    assert (1, 1) == (done["processed"], done["rejected"])
    assert ["All is well."] == [memory["content"] for memory in memories(api)]


def test_names_that_cannot_be_kept_are_rejected_under_others(api, workspace):
    for name in (b"\xff.txt", b"n" * 240 + b".txt"):
        (workspace.ingest / os.fsdecode(name)).write_text("Named oddly.")
    (workspace.ingest / "good.txt").write_text("All is well.")

    done = scan(api)

    assert (1, 2) == (done["processed"], done["rejected"])
    assert [] == names(workspace.ingest)
    assert 422 == upload(api, "\udcff.txt").status_code


def test_a_scan_leaves_alone_what_another_process_has_begun(api, workspace):
    for number in range(70):  # more than are on their way together
        (workspace.ingest / f"{number:02}.txt").write_text(f"File number {number}.")
    calls = []

    def another_fails(_):
        calls.append(1)
        if 2 == len(calls):
            other = with_faulty_writing(api, StoreUnavailable())
            assert 503 == upload(other, "other.txt", "Of another process.").status_code
            with_whole_writing(api)

    api.house.graphmem.of(Intake).ingest.scan(
        the_space(api), caller=api.house.caller, watch=another_fails
    )
    scan(api)

    assert 71 == len(memories(api))
    assert 142 == len(names(workspace.processed))


def test_what_the_store_refuses_without_a_reason_is_rejected_at_the_third_try(api, workspace):
    (workspace.ingest / "bad.txt").write_text("Takes too long.")
    outcomes = []
    for _ in range(4):
        refusing = with_faulty_writing(api, StoreUnavailable("The query took too long."))
        answer = refusing.post("/v1/ingest/scan", {"space": SPACE})
        outcomes.append((answer.status_code, (answer.get_json().get("rejected"))))
    api = with_whole_writing(api)

    assert [(503, None), (200, 0), (200, 0), (200, 1)] == outcomes
    assert "3 times" in rejection(workspace.rejected, "bad.txt")["error"]["message"]
    assert [] == scan(api)["manifests"]


def test_another_version_of_a_long_document_is_taken_in_too(api):
    paragraphs = [f"Paragraph {number} speaks of topic {number}. " * 20 for number in range(60)]
    upload(api, "long.md", "\n\n".join(paragraphs))
    paragraphs[30] = paragraphs[30].replace("topic 30", "topic thirty", 1)

    manifest = upload(api, "long.md", "\n\n".join(paragraphs)).get_json()

    assert "processed" == manifest["status"]
    documents = [
        each for each in memories(api) if each["content"].startswith("long.md, a document of ")
    ]
    assert 2 == len(documents)


def test_a_memory_that_is_not_active_can_be_brought_again(api):
    for number in range(2):
        content = {
            "memories": [a_memory("old", status="superseded", content=f"Old text {number}.")]
        }
        assert (
            "processed" == upload(api, f"{number}.json", json.dumps(content)).get_json()["status"]
        )

    memory = api.get(f"/v1/memories/old?space={SPACE}").get_json()
    assert ("Old text 1.", "superseded") == (memory["content"], memory["status"])
    active = json.dumps({"memories": [a_memory("old", content="Active again.")]})
    assert "processed" == upload(api, "active.json", active).get_json()["status"]
    memory = api.get(f"/v1/memories/old?space={SPACE}").get_json()
    assert ("Active again.", "active", None) == (
        memory["content"],
        memory["status"],
        memory["valid_until"],
    )


def test_an_upsert_leaves_superseded_what_has_an_active_successor(api):
    upload(api, "a.json", json.dumps({"memories": [a_memory("old")]}))
    api.post(
        "/v1/memories",
        {"space": SPACE, "content": "We use Rust.", "uid": "new", "updates": ["old"]},
    )
    body = {"memories": [a_memory("old", content="We used Go.", updatedAt=1_740_000_000)]}

    assert "processed" == upload(api, "b.json", json.dumps(body)).get_json()["status"]

    memory = api.get(f"/v1/memories/old?space={SPACE}").get_json()
    assert ("We used Go.", "superseded", "2025-02-19T21:20:00Z") == (
        memory["content"],
        memory["status"],
        memory["updated_at"],
    )
    assert "2026-03-01T09:30:00Z" == memory["created_at"]
    api.post(f"/v1/memories/new/retract?space={SPACE}", {})
    body["memories"][0]["content"] = "We use Go again."
    upload(api, "c.json", json.dumps(body))
    assert "active" == api.get(f"/v1/memories/old?space={SPACE}").get_json()["status"]


def test_a_file_that_names_a_retracted_id_is_refused_by_its_name(api):
    upload(api, "a.json", json.dumps({"memories": [a_memory("gone"), a_memory("d-2")]}))
    api.post(f"/v1/memories/gone/retract?space={SPACE}", {})
    body = {"memories": [a_memory("gone", content="Back?"), a_memory("d-3", content="New.")]}

    error = upload(api, "b.json", json.dumps(body)).get_json()["error"]

    assert "repository_error" == error["code"]
    assert "gone" in error["message"]
    assert 404 == api.get(f"/v1/memories/d-3?space={SPACE}").status_code


def test_a_file_takes_the_three_statuses_of_002(api):
    body = json.dumps({"memories": [a_memory(status="archived")]})

    assert (
        "InvalidStatus"
        in upload(api, content=body, filename="a.json").get_json()["error"]["message"]
    )


def test_a_file_of_edges_alone_is_known_again(api):
    upload(api, "nodes.json", json.dumps({"memories": [a_memory(), a_memory("d-2")]}))
    edges = json.dumps({"edges": [an_edge()]})

    assert ["processed", "duplicate", "duplicate"] == [
        upload(api, "edges.json", edges).get_json()["status"] for _ in range(3)
    ]


def test_only_an_orchestrator_has_an_ingest_folder(api, workspace):
    space = "user:main"
    (workspace.ingest / "a.txt").write_text("For the orchestrator alone.")

    assert 422 == api.post("/v1/ingest/scan", {"space": space}).status_code
    run = api.post("/v1/jobs/ingest/runs", {"space": space}).get_json()["run"]

    assert "failed" == run["status"]
    assert ["a.txt"] == names(workspace.ingest)
    assert 0 == api.get(f"/v1/memories?space={space}").get_json()["total"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/ingest/scan", {}),
        ("/v1/jobs/ingest/runs", {}),
        ("/v1/memories", {"content": "Tea."}),
        ("/v1/bulletins", {"message_id": "m", "query": "tea"}),
    ],
)
def test_an_orchestrator_has_no_personas(api, path, body):
    answer = api.post(path, {"space": "orchestrator:main/coach"} | body)

    problems = answer.get_json()["error"]["fields"]
    assert (422, {"space": ["An orchestrator space has no persona."]}) == (
        answer.status_code,
        problems,
    )


def test_a_long_name_has_a_folder_too_and_the_job_finds_it(api):
    space = "orchestrator:" + "\u540d" * 128
    assert "processed" == upload(api, space=space).get_json()["status"]
    folder = next(
        path
        for path in (api.house.graphmem.settings.server.data_dir / "tenants").glob(
            "*/orchestrators/*/memory"
        )
    )
    (folder / "ingest" / "more.txt").write_text("More.")

    assert 1 == api.house.graphmem.runner.run("ingest").counts["processed"]
    assert 2 == api.get(f"/v1/memories?space={space}").get_json()["total"]


@pytest.fixture
def small_parts(api):
    """What counts as large: a few characters."""
    return api.over(with_intake(api.house.graphmem, chars=LARGE_CHARS))


def large(edges=()):
    found = [a_memory(f"d-{number}", content=f"Decision number {number}.") for number in range(4)]
    return json.dumps({"memories": found, "edges": list(edges)})


def test_a_large_file_is_written_in_parts(api, small_parts):
    manifest = upload(api, "large.json", large([an_edge(from_uid="d-0", to_uid="d-3")])).get_json()

    assert ("processed", 4, 1) == (
        manifest["status"],
        manifest["memoriesWritten"],
        manifest["edgesWritten"],
    )
    assert 4 == len(memories(api))
    assert 1 == api.get(f"/v1/edges?space={SPACE}").get_json()["total"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (large([an_edge(from_uid="d-0", to_uid="gone")]), "edges.0.to"),
        (large([an_edge(from_uid="d-0", to_uid="d-1", weight=7)]), "EdgeWeightOutOfRange"),
        (large([an_edge(from_uid="d-0", to_uid="d-0")]), "edges.0.to"),
        (large().replace("Decision number 3.", "password: hunter22hunter"), "secret"),
        (large().replace('"importance": 80', '"importance": 101'), "ImportanceOutOfRange"),
    ],
)
def test_a_large_file_is_checked_whole_before_its_first_part_is_written(
    api, small_parts, content, said
):
    answer = upload(api, "large.json", content).get_json()

    assert ("rejected", "repository_error") == (answer["status"], answer["error"]["code"])
    assert said in answer["error"]["message"]
    assert [] == memories(api)


def test_a_large_file_goes_on_where_a_restart_interrupted_it(api, small_parts):
    writing = Faulty(api.house.graphmem.writing, "write", KeyboardInterrupt(), at=3)
    dying = with_intake(api.house.graphmem, writing=writing, chars=LARGE_CHARS)
    with pytest.raises(KeyboardInterrupt):
        dying.of(Intake).ingest.upload(
            the_space(api), "large.json", large(), caller=api.house.caller
        )
    assert 2 == len(memories(api))

    assert ["processed"] == [manifest["status"] for manifest in scan(api)["manifests"]]
    assert 4 == len(memories(api))


def test_a_large_file_that_failed_in_the_middle_is_no_duplicate_when_it_comes_again(
    api, small_parts
):
    writing = Faulty(api.house.graphmem.writing, "write", Conflict(), at=3)
    refusing = api.over(with_intake(api.house.graphmem, writing=writing, chars=LARGE_CHARS))
    assert "rejected" == upload(refusing, "large.json", large()).get_json()["status"]

    api = small_parts.over(small_parts.house.graphmem)
    assert "processed" == upload(api, "large.json", large()).get_json()["status"]
    assert 4 == len(memories(api))


def test_a_large_document_is_joined_with_its_parts(api, small_parts):
    text = "\n\n".join(
        f"Paragraph {number} speaks of topic {number}. " * 20 for number in range(60)
    )

    manifest = upload(api, "long.md", text).get_json()

    parts = api.get(f"/v1/edges?space={SPACE}&type=PART_OF").get_json()["total"]
    assert len(memories(api)) - 1 == parts
    assert (parts + 1, parts) == (manifest["memoriesWritten"], manifest["edgesWritten"])


def test_a_version_that_is_saved_while_the_file_is_read_is_the_one_that_is_taken_in(api, workspace):
    path = workspace.ingest / "notes.md"
    path.write_text("The old version.")
    known = Memories.known_claims

    def saved_meanwhile(*arguments):
        (workspace.memory / "new").write_text("The new version.")
        (workspace.memory / "new").replace(path)
        return known(*arguments)

    with patch.object(Memories, "known_claims", saved_meanwhile):
        manifest = scan(api)["manifests"][0]

    key = hashlib.sha256(str(path).encode() + b"\0The new version.").hexdigest()
    assert ("processed", key) == (manifest["status"], manifest["idempotencyKey"])
    assert ["The new version."] == [memory["content"] for memory in memories(api)]
