import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphmem.errors import Conflict, StoreUnavailable
from graphmem.gateway.group_commit import GroupCommit


class Recorder:
    """Answers each job with its double; holds the first run until it is let go.

    Fails for what it is told.
    """

    def __init__(self, *fails, error=Conflict):
        self.runs = []
        self.fails = set(fails)
        self.error = error
        self.started = threading.Event()
        self.go = threading.Event()

    def __call__(self, jobs):
        self.runs.append(list(jobs))
        self.started.set()
        assert self.go.wait(5)
        if self.fails & set(jobs):
            raise self.error
        return [job * 2 for job in jobs]


def all_at_once(recorder, group, jobs):
    """The first job runs; the others come while it is under way."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        futures = [pool.submit(group.submit, jobs[0])]
        assert recorder.started.wait(5)
        futures += [pool.submit(group.submit, job) for job in jobs[1:]]
        while len(group._waiting) < len(jobs) - 1:  # noqa: SLF001 - what waits is nobody else's business
            pass
        recorder.go.set()
        return [future.exception() or future.result() for future in futures]


def test_a_job_alone_runs_at_once():
    recorder = Recorder()
    recorder.go.set()

    assert 2 == GroupCommit(recorder, jobs_max=8).submit(1)
    assert [[1]] == recorder.runs


def test_what_comes_meanwhile_runs_together_and_each_gets_its_own_answer():
    recorder = Recorder()

    answers = all_at_once(recorder, GroupCommit(recorder, jobs_max=8), [1, 2, 3, 4])

    assert [2, 4, 6, 8] == answers
    assert [1, 3] == [len(run) for run in recorder.runs]


@pytest.mark.parametrize(("jobs_max", "sizes"), [(3, [1, 3]), (2, [1, 2, 1])])
def test_no_more_than_so_many_run_together(jobs_max, sizes):
    recorder = Recorder()

    answers = all_at_once(recorder, GroupCommit(recorder, jobs_max=jobs_max), [1, 2, 3, 4])

    assert ([2, 4, 6, 8], sizes) == (answers, [len(run) for run in recorder.runs])


def test_a_job_that_fails_takes_no_other_with_it():
    recorder = Recorder(3)

    answers = all_at_once(recorder, GroupCommit(recorder, jobs_max=8), [1, 2, 3, 4])

    assert [2, 4, Conflict, 8] == [
        type(each) if isinstance(each, Exception) else each for each in answers
    ]


def test_a_store_that_is_away_is_not_asked_again_for_each():
    recorder = Recorder(2, error=StoreUnavailable)

    answers = all_at_once(recorder, GroupCommit(recorder, jobs_max=8), [1, 2, 3])

    assert [2, StoreUnavailable, StoreUnavailable] == [
        type(each) if isinstance(each, Exception) else each for each in answers
    ]
    assert 2 == len(recorder.runs)
