"""The walk through of docs/companion.md: from a key to a context that knows three messages."""

import json
import re
import shlex
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "companion.md").read_text("utf-8")


def walk_through(api):
    """What each curl command of the page answers."""
    walk = PAGE.partition("## Walk through")[2].partition("\n## ")[0]
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", walk, re.DOTALL))
    commands = [each for each in re.split(r"\n(?=curl )", blocks) if each.startswith("curl ")]
    for command in commands:
        words = shlex.split(command.replace("$API", ""))
        path = next(word for word in words if word.startswith("/v1/"))
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        body = json.loads(words[words.index("-d") + 1]) if "-d" in words else None
        yield api.client.open(path, method=method, json=body, headers={"X-API-Key": api.key})


def test_the_walk_through_leads_from_a_persona_to_a_context_that_knows_three_messages(api):
    answers = list(walk_through(api))

    assert [201, 201, 201, 201, 200] == [each.status_code for each in answers]
    _, first, second, third, context = (each.get_json() for each in answers)
    assert [(1, 0), (0, 1), (0, 0)] == [
        (len(each["memories"]), len(each["todos"])) for each in (first, second, third)
    ]
    blocks = {each["name"]: each["text"] for each in context["blocks"]}
    assert "Nora lives in Porto" in blocks["relevant"]
    assert "call my sister" in blocks["commitments"]
    assert "What should I ask Nora" in blocks["user_message"]
    assert context["tokens"] <= 600
