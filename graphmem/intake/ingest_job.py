"""The ingest job: looks into all ingest folders, and says how it is (002, Failure Modes)."""

import logging
from collections.abc import Iterable

from graphmem.adapters.drop_folder import dropped
from graphmem.adapters.workspaces import Workspaces
from graphmem.errors import Conflict, Forbidden, GraphmemError, StoreDamaged, StoreUnavailable
from graphmem.intake.ingest import WORKER_LOCK_SECONDS, Ingest
from graphmem.intake.ingest_pass import Scan
from graphmem.model.caller import Caller, Role
from graphmem.model.job import Run
from graphmem.model.space import Space, space_from_key
from graphmem.ports import Events

log = logging.getLogger(__name__)

_STATUSES = ("processed", "duplicate", "rejected")


class IngestWorker:
    """Takes in the files of all ingest folders."""

    def __init__(self, ingest: Ingest, *, workspaces: Workspaces, events: Events) -> None:
        self._ingest = ingest
        self._workspaces = workspaces
        self._events = events
        self._well: set[Space] = set()  # orchestrators that it works for
        self._degraded: dict[Space, str] = {}  # those that it said it cannot work for, and why

    def run(self, run: Run) -> None:
        """Take in files once, and count them by what became of them; a dry run counts all.

        A failure at one orchestrator stops no other.

        Raises:
            StoreUnavailable: the database does not answer; it was said, and the next pass goes on.
            InvalidInput: it is to look into one space, and that is no orchestrator's.
        """
        run.counts.update(dict.fromkeys(("files", *_STATUSES, "waiting"), 0))
        for space in self._spaces(run):
            if run.must_stop():
                return
            if run.dry_run:
                folder = self._workspaces.of(space).ingest
                run.counts["files"] += len(dropped(folder)) if folder.is_dir() else 0
            else:
                self._take_in(space, run)

    def _take_in(self, space: Space, run: Run) -> None:
        try:
            self._scan(space, run)
        except (Forbidden, Conflict):
            pass  # switched off, or another process is there
        except StoreUnavailable as error:
            self.degrade(error)
            raise
        except Exception as error:
            log.exception("the files of an orchestrator could not be taken in")
            code = error.code if isinstance(error, GraphmemError) else type(error).__name__
            self._say_degraded(space, code)
            run.note_degraded(f"{space.key}: {code}")

    def degrade(self, error: GraphmemError) -> None:
        """Say once that the worker stops because of the store.

        It comes back with the next pass that succeeds.
        """
        for space in self._workspaces.present():
            said = self._degraded.get(space)
            if said is None or (isinstance(error, StoreDamaged) and said != error.code):
                self._say_degraded(space, error.code)

    def _say_degraded(self, space: Space, code: str) -> None:
        if self._degraded.get(space) != code:
            self._events.emit("memory.worker.degraded", space, reason_code=code)
        self._degraded[space] = code
        self._well.discard(space)

    def _say_well(self, space: Space) -> None:
        if space not in self._well:
            recovered = self._degraded.pop(space, None) is not None
            self._events.emit("memory.worker.bootstrap_complete", space, recovered=recovered)
            self._well.add(space)

    def _spaces(self, run: Run) -> Iterable[Space]:
        if not run.space:
            return self._workspaces.present()
        space = space_from_key(run.space)
        self._workspaces.of(space)
        return [space]

    def _scan(self, space: Space, run: Run) -> None:
        caller = Caller(
            key_id=f"job:{run.job}", tenant=space.tenant, role=Role.WRITER, spaces=(space.name,)
        )
        before = dict(run.counts)
        self._ingest.scan(
            space,
            caller=caller,
            lock_seconds=WORKER_LOCK_SECONDS,
            must_stop=run.must_stop,
            watch=lambda scan: _count(run, scan),
        )
        self._say_well(space)
        found = {status: run.counts[status] - before[status] for status in (*_STATUSES, "waiting")}
        self._events.emit("memory.worker.heartbeat", space, **found)


def _count(run: Run, scan: Scan) -> None:
    for status in _STATUSES:
        run.counts[status] += scan.count(status)
    run.counts["waiting"] += len(scan.waiting)
    run.counts["files"] += len(scan.manifests) + len(scan.waiting)
