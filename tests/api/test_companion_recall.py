"""What a persona may know for a message, and its context, over HTTP."""

import math

import pytest
from companions import COACH, answer, put, put_persona

from graphmem.model.caller import Role

ADA = "/v1/companions/ada"


@pytest.fixture
def coach(api):
    put_persona(api)
    return api


def store(api, content, kind="PROFILE", **values):
    found = api.post(f"{ADA}/memories", {"type": kind, "content": content} | values)
    assert found.status_code in {200, 201}, found.get_json()
    return found.get_json()["memory"]["uid"]


def recall(api, query="What do you know?", path=COACH, **values):
    found = api.post(f"{path}/recall", {"query": query} | values)
    assert 200 == found.status_code, found.get_json()
    return found.get_json()


def context(api, query="", path=COACH):
    found = api.get(f"{path}/context{query}")
    assert 200 == found.status_code, found.get_json()
    return found.get_json()


def blocks(found):
    return {each["name"]: each for each in found["blocks"]}


class AimedEmbedder:
    """An embedder whose texts have given cosines to every cue."""

    def __init__(self, inner, cosines):
        self._inner = inner
        self._cosines = cosines
        self.name, self.dimensions = inner.name, inner.dimensions

    def embed(self, texts):
        return [self._vector(self._cosines.get(text, 0.0)) for text in texts]

    def embed_query(self, text):  # noqa: ARG002
        return self._vector(1.0)

    def _vector(self, cosine):
        rest = math.sqrt(1 - cosine**2)
        return (cosine, rest, *[0.0] * (self.dimensions - 2))


def aim(api, cosines):
    """Let texts have cosines to every cue from now on."""
    house = api.house
    aimed = AimedEmbedder(house.embedder, cosines)
    for part in (house.graphmem.writing.preparation, keeper(api).recall):
        object.__setattr__(part, "embedder", aimed)


def keeper(api):
    from graphmem.companion.keeper import CompanionKeeper  # noqa: PLC0415

    return api.house.graphmem.of(CompanionKeeper)


def test_results_are_blended_of_similarity_recency_and_frequency(coach):
    said = {"a": 0.5, "b": 0.9, "c": 0.95, "d": 0.4}
    contents = {name: f"This is the memory {name}." for name in said}
    aim(coach, {contents[name]: cosine for name, cosine in said.items()})
    refs = {
        "a": ["person:john", "org:google"],
        "b": ["person:john"],
        "c": [],
        "d": ["person:sarah"],
    }
    ages = {"c": 28, "b": 14, "d": 1, "a": 0}
    past = 28
    coach.house.clock.advance(days=-28)
    for name, days in ages.items():
        coach.house.clock.advance(days=past - days)
        past = days
        store(
            coach,
            contents[name],
            entity_refs=refs[name],
            subtype={"fact_type": "preference" if name == "a" else "fact"},
        )
    found = recall(coach)

    assert [("b", 0.81), ("a", 0.725), ("d", 0.595509), ("c", 0.455)] == [
        (each["memory"]["content"][-2], each["score"]) for each in found["results"]
    ]
    assert {"similarity", "recency", "frequency"} == set(found["results"][0]["factors"])


def test_with_the_entity_pipeline_off_similarity_alone_counts_and_there_are_no_cards(coach):
    coach.house.graphmem.policies.save(
        space_of(coach, "user:ada/coach"), {"companion.entity_pipeline": False}
    )
    aim(coach, {"Near.": 0.9, "Nearer.": 0.95})
    store(coach, "Nearer.", entity_refs=["person:john"], subtype={"fact_type": "habit"})
    coach.house.clock.advance(days=100)
    store(coach, "Near.", entity_refs=["person:john"], pinned=True)
    found = recall(coach)

    assert [0.95, 0.9] == [each["score"] for each in found["results"]]
    assert [] == found["cards"]


def space_of(api, name):
    from graphmem.model.space import parse_space  # noqa: PLC0415

    return parse_space(name, tenant=api.house.caller.tenant)


