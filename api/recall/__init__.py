"""Recall over HTTP, and the traces that explain it."""
