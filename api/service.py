"""The built service behind the current request."""

from flask import current_app

from api.gate import Gate
from graphmem.bootstrap import Graphmem


def gate() -> Gate:
    """What says whether calls are let in."""
    found: Gate = current_app.extensions["graphmem_gate"]
    return found


def service() -> Graphmem:
    """The service that this app serves."""
    built: Graphmem = current_app.extensions["graphmem"]
    return built
