"""Free ports on the loopback address."""

import errno
import socket

from graphmem.errors import EmbeddedServerError

HOST = "127.0.0.1"


def check_port(port: int) -> None:
    """Raise EmbeddedServerError when a port cannot be bound."""
    with socket.socket() as probe:
        # as the server does it: connections of the last run that linger must not count
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as problem:
            if problem.errno == errno.EADDRINUSE:
                message = (
                    f"Port {port} on {HOST} is in use by another program; choose another port."
                )
            else:
                message = f"Port {port} on {HOST} cannot be used: {problem.strerror}."
            raise EmbeddedServerError(message) from problem


def free_port() -> int:
    """Return a port that nothing uses at the moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    return port
