"""Upkeep over HTTP: the jobs."""
