"""``python -m jobs``: the jobs process."""

import os

from graphmem.bootstrap import build, connection_of, embedder_of, wait_until_prepared
from graphmem.logs import set_up_logs
from graphmem.settings import load_settings
from jobs.process import JobsProcess
from jobs.schedule import schedule

if __name__ == "__main__":
    settings = load_settings(os.environ)
    set_up_logs(settings.server.log)
    embedder = embedder_of(settings)
    graphmem = build(settings, connection_of(settings), embedder=embedder)
    try:
        wait_until_prepared(graphmem.connection, embedder, when_away=graphmem.worker.degrade)
        table = schedule(graphmem.worker_interval_seconds)
        JobsProcess(runner=graphmem.runner, runs=graphmem.runs, schedule=table).serve()
    finally:
        graphmem.close()
