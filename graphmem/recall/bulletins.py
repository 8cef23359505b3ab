"""Making bulletins: one for each message, kept as a snapshot; a failure falls back and is never the caller's."""

import logging

from graphmem.errors import Forbidden, GraphmemError, InvalidInput, StoreUnavailable
from graphmem.model.bulletin import Bulletin, Snapshot
from graphmem.model.caller import Caller, Role
from graphmem.model.memory import Status, memory_key
from graphmem.model.space import Space
from graphmem.ports import Clock
from graphmem.recall.bulletin import LIMIT_CHARS, bounded, build_bulletin, without
from graphmem.recall.recall import Recall
from graphmem.recall.request import RecallRequest
from graphmem.store.bulletins import Bulletins
from graphmem.store.memories import Memories

log = logging.getLogger(__name__)

_EMPTY = build_bulletin(())


class BulletinMaker:
    """Makes bulletins of recalls."""

    def __init__(self, recall: Recall, memories: Memories, bulletins: Bulletins, *, clock: Clock) -> None:
        self._recall = recall
        self._memories = memories
        self._bulletins = bulletins
        self._clock = clock

    def make(
        self, space: Space, *, message_id: str, query: str, caller: Caller, limit_chars: int = LIMIT_CHARS
    ) -> Snapshot:
        """The bulletin for a message, kept under its id.

        Raises:
            Forbidden: the key may not read the space.
            InvalidInput: the query is not valid.
        """
        if not caller.may(Role.READER, space):
            raise Forbidden
        try:
            bundle = self._recall.recall(RecallRequest(spaces=(space.name,), query=query), caller=caller)
            bulletin = build_bulletin(bundle.items, limit_chars=limit_chars)
            made = Snapshot(
                message_id=message_id,
                bulletin=bulletin,
                mode=bundle.mode.value,
                fallback=None,
                generated_at=self._clock.now(),
            )
        except (Forbidden, InvalidInput):
            raise
        except GraphmemError as error:
            log.warning("memory.bulletin.generation_failed: %s", error.code)
            made = self._fallback(space, message_id, limit_chars)
        self._keep(space, made)
        return made

    def kept(self, space: Space, message_id: str, *, caller: Caller) -> Snapshot | None:
        """The bulletin that was kept for a message, without what is no longer to be read.

        Raises:
            Forbidden: the key may not read the space.
        """
        if not caller.may(Role.READER, space):
            raise Forbidden
        found = self._bulletins.of_message(space, message_id)
        return found.showing(self._readable(space, found.bulletin)) if found else None

    def _fallback(self, space: Space, message_id: str, limit_chars: int) -> Snapshot:
        """The newest snapshot, without what is no longer to be read; else an empty bulletin."""
        try:
            newest = self._bulletins.newest(space)
            previous = self._readable(space, newest.bulletin) if newest else None
        except StoreUnavailable:
            previous = None
        kind = "previous_snapshot" if previous else "empty_bulletin"
        log.warning("memory.bulletin.fallback: %s", kind)
        bulletin = bounded(previous or _EMPTY, limit_chars)
        return Snapshot(
            message_id=message_id, bulletin=bulletin, mode="none", fallback=kind, generated_at=self._clock.now()
        )

    def _readable(self, space: Space, bulletin: Bulletin) -> Bulletin:
        keys = {memory_key(space, uid): uid for uid in bulletin.citations}
        known = self._memories.by_key(keys)
        gone = [uid for key, uid in keys.items() if key not in known or known[key].status is Status.RETRACTED]
        return without(bulletin, gone)

    def _keep(self, space: Space, made: Snapshot) -> None:
        try:
            self._bulletins.keep(space, made)
        except StoreUnavailable:
            log.warning("the bulletin of a message could not be kept: the database does not answer")
