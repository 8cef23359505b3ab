"""The command line over a real database: what was said, and files of every kind."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from builders import a_request
from click.testing import CliRunner
from corpora import a_corpus, documents

from graphmem.cli import cli
from graphmem.companion.keeper import CompanionKeeper
from graphmem.conversations.keeper import ConversationKeeper
from graphmem.corpus.folder import write_files
from graphmem.corpus.git_folder import commits_of
from graphmem.errors import InvalidInput, NotFound
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.corpus import Document
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


def test_a_space_moves_through_a_folder_as_the_docs_say(house, run, tmp_path, monkeypatch):
    house.write(a_request("Ada likes tea.", source=Source(conversation_id="chat")))
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs/lifecycle.md").read_text("utf-8")
    section = text.partition("## Moving in with a folder")[2].partition("\n## ")[0]
    out, back = re.findall(r"^graphmem (lifecycle .+)$", section, re.MULTILINE)

    (written,) = run(*out.split())
    (counts,) = run(*back.split())

    assert {"memory": 1, "conversation": 1, "turn": 1} == written
    assert {"created": 1, "conversations": 1, "turns": 1} == counts
    assert [{"unchanged": 3}] == run(*back.split())


def test_what_an_import_of_a_folder_leaves_out_is_said_with_the_exit_code(run, house, tmp_path):
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts/bad.md").write_text("No front matter.")
    (tmp_path / "facts/good.md").write_text("---\nid: good\n---\nTea.\n")
    command = ["lifecycle", "import", "user:ada", str(tmp_path)]
    done = CliRunner().invoke(
        cli, [*command, "--tenant", house.caller.tenant, "-o", "json"], catch_exceptions=False
    )

    assert 1 == done.exit_code
    assert [{"created": 1, "failed": 1}] == json.loads(done.stdout)
    assert "facts/bad.md: front matter: Is not there." in done.stderr


@pytest.mark.parametrize("command", ["export", "import"])
def test_a_folder_that_cannot_be_one_is_named(run, tmp_path, command):
    (tmp_path / "file").write_text("A file.")
    with pytest.raises(InvalidInput) as error:
        run("lifecycle", command, "user:ada", str(tmp_path / "file"))
    assert {"folder"} == set(error.value.fields)


@pytest.fixture
def coach(house):
    """A persona of the tenant."""
    keeper = house.graphmem.of(CompanionKeeper)
    values = {"name": "Coach", "prompt": "Answer briefly."}
    return keeper.save_persona("coach", values, caller=house.caller)


def test_what_is_said_to_a_persona_is_kept_and_shown_with_what_it_left(run, coach):
    nora, call = "My sister Nora lives in Porto.", "I will call my sister tonight."
    said = run("companion", "say", "ada", "coach", nora, "--message-id", "m-1")
    again = run("companion", "say", "ada", "coach", nora, "--message-id", "m-1")
    todo = run("companion", "say", "ada", "coach", call)
    (answer,) = run("companion", "say", "ada", "coach", "Fine.", "--role", "assistant")

    assert [("message", "created", nora), ("memory", "created", nora)] == [
        (row["what"], row["outcome"], row["content"]) for row in said
    ]
    assert [("message", "unchanged")] == [(row["what"], row["outcome"]) for row in again]
    assert ["message", "todo"] == [row["what"] for row in todo]
    (chat,) = run("conversations", "list", "user:ada/coach")
    assert ("companion", 3, "companion") == (chat["id"], chat["turns"], chat["kept_by"])
    assert answer["uid"] == run("conversations", "show", "user:ada/coach", chat["id"])[-1]["uid"]
    assert "How are you?" in run("companion", "say", "ada", "coach", "How are you?", output=False)


def test_the_context_of_a_persona_is_shown_as_text_or_whole(run, coach):
    run("companion", "say", "ada", "coach", "My sister Nora lives in Porto.")

    text = run("companion", "context", "ada", "coach", output=False)
    (whole,) = run("companion", "context", "ada", "coach", "--query", "Who is Nora?")
    (small,) = run("companion", "context", "ada", "coach", "--budget", "1")

    assert "Answer briefly." in text
    assert "My sister Nora lives in Porto." in text
    assert "Who is Nora?" in whole["text"]
    assert (False, True) == (whole["over_budget"], small["over_budget"])
    assert {"name", "text", "why", "uids", "dropped"} == whole["blocks"][0].keys()


@pytest.mark.parametrize(
    ("user", "persona", "error"),
    [("ada", "nobody", NotFound), ("ada", "Coach", InvalidInput), ("a/b", "coach", InvalidInput)],
)
@pytest.mark.parametrize("command", ["say", "context"])
def test_who_cannot_be_is_named(run, coach, command, user, persona, error):
    text = ["Hello."] if command == "say" else []

    with pytest.raises(error):
        run("companion", command, user, persona, *text)


GOLDEN = Path(__file__).parents[1] / "golden" / "governance" / "promotion_event_type.json"


def test_calls_of_a_file_are_replayed_and_a_difference_is_named(house, run, tmp_path):
    same = CliRunner().invoke(cli, ["governed", "replay", str(GOLDEN)])
    shown = CliRunner().invoke(cli, ["governed", "replay", "--show", str(GOLDEN)])
    file = json.loads(GOLDEN.read_text("utf-8"))
    file["calls"][0]["events"][0]["query"] = "Something else."
    other = tmp_path / "other.json"
    other.write_text(json.dumps(file), "utf-8")
    differs = CliRunner().invoke(cli, ["governed", "replay", str(other)])

    assert (0, "as expected") == (same.exit_code, same.stdout.strip().rpartition(", ")[2])
    assert file["contract"] == json.loads(shown.stdout)["contract"]
    assert 1 == differs.exit_code
    assert "which differ at events.1.query: expected" in differs.stdout
    left = house.rows("MATCH (a:AiProfile) WHERE a.tenant STARTS WITH 'replay-' RETURN a.key")
    assert [] == left


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("[", "file"),
        ("{}", "calls"),
        ('{"profile": "a", "contract": {}, "calls": [{}]}', "calls.0"),
    ],
)
def test_a_file_that_is_no_replay_names_what_is_wrong(run, tmp_path, text, path):
    wrong = tmp_path / "wrong.json"
    wrong.write_text(text, "utf-8")
    with pytest.raises(InvalidInput) as error:
        CliRunner().invoke(cli, ["governed", "replay", str(wrong)], catch_exceptions=False)
    assert any(each.startswith(path) for each in error.value.fields)


def test_a_trace_is_shown_whole_or_line_by_line(house, run):
    report = house.write(a_request("Ada likes tea."))
    whole = json.loads(run("trace", report.trace_id, output=False))
    plain = run("trace", report.trace_id, "--plain", output=False)

    assert ("write", ["user:ada"]) == (whole["kind"], whole["spaces"])
    assert "\nevents.1.outcome: created\n" in plain
    with pytest.raises(NotFound):
        run("trace", "nothing", output=False)


def test_a_corpus_goes_into_a_folder_and_back_with_all_its_revisions(house, run, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    for path, document in documents(a_corpus()).items():
        folder.joinpath(path).write_text(document.text, "utf-8")
    read = {path.name: path.read_bytes() for path in folder.iterdir()}

    run("corpus", "import", "ada", str(folder), "--into", "repository", output=False)

    assert "- corpus_exists: true" in run("corpus", "status", "ada", output=False)
    run("corpus", "export", "ada", str(tmp_path / "out"), output=False)
    assert read == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    run("corpus", "export", "ada", str(tmp_path / "git"), "--git", output=False)
    run("corpus", "import", "bob", str(tmp_path / "git"), "--git", output=False)
    run("corpus", "export", "bob", str(tmp_path / "again"), output=False)
    assert read == {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}
    assert "draft" in run("corpus", "import", "eve", str(folder), output=False)


def test_a_foreign_git_folder_becomes_revisions_and_what_is_left_out_is_named(run, tmp_path):
    foreign = tmp_path / "foreign"
    write_files(foreign, {**documents(), "docs/a.md": Document(path="docs/a.md", text="é")})
    (foreign / ".gitignore").write_text("x")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "One\n\nTwo")):
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *command], cwd=foreign, check=True)  # noqa: S607

    said = run("corpus", "import", "ada", str(foreign), "--git", output=False)

    assert "1 revisions, CORPUS_PARTIAL" in said
    run("corpus", "export", "ada", str(tmp_path / "again"), "--git", output=False)
    (one,) = commits_of(tmp_path / "again", most_bytes=10_000)
    (given,) = commits_of(foreign, most_bytes=10_000)
    assert (given.files, given.message, given.at) == (one.files, one.message, one.at)
    assert (".gitignore",) == given.left_out
