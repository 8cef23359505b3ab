"""The built service behind the current request."""

from flask import current_app

from graphmem.bootstrap import Graphmem


def service() -> Graphmem:
    """The service that this app serves."""
    built: Graphmem = current_app.extensions["graphmem"]
    return built
