"""One more room, which lives in the tests: no file of the house knows it."""

from dataclasses import dataclass

import pytest
from notes_room.room import NotePolicy, NoteService
from notes_room.room import build as notes
from notes_room.views import blueprint

from api.app import BLUEPRINTS, create_app
from graphmem.bootstrap import ROOMS, build
from graphmem.errors import SettingsError
from graphmem.gateway.status import ChangeStatus
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.model.caller import Caller, Role
from graphmem.model.memory import Status
from graphmem.model.policy.overrides import override_problems
from graphmem.model.space import parse_space
from graphmem.settings import load_settings
from jobs.schedule import scheduled


@dataclass
class Client:
    """A client of the service with the room."""

    app: object
    key: str

    def call(self, method, path, body=None):
        answer = self.app.test_client().open(
            path, method=method, json=body, headers={"X-API-Key": self.key}
        )
        return answer.status_code, answer.get_json()


@pytest.fixture(scope="module")
def apps():
    return {}


@pytest.fixture
def built(house, connection, settings):
    """The service with one more room."""
    graphmem = build(
        settings,
        connection,
        clock=house.clock,
        embedder=house.embedder,
        rooms=(*ROOMS, notes),
    )
    graphmem.prepare()
    yield graphmem
    graphmem.journal.close()
    graphmem.events.close()
    house.rows("MATCH (s:Schema {name: 'notes'}) DELETE s")


@pytest.fixture
def client(built, house, apps):
    """An admin of the tenant over HTTP."""
    if "app" not in apps:
        apps["app"] = create_app(built, blueprints=(*BLUEPRINTS, blueprint))
    apps["app"].extensions["graphmem"] = built
    return client_of(built, house.caller.tenant, apps["app"])


def client_of(built, tenant, app, *spaces):
    made = built.keys.create(name="t", role=Role.ADMIN, tenant=tenant, spaces=spaces or ("*",))
    return Client(app=app, key=str(made["key"]))


def add(client, uid, text="The kettle is blue.", space="user:ada"):
    return client.call("POST", "/v1/notes", {"space": space, "uid": uid, "text": text})


def ada(house):
    return parse_space("user:ada", tenant=house.caller.tenant)


def retract(built, house, uid="note-n1", status=Status.RETRACTED):
    key = f"{ada(house).key}|{uid}"
    memory = built.memories.by_key([key])[key]
    operation = ChangeStatus(memory=memory, status=status, reason=None)
    return built.gateway.execute(operation, house.caller)


def test_a_note_and_its_kept_memory_are_written_together_and_traced(client, built, house):
    status, body = add(client, "n1")

    key = f"{ada(house).key}|note-n1"
    memory = built.memories.by_key([key])[key]
    _, trace = client.call("GET", f"/v1/traces/{body['trace_id']}")
    assert (201, "notes", {"note": "note-n1"}) == (status, memory.kept_by, memory.native)
    assert ("note", [{"uid": "n1", "outcome": "note_added"}]) == (trace["kind"], trace["events"])


def test_a_dry_run_and_a_refusal_leave_nothing(client, built, house):
    built.of(NoteService).add(ada(house), "n1", "Dry.", house.caller, dry_run=True)
    status, body = add(client, "n2", text="  ")

    assert (422, ["text"]) == (status, list(body["error"]["fields"]))
    assert 0 == client.call("GET", "/v1/notes?space=user:ada")[1]["total"]
    assert 0 == client.call("GET", "/v1/memories?space=user:ada")[1]["total"]


def test_lists_are_paged_with_signed_cursors_and_totals(client):
    for number in range(5):
        add(client, f"n{number}", text=f"Note {number}.")

    seen, cursor = [], ""
    while cursor is not None:
        _, page = client.call("GET", f"/v1/notes?space=user:ada&limit=2{cursor}")
        seen += [note["uid"] for note in page["items"]]
        assert 5 == page["total"]
        cursor = f"&cursor={page['next_cursor']}" if page["next_cursor"] else None

    assert [f"n{number}" for number in range(5)] == seen
    assert 422 == client.call("GET", "/v1/notes?space=user:ada&cursor=WyJhIl0.forged")[0]


def test_the_wall_holds_for_its_routes(client, built, house, apps):
    add(client, "n1")
    stranger = client_of(built, house.caller.tenant, apps["app"], "user:bob")
    elsewhere = client_of(built, f"{house.caller.tenant}-2", apps["app"])

    assert 403 == stranger.call("GET", "/v1/notes?space=user:ada")[0]
    assert 403 == add(stranger, "n2")[0]
    assert 0 == elsewhere.call("GET", "/v1/notes?space=user:ada")[1]["total"]
    assert 1 == client.call("GET", "/v1/notes?space=user:ada")[1]["total"]


