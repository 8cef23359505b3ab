"""The lifecycle over HTTP."""
