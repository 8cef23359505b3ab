"""No side door: only the gateway opens a write transaction on memories or records."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRITES = {"write", "run", "run_statement", "run_named"}
# what touches no memory, edge, entity or record of a room, besides the gateway itself
INFRASTRUCTURE = {
    "graphmem/gateway/gateway.py",  # operations
    "graphmem/store/bulletins.py",  # snapshots
    "graphmem/store/idempotency.py",  # retry keys
    "graphmem/store/forgetting.py",  # what is kept for a while
    "graphmem/store/job_runs.py",  # records of jobs
    "graphmem/store/keys.py",
    "graphmem/store/leases.py",
    "graphmem/gateway/migration_steps.py",
    "graphmem/gateway/turn_migration.py",
    "graphmem/store/migrations.py",
    "graphmem/store/secret.py",  # what signs cursors
    "graphmem/store/spaces.py",  # policies
    "graphmem/store/traces.py",  # traces and the journal of recalls
    "graphmem/store/upkeep.py",  # marks of jobs
    "graphmem/store/vectors.py",  # vectors and their slot
}


def write_calls(source):
    """The lines of a module that open a write transaction: a call on something named connection."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in WRITES
        and "connection" in ast.unparse(node.func.value).rpartition(".")[2].lower()
    ]


def modules():
    for package in ("graphmem", "api", "jobs"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.name != "connection.py":
                yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def test_only_the_gateway_and_infrastructure_open_write_transactions():
    assert INFRASTRUCTURE == {name for name, source in modules() if write_calls(source)}


def test_another_caller_that_writes_is_found():
    source = (
        "def sneak(self):\n    self._connection.write(lambda t: t.run('writes.save_memories'))\n"
    )

    assert [2] == write_calls(source)


def test_what_upkeep_writes_past_the_gateway_is_marks_alone():
    source = (ROOT / "graphmem/store/upkeep.py").read_text("utf-8")
    named = [
        ast.literal_eval(node.args[0])
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "self._connection.run"
    ]

    assert ["upkeep.mark_spaces", "upkeep.mark_memories"] == named
