"""The walk through of docs/companion.md: from a key to a context that knows three messages."""

from doc_examples import walk_through


def test_the_walk_through_leads_from_a_persona_to_a_context_that_knows_three_messages(api):
    answers = list(walk_through(api, "companion.md"))

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
