"""The command line over a real database: what was said, and files of every kind."""

import json

import pytest
from builders import a_request
from click.testing import CliRunner

from graphmem.cli import cli
from graphmem.conversations.keeper import ConversationKeeper
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.source import Source
from graphmem.model.space import Space, SpaceKind


@pytest.fixture
def run(house, neo4j_address, monkeypatch, tmp_path):
    """Runs a command for the tenant of the test, and gives what it prints as JSON."""
    uri, user, password = neo4j_address
    settings = {"NEO4J_URI": uri, "NEO4J_USER": user, "NEO4J_PASSWORD": password}
    for name, value in (settings | {"EMBEDDER": "hash", "DATA_DIR": str(tmp_path)}).items():
        monkeypatch.setenv(f"GRAPHMEM_{name}", value)

    def command(*arguments, output=True):
        tenant = ("--tenant", house.caller.tenant)
        form = ("-o", "json") if output else ()
        done = CliRunner().invoke(cli, [*arguments, *tenant, *form], catch_exceptions=False)
        assert 0 == done.exit_code, done.output
        return json.loads(done.stdout) if output else done.stdout

    return command


def test_conversations_are_listed_and_shown(house, run):
    space = Space(tenant=house.caller.tenant, kind=SpaceKind.USER, owner="ada")
    sayings = [Saying(uid="", role=TurnRole.USER, content=text) for text in ("One.", "Two.")]
    house.graphmem.of(ConversationKeeper).append(space, "a/b", sayings, caller=house.caller)
    house.write(a_request("Three.", source=Source(conversation_id="a/b")))

    (listed,) = run("conversations", "list", "user:ada")
    newest = run("conversations", "show", "user:ada", "a/b", "--limit", "2")
    before = run("conversations", "show", "user:ada", "a/b", "--before", newest[0]["uid"])

    assert ("a/b", 3) == (listed["id"], listed["turns"])
    assert ["Two.", "Three."] == [turn["content"] for turn in newest]
    assert ["One."] == [turn["content"] for turn in before]


def test_a_file_with_a_byte_order_mark_is_imported(house, run, tmp_path):
    house.write(a_request("Ada likes tea.", source=Source(conversation_id="chat")))
    exported = run("export", "user:ada", output=False)
    path = tmp_path / "ada.jsonl"
    path.write_text(exported, encoding="utf-8-sig")

    (counts,) = run("import", "user:bob", str(path))

    assert {"created": 1, "conversations": 1, "turns": 1} == counts
    assert exported == run("export", "user:bob", output=False)