def test_memory_persona_scope(coach):
    put_persona(coach, "aide")
    store(coach, "For everybody.")
    store(coach, "For the coach.", persona="coach")

    own, other = (recall(coach, path=f"{ADA}/{slug}") for slug in ("coach", "aide"))

    assert {"For everybody.", "For the coach."} == {
        each["memory"]["content"] for each in own["results"]
    }
    assert ["For everybody."] == [each["memory"]["content"] for each in other["results"]]


def test_plain_memories_todos_and_archived_ones_are_no_results(coach):
    coach.post("/v1/memories", {"space": "user:ada", "content": "Plain talk of tea."})
    coach.post(f"{COACH}/todos", {"kind": "THREAD", "content": "Buy tea."})
    gone = store(coach, "Ada drinks tea.")
    coach.post(f"/v1/memories/{gone}/retract?space=user:ada", {})
    store(coach, "Ada likes tea.")

    assert ["Ada likes tea."] == [r["memory"]["content"] for r in recall(coach, "tea")["results"]]


def test_entity_pipeline_synth(coach):
    kin = {"kind": "PEOPLE", "entity_refs": ["person:john"], "importance": 2}
    fact = {"subtype": {"entity_type": "person", "fact_type": "fact"}}
    aim(coach, {"John is my cofounder.": 0.9})
    store(coach, "John is my cofounder.", **kin, subtype=fact["subtype"])
    store(
        coach,
        "John works at Google.",
        "PROJECT",
        entity_refs=["person:john", "org:google"],
        importance=2,
    )
    store(coach, "John lives in London.", "PROFILE", entity_refs=["person:john"], importance=3)
    store(
        coach,
        "John plays chess.",
        entity_refs=["person:john"],
        importance=1,
        subtype={"fact_type": "habit"},
    )
    found = recall(coach, "Who is John?", limit=1)

    (card,) = [each for each in found["cards"] if each["key"] == "person:john"]
    assert "London" in card["text"]
    assert "Google" in card["text"]
    assert "chess" not in card["text"]
    assert card["text"].startswith("[person:john]: ")
    shown = {fact["uid"] for fact in card["facts"]}
    assert shown.isdisjoint(found["chosen"])


def test_words_do_while_the_embedder_is_silent_and_the_answer_says_so(coach):
    store(coach, "Ada likes green tea.")
    store(coach, "Ada lives in Austin.", entity_refs=["place:austin"])
    coach.house.embedder.is_broken = True
    found = recall(coach, "green tea")

    assert ["Ada likes green tea."] == [each["memory"]["content"] for each in found["results"]]
    assert ["embedder_unavailable"] == found["degraded"]


def test_twenty_pinned_memories_are_the_foundation_the_oldest_ones(coach):
    for number in range(21):
        coach.house.clock.advance(seconds=1)
        store(coach, f"Pinned number {number}.", pinned=True)
    found = recall(coach)

    assert [f"Pinned number {n}." for n in range(20)] == [
        each["content"] for each in found["foundation"]
    ]


def test_a_context_knows_what_was_said_in_the_order_of_its_blocks(coach):
    put(coach, f"{ADA}/seed", {"content": "Ada is an engineer."})
    put_persona(coach, prompt="Be kind.")
    store(coach, "My name is Ada.", pinned=True)
    answer(coach, "My sister Nora lives in Porto.")
    answer(coach, "I'll call mom tonight.", 2)
    answer(coach, "How nice.", 3, role="assistant")
    found = context(coach)

    names = [each["name"] for each in found["blocks"]]
    assert ["real_time", "session_state", "persona_prompt", "foundation", "relevant"] == names[:5]
    assert ["commitments", "user_seed", "recent_messages", "user_message"] == names[5:]
    assert "[GOSPEL:seeded_profile] My name is Ada." in blocks(found)["foundation"]["text"]
    assert "Nora" in blocks(found)["relevant"]["text"]
    assert "User: I'll call mom tonight." in blocks(found)["user_message"]["text"]
    assert found["text"] == "\n\n".join(each["text"] for each in found["blocks"])
    assert not found["over_budget"]
    document = coach.get("/openapi.json").get_json()["components"]["schemas"]
    assert set(document["CompanionContext"]["properties"]) == set(found)


