"""Writing files: what dropped files hold goes through the gateway, whole or not at all."""

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from graphmem.errors import GraphmemError, InvalidInput, PolicyRefused, StoreUnavailable
from graphmem.gateway.edges import EdgeRequest
from graphmem.gateway.writing import Writing
from graphmem.intake.file_parsers import Extracted, extract
from graphmem.intake.in_flight import TakenFile
from graphmem.intake.manifests import RejectedError, RejectionCode
from graphmem.model.caller import Caller
from graphmem.model.edge import EdgeType
from graphmem.model.memory import memory_key
from graphmem.model.space import Space
from graphmem.model.writing import Dedupe, WriteRequest
from graphmem.store.memories import Memories

log = logging.getLogger(__name__)

_SLICE = 16  # files that share a transaction, while the next ones are embedded
_EMBEDDED_AT_ONCE = 64  # memories of one file; a larger one gets its vectors from the job


@dataclass(frozen=True, kw_only=True, slots=True)
class PartSizes:
    """From how many characters on a file is written in parts, and how large these are."""

    whole_chars: int = 4_000_000
    part_chars: int = 1_000_000


class FileWriter:
    """Writes what files hold, and notes on each what became of it."""

    def __init__(
        self,
        writing: Writing,
        memories: Memories,
        *,
        space: Space,
        caller: Caller,
        sizes: PartSizes,
    ) -> None:
        self._writing = writing
        self._memories = memories
        self._space = space
        self._caller = caller
        self._sizes = sizes

    def write(self, taken: Sequence[TakenFile]) -> None:
        """Write what the files hold.

        Files of one memory are written together, every other file whole or not at all.
        """
        for each in taken:
            if not each.is_known and not each.problem:
                self._extract(each)
        single = [each for each in taken if each.extracted and _is_single(each.extracted)]
        slices = [single[at : at + _SLICE] for at in range(0, len(single), _SLICE)]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(self._write_singles, slices))
        for each in taken:
            if each.extracted and not _is_single(each.extracted):
                self._write_alone(each, each.extracted)

    def _extract(self, taken: TakenFile) -> None:
        try:
            taken.extracted = extract(taken.file, self._space)
        except RejectedError as problem:
            taken.problem = problem
        except Exception as error:  # noqa: BLE001 - it is this file's
            taken.problem = _unexpected(error)

    def _write_singles(self, taken: Sequence[TakenFile]) -> None:
        requests = [each.extracted.memories[0] for each in taken if each.extracted]
        try:
            report = self._writing.write(requests, caller=self._caller)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - of one of them, which then fails alone
            for each in taken:
                if each.extracted:
                    self._write_alone(each, each.extracted)
            return
        for each, result in zip(taken, report.results, strict=True):
            each.memories = 1
            each.problem = _refused(result.error) if result.error else None

    def _write_alone(self, taken: TakenFile, extracted: Extracted) -> None:
        try:
            taken.problem = self._problem_of_writing(extracted)
        except StoreUnavailable:
            raise
        except GraphmemError as error:
            taken.problem = _refused(error)
        except Exception as error:  # noqa: BLE001 - it is this file's
            taken.problem = _unexpected(error)
        if not taken.problem:
            to_whole = sum(len(memory.part_of) for memory in extracted.memories)
            taken.memories = len(extracted.memories)
            taken.edges = len(extracted.edges) + to_whole

    def _problem_of_writing(self, extracted: Extracted) -> RejectedError | None:
        """Write a file whole, and say why it could not be."""
        memories = extracted.memories
        if sum(len(memory.content) for memory in memories) > self._sizes.whole_chars:
            return self._problem_of_parts(extracted)
        report = self._writing.write(
            memories,
            edges=extracted.edges,
            caller=self._caller,
            atomic=True,
            with_vectors=len(memories) <= _EMBEDDED_AT_ONCE,
        )
        return _refused(report.first_error) if report.first_error else None

    def _problem_of_parts(self, extracted: Extracted) -> RejectedError | None:
        """Write a file that is too large for one transaction: checked first, then part by part.

        Its first memory comes last, with the edges: by its source the file is known, so only a
        whole one is. What a restart interrupts goes on where it was, because each memory has a
        source key of its own.
        """
        memories = extracted.memories
        edges = (*extracted.edges, *_edges_to_whole(memories, self._space))
        refused = self._writing.refusals(memories, edges, caller=self._caller)
        if error := next(iter(refused), None) or self._missing_end(memories, edges):
            return _refused(error)
        written = 0
        first, *others = (replace(memory, part_of=(), dedupe=Dedupe.NONE) for memory in memories)
        last = [first]
        for part in (*_parts(others, self._sizes.part_chars), last):
            report = self._writing.write(
                part,
                edges=edges if part is last else (),
                caller=self._caller,
                atomic=True,
                with_vectors=False,
            )
            if error := report.first_error:
                stored = f"{written:,} of {len(memories):,} memories were stored before"
                return RejectedError(
                    RejectionCode.REPOSITORY_ERROR, f"{_refused(error)} ({stored})"
                )
            written += len(part)
        return None

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


def _parts(memories: Sequence[WriteRequest], part_chars: int) -> Iterator[list[WriteRequest]]:
    """Memories in parts that one transaction can take."""
    part: list[WriteRequest] = []
    chars = 0
    for memory in memories:
        if part and chars + len(memory.content) > part_chars:
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
