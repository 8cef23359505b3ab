"""The walk through of docs/governance.md: from a contract to the life of a fact."""

import json
import re
import shlex
from pathlib import Path

from governed import why

PAGE = (Path(__file__).parents[2] / "docs" / "governance.md").read_text("utf-8")


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


def test_the_walk_through_leads_from_a_contract_to_the_life_of_a_fact(api):
    answers = list(walk_through(api))

    assert [201, 200, 200, 200, 200, 200, 200] == [each.status_code for each in answers]
    _, first, second, third, facts, life, preview = (each.get_json() for each in answers)
    assert ["short_term", "short_term", "semantic", "profile"] == [
        i["kind"] for i in first["written"]
    ]
    assert "policy" not in first["events"][0]
    assert ["hint:remember_for_me"] == [reason for _, reason in why(second["events"], "promoted")]
    assert ["correction"] == [rule for _, rule in why(third["events"], "conflict")]
    assert [("Ada Lovelace", True), ("Ada", False)] == [
        (each["text"], each["is_present"]) for each in facts["items"]
    ]
    told = [event["type"] for call in life["items"] for event in call["events"]]
    assert "memory_write" == told[0] or "memory_write" in told
    assert "memory_deleted" == told[-1]
    assert [("session:s1:profile:2", "privacy_deny_profile_key")] == [
        (each["id"], each["reason"]) for each in preview["denied"]
    ]
    plain = api.get(f"/v1/traces/{third['trace_id']}?view=plain")
    assert "text/plain; charset=utf-8" == plain.content_type
    assert "\nevents.1.type: memory_recall\n" in plain.get_data(as_text=True)
