"""The command line: ``graphmem`` and its commands."""

from graphmem.cli.commands import cli, main

__all__ = ["cli", "main"]
