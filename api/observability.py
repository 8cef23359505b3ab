"""Observability: request ids, one log line a request, and metrics.

Nothing of a memory's content is logged.
"""

import re
import time
from collections.abc import Iterable

import structlog
from flask import Flask, Response, current_app, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram, Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from uuid6 import uuid7

from graphmem.adapters.disk_space import MIB
from graphmem.database import disk_space
from graphmem.errors import StoreUnavailable

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_BUCKETS = (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6, 1.2, 2.5, 5.0, 10.0)

log = structlog.get_logger("graphmem.api")


class Metrics:
    """What ``/metrics`` shows of this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "graphmem_http_requests",
            "Requests by route and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "graphmem_http_request_seconds",
            "Time to answer.",
            ["route"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.writes = Counter(
            "graphmem_writes", "Written memories by outcome.", ["outcome"], registry=self.registry
        )
        self.recalls = Counter(
            "graphmem_recalls",
            "Recalls by ranker and mode.",
            ["ranker", "mode"],
            registry=self.registry,
        )


class JobCollector:
    """The runs of jobs as the graph keeps them.

    They run in a process of their own, so each scrape asks for them.
    """

    def __init__(self, app: Flask) -> None:
        self._app = app

    def describe(self) -> Iterable[Metric]:
        """Nothing in advance: registering must not ask the database."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """The runs by job and status, and when each job last succeeded.

        The metrics are empty while the database is away.
        """
        runs = CounterMetricFamily(
            "graphmem_job_runs", "Runs of jobs by how they went.", labels=["job", "status"]
        )
        success = GaugeMetricFamily(
            "graphmem_job_last_success_timestamp_seconds",
            "When a job last succeeded.",
            labels=["job"],
        )
        seconds = GaugeMetricFamily(
            "graphmem_job_last_seconds", "How long the last run took.", labels=["job"]
        )
        try:
            states = self._app.extensions["graphmem"].runner.states()
        except StoreUnavailable:
            return ()
        for state in states:
            for status, number in state.totals.items():
                runs.add_metric([state.name, status.value], number)
            if state.last_succeeded_at:
                success.add_metric([state.name], state.last_succeeded_at.timestamp())
            if state.last_seconds is not None:
                seconds.add_metric([state.name], state.last_seconds)
        return (runs, success, seconds)


class DiskCollector:
    """The room on the disk of the data folder."""

    def __init__(self, app: Flask) -> None:
        self._app = app

    def describe(self) -> Iterable[Metric]:
        """Nothing in advance."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """The free bytes, to the MiB."""
        free_mib = disk_space(self._app.extensions["graphmem"].settings).free_mib
        text = "Free space where the data folder is; below server.disk_low_mib writes stop."
        yield GaugeMetricFamily("graphmem_disk_free_bytes", text, value=free_mib * MIB)


def metrics() -> Metrics:
    """The metrics of this app."""
    held: Metrics = current_app.extensions["graphmem_metrics"]
    return held


def count_refused(app: Flask, status: int) -> None:
    """Count an answer that the server gave before the app saw the request."""
    held: Metrics = app.extensions["graphmem_metrics"]
    held.requests.labels("other", "unknown", str(status)).inc()


def observe_requests(app: Flask) -> None:
    """Give each request an id, echo it, time it, count it and log one line; show how jobs went."""
    held = Metrics()
    held.registry.register(JobCollector(app))
    held.registry.register(DiskCollector(app))
    app.extensions["graphmem_metrics"] = held
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    sent = request.headers.get("X-Request-ID", "")
    g.request_id = sent if _REQUEST_ID.fullmatch(sent) else str(uuid7())
    g.started = time.perf_counter()


def _end(response: Response) -> Response:
    seconds = time.perf_counter() - g.get("started", time.perf_counter())
    route = request.url_rule.rule if request.url_rule else "unknown"
    response.headers["X-Request-ID"] = g.get("request_id", "")
    response.headers["X-Content-Type-Options"] = "nosniff"
    method = request.method if request.method in _METHODS else "other"  # a caller may send any
    metrics().requests.labels(method, route, str(response.status_code)).inc()
    metrics().seconds.labels(route).observe(seconds)
    caller = g.get("caller")
    log.info(
        "request",
        method=request.method,
        route=route,
        status=response.status_code,
        ms=round(seconds * 1000, 1),
        request_id=g.get("request_id", ""),
        key_id=caller.key_id if caller else None,
    )
    return response
