"""What governance adds to the house: contracts and the calls that they govern (004)."""

from graphmem.governance.keeper import GovernanceKeeper
from graphmem.governance.reaction import EndLedgers
from graphmem.governance.transfer import transfers_over
from graphmem.model.governance import ROOM
from graphmem.model.trace import TraceKind
from graphmem.rooms import Core, Prune, Room
from graphmem.store.contracts import Contracts
from graphmem.store.governance import Governance
from graphmem.store.governance_traces import GovernedTraces


def build(core: Core) -> Room:
    """The room over a core."""
    traces = GovernedTraces(core.connection)
    keeper = GovernanceKeeper(
        gateway=core.gateway,
        policies=core.policies,
        contracts=Contracts(core.connection),
        governance=Governance(core.connection),
        governed_traces=traces,
        traces=core.traces,
        ids=core.ids,
    )
    return Room(
        name=ROOM,
        service=keeper,
        own_traces=(TraceKind.GOVERNANCE,),
        prunes=(
            Prune(
                counted_as="governed_traces_forgotten",
                forget=lambda _, run: traces.forget(core.clock.now(), run),
            ),
        ),
        reactions=(EndLedgers(),),
        transfers=transfers_over(core.gateway, core.connection),
    )
