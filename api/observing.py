"""Observing: request ids, one log line a request, and metrics. Nothing of a memory's content is logged."""

import re
import time

import structlog
from flask import Flask, Response, current_app, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram
from uuid6 import uuid7

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
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
            "graphmem_http_request_seconds", "Time to answer.", ["route"], buckets=_BUCKETS, registry=self.registry
        )
        self.writes = Counter("graphmem_writes", "Written memories by outcome.", ["outcome"], registry=self.registry)
        self.recalls = Counter(
            "graphmem_recalls", "Recalls by ranker and mode.", ["ranker", "mode"], registry=self.registry
        )


def metrics() -> Metrics:
    """The metrics of this app."""
    held: Metrics = current_app.extensions["graphmem_metrics"]
    return held


def observe_requests(app: Flask) -> None:
    """Give each request an id, echo it, time it, count it and log one line."""
    app.extensions["graphmem_metrics"] = Metrics()
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
    metrics().requests.labels(request.method, route, str(response.status_code)).inc()
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