def test_its_operations_are_authorised_by_the_gateway(built, house):
    reader = Caller(key_id="r", tenant=house.caller.tenant, role=Role.READER, spaces=("*",))

    with pytest.raises(Exception, match="may not"):
        built.of(NoteService).add(ada(house), "n1", "Text.", reader)


def test_it_reacts_in_the_operation_in_which_its_memory_leaves(client, built, house):
    add(client, "n1")

    done = retract(built, house)

    (note,) = client.call("GET", "/v1/notes?space=user:ada")[1]["items"]
    _, trace = client.call("GET", f"/v1/traces/{done.trace_id}")
    assert note["is_stale"]
    assert ["retracted", "note_stale"] == [event["outcome"] for event in trace["events"]]


def test_openapi_knows_its_routes(client):
    _, document = client.call("GET", "/openapi.json")

    assert {"get", "post"} <= document["paths"]["/v1/notes"].keys()


def test_its_job_has_a_schedule_runs_and_is_listed(client, built):
    record = built.runner.run("tidy_notes", by_hand=True)

    planned = {job.name: job.schedule.text for job in scheduled(built.runner.jobs)}
    assert ({"seen": 1, "spaces": 0}, "every 30 minutes") == (
        record.counts,
        planned["tidy_notes"],
    )
    assert "tidy_notes" in [job["name"] for job in client.call("GET", "/v1/jobs")[1]["items"]]


def test_retention_forgets_what_it_says_and_a_dry_run_only_counts(client, built, house):
    add(client, "n1")
    retract(built, house)
    house.clock.advance(days=400)

    dry = built.runner.run("prune_traces", dry_run=True).counts["notes_forgotten"]
    wet = built.runner.run("prune_traces").counts["notes_forgotten"]

    assert (1, 1) == (dry, wet)
    assert 0 == client.call("GET", "/v1/notes?space=user:ada")[1]["total"]


def test_its_policy_has_bounds_and_is_set_for_a_space(client, built, house):
    ok, _ = client.call(
        "PUT", "/v1/spaces/policy", {"space": "user:ada", "overrides": {"notes.keep_days": 7}}
    )
    wrong, body = client.call(
        "PUT", "/v1/spaces/policy", {"space": "user:ada", "overrides": {"notes.keep_days": 366}}
    )

    assert (200, 422) == (ok, wrong)
    assert ["overrides.notes.keep_days"] == list(body["error"]["fields"])
    assert 7 == built.policies.of(ada(house)).rooms["notes"].keep_days
    assert {"notes.keep_days"} == set(override_problems({"notes.keep_days": 7}))


def test_the_environment_sets_its_numbers_for_all_spaces(house, connection, tmp_path):
    environment = {
        "GRAPHMEM_EMBEDDER": "hash",
        "GRAPHMEM_DATA_DIR": str(tmp_path),
        "GRAPHMEM__POLICY__NOTES__KEEP_DAYS": "9",
    }
    settings = load_settings(environment, rooms={"notes": NotePolicy()})

    graphmem = build(
        settings, connection, clock=house.clock, embedder=house.embedder, rooms=(*ROOMS, notes)
    )

    assert (
        9,
        "environment: GRAPHMEM__POLICY__NOTES__KEEP_DAYS",
    ) == (
        graphmem.policies.of(ada(house)).rooms["notes"].keep_days,
        graphmem.policies.layer(ada(house)).origins["notes.keep_days"],
    )
    graphmem.journal.close()
    graphmem.events.close()


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("NOTES__KEEP_DAYS", "366", "policy.notes.keep_days"),
        ("NOTE__KEEP_DAYS", "9", "policy.note.keep_days"),
    ],
)
def test_a_number_out_of_its_bounds_or_of_no_room_is_named(name, value, problem):
    with pytest.raises(SettingsError, match=problem):
        load_settings({f"GRAPHMEM__POLICY__{name}": value}, rooms={"notes": NotePolicy()})


def test_export_and_import_carry_it(client, built, house):
    add(client, "n1")
    lines = list(export_lines(built.transfers, ada(house)))
    bob = parse_space("user:bob", tenant=house.caller.tenant)

    *_, done = import_lines(built.transfers, lines, bob, caller=house.caller)

    assert ({"created": 1, "notes": 1}, []) == (dict(done.counts), done.problems)
    assert 1 == client.call("GET", "/v1/notes?space=user:bob")[1]["total"]


def test_its_migration_is_counted_apart(built):
    assert {"notes": 1} == built.prepare().rooms
    built.warm_up()
