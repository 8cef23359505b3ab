"""The built service behind the current request."""

from flask import current_app

from api.rates import CallRate
from api.readiness import Readiness
from graphmem.bootstrap import Graphmem


def readiness() -> Readiness:
    """What says whether calls are let in."""
    found: Readiness = current_app.extensions["graphmem_readiness"]
    return found


def service() -> Graphmem:
    """The service that this app serves."""
    built: Graphmem = current_app.extensions["graphmem"]
    return built


def call_rate() -> CallRate:
    """What counts the calls of keys."""
    found: CallRate = current_app.extensions["graphmem_rate"]
    return found
