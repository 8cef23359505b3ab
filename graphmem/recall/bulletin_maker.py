"""Bulletins: one is made for each message and kept; a failed recall gives an older one."""

import logging
from collections.abc import Collection

from graphmem.adapters.workspaces import Workspaces
from graphmem.errors import (
    Forbidden,
    GraphmemError,
    InvalidInput,
    MemoryDisabled,
    SourcePathDenied,
    StoreUnavailable,
)
from graphmem.model.bulletin import Bulletin, Snapshot
from graphmem.model.caller import Caller, Role
from graphmem.model.memory import Memory, memory_key
from graphmem.model.space import Space
from graphmem.ports import Clock, Events
from graphmem.recall.bulletin_sections import LIMIT_CHARS, bounded, build_bulletin, with_what_holds
from graphmem.recall.recall import Recall
from graphmem.recall.request import Bundle, RecallRequest
from graphmem.store.bulletins import Bulletins
from graphmem.store.memories import Memories
from graphmem.text.times import iso

log = logging.getLogger(__name__)

_EMPTY = build_bulletin(())


class BulletinMaker:
    """Makes bulletins of recalls."""

    def __init__(
        self,
        recall: Recall,
        memories: Memories,
        bulletins: Bulletins,
        *,
        workspaces: Workspaces,
        events: Events,
        clock: Clock,
    ) -> None:
        self._recall = recall
        self._memories = memories
        self._bulletins = bulletins
        self._workspaces = workspaces
        self._events = events
        self._clock = clock

    def make(
        self,
        space: Space,
        *,
        message_id: str,
        query: str,
        caller: Caller,
        limit_chars: int = LIMIT_CHARS,
        citations_max: int | None = None,
        leaving_out: Collection[str] = (),
    ) -> Snapshot:
        """The bulletin for a message, kept under its id.

        ``leaving_out`` are uids that it need not cite.

        Raises:
            Forbidden: the key may not read the space.
            InvalidInput: the query is not valid.
        """
        if not caller.may(Role.READER, space):
            raise Forbidden
        if caller.is_remembered:
            return self._instead(space, message_id, limit_chars, StoreUnavailable(), is_away=True)
        try:
            bundle = self._recall.recall(
                RecallRequest(spaces=(space.name,), query=query), caller=caller
            )
            items = [item for item in bundle.items if item.memory.uid not in leaving_out]
            bulletin = build_bulletin(items, limit_chars=limit_chars, citations_max=citations_max)
            made = self._snapshot(message_id, bulletin, bundle)
        except GraphmemError as error:
            if _is_of_the_caller(error):
                raise
            made = self._instead(space, message_id, limit_chars, error)
        self._keep(space, made)
        return made

    def kept(self, space: Space, message_id: str, *, caller: Caller) -> Snapshot | None:
        """The bulletin that was kept for a message, without what is no longer to be read.

        Raises:
            Forbidden: the key may not read the space.
            MemoryDisabled: the memory of the orchestrator is off.
        """
        if not caller.may(Role.READER, space):
            raise Forbidden
        self._recall.check_enabled(space)
        found = self._bulletins.of_message(space, message_id)
        return found.showing(self._readable(space, found.bulletin)) if found else None

    def _snapshot(
        self,
        message_id: str,
        bulletin: Bulletin,
        bundle: Bundle | None,
        fallback: str | None = None,
    ) -> Snapshot:
        return Snapshot(
            message_id=message_id,
            bulletin=bulletin,
            mode=bundle.mode.value if bundle else "none",
            fallback=fallback,
            generated_at=self._clock.now(),
        )

    def _instead(
        self,
        space: Space,
        message_id: str,
        limit_chars: int,
        error: GraphmemError,
        *,
        is_away: bool = False,
    ) -> Snapshot:
        """The newest snapshot without what is no longer to be read, or an empty one."""
        self._events.emit(
            "memory.bulletin.generation_failed",
            space,
            message_id=message_id,
            reason_code=error.code,
        )
        previous = None
        if not (is_away or isinstance(error, MemoryDisabled)):
            try:
                newest = self._bulletins.newest(space)
                previous = self._readable(space, newest.bulletin) if newest else None
            except GraphmemError:
                pass  # nothing of it could be checked
        kind = "previous_snapshot" if previous else "empty_bulletin"
        self._events.emit("memory.bulletin.fallback", space, message_id=message_id, fallback=kind)
        return self._snapshot(message_id, bounded(previous or _EMPTY, limit_chars), None, kind)

    def _readable(self, space: Space, bulletin: Bulletin) -> Bulletin:
        """A bulletin as it may be read now: with what still holds, in its present words."""
        known = self._memories.by_key(memory_key(space, uid) for uid in bulletin.citations)
        readable = [each for each in known.values() if self._is_readable(space, each)]
        return with_what_holds(bulletin, {memory.uid: memory for memory in readable})

    def _is_readable(self, space: Space, memory: Memory) -> bool:
        """Whether a memory is current, and cites only what its space may."""
        now = self._clock.now()
        if not memory.is_current(now) or memory.is_over(now):
            return False
        paths = [source.path for source in memory.sources if source.path]
        return all(self._workspaces.may_cite(space, path) for path in paths)

    def _keep(self, space: Space, made: Snapshot) -> None:
        """Keep a bulletin in the store and as a file, each even if the other fails."""
        try:
            self._bulletins.keep(space, made)
        except StoreUnavailable:
            log.warning("the bulletin of a message could not be kept: the database does not answer")
        self._workspaces.keep(space, "bulletins", made.message_id, snapshot_file(made))


def _is_of_the_caller(error: GraphmemError) -> bool:
    """Whether a recall failed for what the caller asked, not for the state of the memory."""
    of_the_memory = isinstance(error, MemoryDisabled | SourcePathDenied)
    return isinstance(error, Forbidden | InvalidInput) and not of_the_memory


def snapshot_file(snapshot: Snapshot) -> dict[str, object]:
    """A bulletin as its file has it (002, Bulletin)."""
    return {
        "messageId": snapshot.message_id,
        "rendered": snapshot.bulletin.rendered,
        "citations": list(snapshot.bulletin.citations),
        "sections": [
            {"name": name, "lines": [line.text for line in lines]}
            for name, lines in snapshot.bulletin.sections
        ],
        "generatedAt": iso(snapshot.generated_at),
    }
