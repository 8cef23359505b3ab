"""Combining: writes that arrive while another is under way share the next transaction.

A commit costs Neo4j far more than a memory does, because each one makes its indexes readable anew.
A writer alone waits for nobody.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from graphmem.errors import StoreUnavailable

Job = TypeVar("Job")
Answer = TypeVar("Answer")


class GroupCommit(Generic[Job, Answer]):
    """Runs jobs of several threads together, in the order in which they came.

    ``run`` answers every job, or raises for all; then each job is run alone, so that one takes no
    other with it.
    """

    def __init__(self, run: Callable[[Sequence[Job]], Sequence[Answer]], *, jobs_max: int) -> None:
        self._run = run
        self._jobs_max = jobs_max
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._waiting: list[tuple[Job, Future[Answer]]] = []

    def submit(self, job: Job) -> Answer:
        """The answer to a job, or the error that it ended with."""
        future: Future[Answer] = Future()
        with self._lock:
            self._waiting.append((job, future))
        with self._turn:
            while not future.done():
                with self._lock:
                    taken, self._waiting = (
                        self._waiting[: self._jobs_max],
                        self._waiting[self._jobs_max :],
                    )
                self._answer(taken)
        return future.result()

    def _answer(self, taken: Sequence[tuple[Job, Future[Answer]]]) -> None:
        try:
            answers = self._run([job for job, _ in taken])
        except Exception as error:  # noqa: BLE001 - it is raised again, to the one that it belongs to
            # a store that is away would hit every job alike: trying each alone would only make all
            # wait longer
            if len(taken) > 1 and not isinstance(error, StoreUnavailable):
                for one in taken:
                    self._answer([one])
                return
            for _, future in taken:
                future.set_exception(error)
            return
        for (_, future), answer in zip(taken, answers, strict=True):
            future.set_result(answer)
