"""graphmem: a memory service for AI applications on a real graph database."""

from importlib.metadata import version

__version__ = version("graphmem")
