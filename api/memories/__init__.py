"""Memories over HTTP: views and schemas."""
