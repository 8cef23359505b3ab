"""Call: what one call of an AI recalls and records, and the events that say why (004).

Pure: the same state and request give the same items, numbers, ticks and events.
"""

from graphmem.governance.recalling import recall
from graphmem.governance.recording import record
from graphmem.governance.request import CallAnswer, CallRequest
from graphmem.governance.world import CallState, World


def call(state: CallState, request: CallRequest) -> tuple[CallAnswer, World]:
    """What a call gives, and the working copy with all that it changed."""
    world = World(state=state, request=request)
    recalled, of_recall = recall(world) if request.recalls else ([], [])
    written, of_record = record(world) if request.records else ([], [])
    answer = CallAnswer(
        recalled=recalled,
        written=written,
        events=[*of_recall, *of_record],
        clock=world.clock,
    )
    return answer, world
