"""The walk through of docs/governance.md: from a contract to the life of a fact."""

from doc_examples import walk_through
from governed import why


def test_the_walk_through_leads_from_a_contract_to_the_life_of_a_fact(api):
    answers = list(walk_through(api, "governance.md"))

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
