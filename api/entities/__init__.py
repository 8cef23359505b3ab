"""Entities over HTTP: views and schemas."""
