"""``python -m jobs``: the jobs process."""

import os
from collections.abc import Iterable
from functools import partial

from graphmem.bootstrap import build, embedder_of, wait_until_prepared
from graphmem.database import connection_of
from graphmem.errors import GraphmemError
from graphmem.logs import set_up_logs
from graphmem.model.job import Job
from graphmem.settings import load_settings
from jobs.process import JobsProcess
from jobs.schedule import scheduled


def _tell(jobs: Iterable[Job], error: GraphmemError) -> None:
    """Tell the jobs that ask for it that the store is away."""
    for job in jobs:
        if job.without_store:
            job.without_store(error)


if __name__ == "__main__":
    settings = load_settings(os.environ)
    set_up_logs(settings.server.log)
    embedder = embedder_of(settings)
    graphmem = build(settings, connection_of(settings), embedder=embedder)
    try:
        wait_until_prepared(graphmem, when_away=partial(_tell, graphmem.runner.jobs))
        table = scheduled(graphmem.runner.jobs)
        JobsProcess(runner=graphmem.runner, runs=graphmem.runs, schedule=table).serve()
    finally:
        graphmem.close()
