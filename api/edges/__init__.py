"""Edges over HTTP: views and schemas."""
