"""Benchmarks: quality, speed, memory and durability of a real service, asked over HTTP."""
