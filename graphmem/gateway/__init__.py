"""The one way in: every write of every room goes through the gateway."""
