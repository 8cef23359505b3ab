"""The jobs process itself: SIGTERM ends the present batch cleanly."""

import os
import signal
import subprocess
import sys
import textwrap

SCRIPT = """
import os, signal, sys, time
from concurrent.futures import ThreadPoolExecutor
from graphmem.adapters.clock import SystemClock
from graphmem.adapters.ids import TimeOrderedIds
from graphmem.store.connection import Connection
from graphmem.store.job_runs import JobRuns
from graphmem.model.job import Every, Job
from graphmem.upkeep.job_runner import JobRunner
from apscheduler.triggers.date import DateTrigger
from jobs.process import JobsProcess
from jobs.schedule import ScheduledJob

uri, user, password = sys.argv[1:4]
if "while submitting" in sys.argv:
    add_thread = ThreadPoolExecutor._adjust_thread_count

    def told_to_end(pool):
        os.kill(os.getpid(), signal.SIGTERM)
        add_thread(pool)

    ThreadPoolExecutor._adjust_thread_count = told_to_end
connection = Connection(uri, user=user, password=password)

def batches(run):
    while not run.must_stop():
        connection.check()
        print("begun", flush=True)
        while not run.must_stop():  # a batch that lasts until the signal has come
            time.sleep(0.01)
        connection.check()
        run.counts["batches"] += 1

minutely = Every(minutes=1)
jobs = [Job(name="batched", does="works", schedule=minutely, function=batches)]
runner = JobRunner(
    connection, jobs=jobs, clock=SystemClock(), ids=TimeOrderedIds(), holder="process"
)
now = ScheduledJob(name="batched", schedule=minutely, trigger=DateTrigger())
JobsProcess(runner=runner, runs=JobRuns(connection), schedule=[now]).serve()
connection.close()
print("closed", flush=True)
"""


def test_sigterm_lets_the_present_batch_end_and_writes_down_what_was_done(
    connection, neo4j_address
):
    connection.run_statement("MATCH (j:Job {name: 'batched'}) DELETE j")
    process = subprocess.Popen(
        (sys.executable, "-c", textwrap.dedent(SCRIPT), *neo4j_address),
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    assert "begun\n" == process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=20)

    assert (0, "closed\n") == (process.returncode, output)
    (run,) = connection.run_statement(
        "MATCH (r:JobRun {job: 'batched'})"
        " RETURN r.status AS status, r.counts AS counts ORDER BY r.started_at DESC LIMIT 1"
    )
    assert "partial" == run["status"]
    assert '"batches": 1' in run["counts"]
    assert [] == connection.run_statement("MATCH (l:Lease {name: 'job:batched'}) RETURN l")


def test_sigterm_while_a_job_is_being_begun_ends_the_process_too(connection, neo4j_address):
    connection.run_statement("MATCH (j:Job {name: 'batched'}) DELETE j")
    script = (sys.executable, "-c", textwrap.dedent(SCRIPT), *neo4j_address, "while submitting")
    ended = subprocess.run(script, stdout=subprocess.PIPE, text=True, timeout=30, check=False)

    assert (0, "closed") == (ended.returncode, ended.stdout.splitlines()[-1])
