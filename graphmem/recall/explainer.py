"""The explainer: finds what explaining a recall needs."""

from dataclasses import replace
from datetime import datetime

from graphmem.errors import NotFound
from graphmem.model.caller import Caller
from graphmem.model.memory import Memory, Status, shown_status
from graphmem.model.space import space_from_key
from graphmem.model.trace import TraceRecord
from graphmem.recall.reasons import Reason, Why, why
from graphmem.store.history import Histories
from graphmem.store.traces import Journal, Traces


class Explainer:
    """Answers why a memory came back from a recall, or why it did not."""

    def __init__(self, traces: Traces, journal: Journal, histories: Histories) -> None:
        self._traces = traces
        self._journal = journal
        self._histories = histories

    def trace(self, tenant: str, uid: str) -> TraceRecord | None:
        """A trace of a tenant; one of this process that was not written down yet is written now."""
        found = self._traces.by_uid(tenant, uid)
        if found is None:
            self._journal.flush()
            found = self._traces.by_uid(tenant, uid)
        return found

    def trace_of(self, caller: Caller, uid: str) -> TraceRecord:
        """A trace, if the caller may see all that it tells of.

        Raises:
            NotFound: there is none of that uid, or the caller may not.
        """
        found = self.trace(caller.tenant, uid)
        spaces = [space_from_key(key) for key in found.spaces] if found else []
        if found is None or not spaces or not all(map(caller.may_see, spaces)):
            raise NotFound
        return found

    def why(self, trace: TraceRecord, memory: Memory) -> Why:
        """Why a memory came back from the recall of a trace, or why not, as it was at that time."""
        known_at = trace.request.get("known_at")
        moment = datetime.fromisoformat(str(known_at)) if known_at else trace.created_at
        found = why(trace, memory, self._histories.version_at(memory, moment))
        is_archived = found.reason is Reason.ARCHIVED
        shown = shown_status(Status.ARCHIVED, memory.space) if is_archived else None
        return replace(found, reason=Reason(shown.value)) if shown else found
