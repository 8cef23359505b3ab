"""The HTTP API: flask-smorest blueprints over the built service."""
