"""The room of conversations: what was said, word for word."""

from graphmem.conversations.keeper import ConversationKeeper
from graphmem.conversations.transfer import ConversationTransfer, TurnTransfer
from graphmem.rooms import Core, Room
from graphmem.store.turns import Conversations


def keeper_over(core: Core) -> ConversationKeeper:
    """The keeper of conversations over a core."""
    return ConversationKeeper(
        gateway=core.gateway,
        preparation=core.writing.preparation,
        policy=core.policy,
        ids=core.ids,
        conversations=Conversations(core.connection),
    )


def build(core: Core) -> Room:
    """The room over a core."""
    keeper = keeper_over(core)
    read = keeper.conversations
    return Room(
        name="conversations",
        service=keeper,
        transfers=(
            ConversationTransfer(conversations=read, gateway=core.gateway),
            TurnTransfer(conversations=read, gateway=core.gateway),
        ),
    )
