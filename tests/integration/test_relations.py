"""Relations on a real graph: merges, splits and undo in any order give the graph of before."""

import os
import random

import pytest
from builders import a_request

from graphmem.conversations.keeper import ConversationKeeper
from graphmem.errors import Conflict, InvalidInput
from graphmem.gateway.declaring import EntityRequest
from graphmem.gateway.relations import RelationRequest
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.entity import EntityRef
from graphmem.model.source import Source
from graphmem.model.space import Space, SpaceKind

NAMES = "abcdef"
RUNS = int(os.environ.get("GRAPHMEM_RUNS", "6"))


def space(house, owner="ada"):
    return Space(tenant=house.caller.tenant, kind=SpaceKind.USER, owner=owner)


def person(name):
    return EntityRef(key=f"person:{name}")


def relate(house, start, end, label, *memories, by_hand=False, **times):
    request = RelationRequest(
        space=space(house),
        start=f"person:{start}",
        end=f"person:{end}",
        label=label,
        memories=memories,
        by_hand=by_hand,
        **times,
    )
    return house.graphmem.relation_keeper.post(request, caller=house.caller).answer


def graph_of(house):
    """All entities, relations and mentions with all that they hold."""
    return house.rows(
        "MATCH (e:Entity) WHERE e.space STARTS WITH $tenant"
        " OPTIONAL MATCH (e)-[r:RELATION|MENTIONS|MERGED_INTO]-(o)"
        " WITH e, r, o ORDER BY type(r), r.uid, o.key, startNode(r) = e"
        " RETURN e.key, properties(e),"
        " collect([type(r), properties(r), o.key, startNode(r) = e]) ORDER BY e.key"
    )


@pytest.mark.parametrize("seed", range(RUNS))
def test_merges_splits_and_undo_in_random_order_give_the_graph_of_before(house, seed):
    chosen = random.Random(seed)  # noqa: S311 - nothing secret
    for name in NAMES:
        refs = (person(name), person(chosen.choice(NAMES)))
        house.write(a_request(f"Of {name}.", uid=f"m-{name}", entities=refs))
    for number in range(10):
        start, end = chosen.sample(NAMES, 2)
        memories = [f"m-{name}" for name in chosen.sample(NAMES, chosen.randint(0, 2))]
        relate(house, start, end, f"r{number % 3}", *memories, by_hand=chosen.random() < 0.3)
    before, done = graph_of(house), []

    for _ in range(12):
        if done and chosen.random() < 0.4:
            undo(house, chosen, done)
        else:
            change(house, chosen, done)
    for _ in range(20 * len(done)):
        undo(house, chosen, done)

    assert [] == done
    assert before == graph_of(house)


def change(house, chosen, done):
    """Merge or split at random; what cannot be is refused."""
    start, end = chosen.sample(NAMES, 2)
    house.clock.advance(seconds=1)
    keeper = house.graphmem.entity_keeper
    try:
        if chosen.random() < 0.5:
            made = keeper.merge(
                space(house), f"person:{start}", f"person:{end}", caller=house.caller
            )
        else:
            made = keeper.split(
                space(house),
                f"person:{start}",
                person(chosen.choice((end, "new"))),
                [f"m-{start}"],
                caller=house.caller,
            )
    except (Conflict, InvalidInput):
        return
    done.append(made.uid)


def undo(house, chosen, done):
    if not done:
        return
    uid = chosen.choice(done)
    try:
        house.graphmem.entity_keeper.undo(uid, caller=house.caller)
    except Conflict:
        return  # later ones build on it
    done.remove(uid)


def test_an_export_of_a_space_with_all_of_it_is_imported_byte_for_byte(house):
    register, here = house.graphmem.entity_register, space(house)
    said = EntityRequest(
        name="C++",
        description="A tool",
        aliases=("cpp",),
        attributes={"n": 1},
        given=frozenset({"name", "description", "aliases", "attributes"}),
    )
    register.declare(here, "tool", said, caller=house.caller)
    source = Source(conversation_id="chat", key="k")
    house.write(
        a_request("a uses c.", uid="m-a", entities=(person("a"), person("b")), source=source),
        a_request("a uses c.", source=Source(conversation_id="other")),
        a_request("b follows.", uid="m-b", updates=("m-a",), related_to=("m-a",)),
    )
    sayings = [Saying(uid="", role=TurnRole.TOOL, content=" \r\n", metadata={"z": 1, "a": [{}]})]
    house.graphmem.of(ConversationKeeper).append(here, "chat", sayings, caller=house.caller)
    relate(house, "a", "b", "knows", "m-b", since=house.clock.now())
    relate(house, "b", "a", "likes", by_hand=True)
    lines = list(export_lines(house.graphmem.transfers, here))

    *_, done = import_lines(
        house.graphmem.transfers, lines, space(house, "bob"), caller=house.caller
    )

    assert [] == done.problems
    assert lines == list(export_lines(house.graphmem.transfers, space(house, "bob")))
    kinds = {line.partition(":")[0] for line in lines}
    assert {
        '{"entity"',
        '{"memory"',
        '{"edge"',
        '{"relation"',
        '{"conversation"',
        '{"turn"',
    } == kinds
