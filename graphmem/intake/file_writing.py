"""Writing files: what dropped files hold goes through the gateway, whole or not at all."""

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from graphmem.errors import GraphmemError, InvalidInput, PolicyRefused, StoreUnavailable
from graphmem.gateway.edges import EdgeRequest
from graphmem.gateway.gateway import Gateway
from graphmem.intake.file_forms import Extracted, extract
from graphmem.intake.manifests import RejectedError, RejectionCode
from graphmem.intake.taking import TakenFile
from graphmem.model.caller import Caller
from graphmem.model.edge import EdgeType
from graphmem.model.memory import memory_key
from graphmem.model.space import Space
from graphmem.model.writing import Dedupe, WriteRequest
from graphmem.store.memories import Memories

log = logging.getLogger(__name__)

_SLICE = 16  # files that share a transaction, while the next ones are embedded
_EMBEDDED_AT_ONCE = 64  # memories of one file; a larger one gets its vectors from the job
_WHOLE_CHARS, _PART_CHARS = (
    4_000_000,
    1_000_000,
)  # of one file that is written whole, of a part of a larger one


class FileWriter:
    """Writes what files hold, and notes on each what became of it."""

    def __init__(
        self,
        gateway: Gateway,
        memories: Memories,
        *,
        whole_chars: int = _WHOLE_CHARS,
        part_chars: int = _PART_CHARS,
    ) -> None:
        self._gateway = gateway
        self._memories = memories
        self._whole_chars = whole_chars
        self._part_chars = part_chars

    def write(self, space: Space, taken: Sequence[TakenFile], caller: Caller) -> None:
        """Write what the files hold: those of one memory together, every other one whole or not at all."""
        for each in taken:
            if not each.is_known and not each.problem:
                try:
                    each.extracted = extract(each.file, space)
                except RejectedError as problem:
                    each.problem = problem
                except Exception as error:  # noqa: BLE001 - it is this file's
                    each.problem = _unexpected(error)
        single = [each for each in taken if each.extracted and _is_single(each.extracted)]
        slices = [single[at : at + _SLICE] for at in range(0, len(single), _SLICE)]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(partial(self._write_singles, space=space, caller=caller), slices))
        for each in taken:
            if each.extracted and not _is_single(each.extracted):
                self._write_whole(each, space, caller)

    def _write_singles(self, taken: Sequence[TakenFile], *, space: Space, caller: Caller) -> None:
        requests = [each.extracted.memories[0] for each in taken if each.extracted]
        try:
            report = self._gateway.write(requests, caller=caller)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - of one of them, which then fails alone
            for each in taken:
                self._write_whole(each, space, caller)
            return
        for each, result in zip(taken, report.results, strict=True):
            each.memories = 1
            each.problem = _refused(result.error) if result.error else None

    def _write_whole(self, taken: TakenFile, space: Space, caller: Caller) -> None:
        assert taken.extracted is not None  # noqa: S101 - only such files come here
        memories, edges = taken.extracted.memories, taken.extracted.edges
        try:
            if sum(len(memory.content) for memory in memories) > self._whole_chars:
                self._write_in_parts(taken, memories, edges, space, caller)
                return
            report = self._gateway.write(
                memories,
                edges=edges,
                caller=caller,
                atomic=True,
                with_vectors=len(memories) <= _EMBEDDED_AT_ONCE,
            )
        except StoreUnavailable:
            raise
        except GraphmemError as error:
            taken.problem = _refused(error)
            return
        except Exception as error:  # noqa: BLE001 - it is this file's
            taken.problem = _unexpected(error)
            return
        taken.memories, taken.edges = len(memories), len(edges)
        if refusal := report.first_error:
            taken.problem = _refused(refusal)

    def _write_in_parts(
        self,
        taken: TakenFile,
        memories: Sequence[WriteRequest],
        edges: Sequence[EdgeRequest],
        space: Space,
        caller: Caller,
    ) -> None:
        """Write a file that is too large for one transaction: checked whole first, then part by part.

        Its first memory comes last, with the edges: by its source the file is known, so only a
        whole one is. What a restart interrupts goes on where it was, because each memory has a
        source key of its own.
        """
        edges = (*edges, *_edges_to_whole(memories, space))
        refused = self._gateway.refusals(memories, edges, caller=caller)
        if error := next(iter(refused), None) or self._missing_end(memories, edges):
            taken.problem = _refused(error)
            return
        written = 0
        plain = [replace(memory, part_of=(), dedupe=Dedupe.NONE) for memory in memories]
        last: tuple[Sequence[WriteRequest], Sequence[EdgeRequest]] = (plain[:1], edges)
        for part, own_edges in (
            *((part, ()) for part in _parts(plain[1:], self._part_chars)),
            last,
        ):
            report = self._gateway.write(
                part, edges=own_edges, caller=caller, atomic=True, with_vectors=False
            )
            if error := report.first_error:
                message = f"{_refused(error)} ({written:,} of {len(memories):,} memories were stored before)"
                taken.problem = RejectedError(RejectionCode.REPOSITORY_ERROR, message)
                return
            written += len(part)
        taken.memories, taken.edges = written, len(taken.extracted.edges) if taken.extracted else 0

    def _missing_end(
        self, memories: Sequence[WriteRequest], edges: Sequence[EdgeRequest]
    ) -> InvalidInput | None:
        """Why an edge cannot be drawn once the memories are there."""
        own = {memory.uid or memory.proposed_uid for memory in memories}
        ends = {
            f"edges.{index}.{field}": (memory_key(edge.space, uid), uid)
            for index, edge in enumerate(edges)
            for field, uid in (("from", edge.from_uid), ("to", edge.to_uid))
            if uid not in own
        }
        known = self._memories.by_key({key for key, _ in ends.values()}) if ends else {}
        missing = {
            path: ["There is no memory of that uid in this space."]
            for path, (key, _) in ends.items()
            if key not in known
        }
        return InvalidInput(missing) if missing else None


def _parts(memories: Sequence[WriteRequest], chars_max: int) -> Iterator[list[WriteRequest]]:
    """Memories in parts that one transaction can take."""
    part: list[WriteRequest] = []
    chars = 0
    for memory in memories:
        if part and chars + len(memory.content) > chars_max:
            yield part
            part, chars = [], 0
        part.append(memory)
        chars += len(memory.content)
    if part:
        yield part


def _edges_to_whole(memories: Sequence[WriteRequest], space: Space) -> list[EdgeRequest]:
    """The edges from the parts of a document to it."""
    return [
        EdgeRequest(
            space=space,
            from_uid=memory.uid or memory.proposed_uid or "",
            to_uid=uid,
            type=EdgeType.PART_OF,
        )
        for memory in memories
        for uid in memory.part_of
    ]


def _unexpected(error: Exception) -> RejectedError:
    """What nobody thought of is the end of one file, not of all that come after it."""
    log.error("a file could not be taken in", exc_info=error)
    return RejectedError(
        RejectionCode.REPOSITORY_ERROR, f"Something went wrong: {type(error).__name__}."
    )


def _is_single(extracted: Extracted) -> bool:
    return len(extracted.memories) == 1 and not extracted.edges


def _refused(error: GraphmemError) -> RejectedError:
    """What the store refused, and why."""
    reason = f" ({error.reason})" if isinstance(error, PolicyRefused) else ""
    fields = getattr(error, "fields", {})
    detail = "; ".join(f"{path}: {' '.join(texts)}" for path, texts in fields.items())
    return RejectedError(RejectionCode.REPOSITORY_ERROR, detail or f"{error.message}{reason}")
