"""Governed memory (004): what may be kept, where, how long, and a trace that says why."""
