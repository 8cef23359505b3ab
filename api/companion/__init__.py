"""The companion over HTTP."""