def test_the_last_message_is_what_is_answered_and_not_said_twice(coach):
    answer(coach, "Good morning to you.")
    answer(coach, "What is my plan?", 2)
    by_default, by_query = context(coach), context(coach, "?query=What%20is%20my%20plan%3F")

    for found in (by_default, by_query):
        assert "User: What is my plan?" in blocks(found)["user_message"]["text"]
        assert "plan" not in blocks(found)["recent_messages"]["text"]
    other = coach.post(f"{COACH}/context", {"query": "And now?"}).get_json()
    assert "plan" in blocks(other)["recent_messages"]["text"]


def test_a_context_before_the_first_message_has_the_time_and_the_persona(coach):
    assert ["real_time", "persona_prompt"] == [each["name"] for each in context(coach)["blocks"]]
    assert 404 == coach.get(f"{ADA}/nobody/context").status_code


def test_the_foundation_stands_before_the_first_message_too(coach):
    store(coach, "My name is Ada.", pinned=True)

    assert "My name is Ada." in blocks(context(coach))["foundation"]["text"]


def test_a_context_takes_four_round_trips_at_most(coach):
    answer(coach, "My sister Nora lives in Porto.")
    connection = coach.house.graphmem.connection
    spaces = [space_of(coach, name) for name in ("user:ada/coach", "user:ada")]
    before = connection.queries_run
    keeper(coach).contexts.build(spaces, query=None, budget=None, caller=coach.house.caller)

    assert 3 == connection.queries_run - before


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "x" * 8_001}, "query"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 51}, "limit"),
        ({"query": "x", "limit": "3"}, "limit"),
    ],
)
def test_bad_recalls_name_their_field(coach, body, path):
    found = coach.post(f"{COACH}/recall", body)

    assert (422, [path]) == (found.status_code, list(found.get_json()["error"]["fields"]))


@pytest.mark.parametrize("budget", ["0", "-1", "x", "200001"])
def test_a_budget_is_a_number_of_tokens(coach, budget):
    found = coach.get(f"{COACH}/context?budget={budget}")

    assert (422, ["budget"]) == (found.status_code, list(found.get_json()["error"]["fields"]))
    assert 422 == coach.post(f"{COACH}/context", {"budget": 0}).status_code


def test_a_key_of_the_persona_alone_sees_nothing_of_the_user(coach):
    put(coach, f"{ADA}/seed", {"content": "Ada is an engineer."})
    store(coach, "For everybody.")
    store(coach, "For the coach.", persona="coach")
    alone = coach.with_key(Role.READER, "user:ada/coach")

    assert ["For the coach."] == [r["memory"]["content"] for r in recall(alone)["results"]]
    assert "engineer" not in context(alone)["text"]
    assert 403 == coach.with_key(Role.READER, "user:bob").get(f"{COACH}/context").status_code


@pytest.mark.parametrize(("others", "has_card"), [(29, True), (30, False)])
def test_cards_are_made_of_the_first_thirty_memories(coach, others, has_card):
    aim(coach, {"John and Acme.": 0.9})
    refs = ["person:first", "person:john", "org:acme"]
    store(coach, "John and Acme.", entity_refs=refs, importance=0)
    for number in range(others):
        refs = [f"person:x_{number}", "person:john"]
        store(coach, f"John {number}.", entity_refs=refs, importance=3)
    store(coach, "Acme is small.", entity_refs=["org:acme"], importance=2)
    found = recall(coach, limit=1)

    assert has_card == ("org:acme" in {card["key"] for card in found["cards"]})
