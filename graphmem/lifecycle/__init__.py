"""Lifecycle (003): from a conversation turn to a kept fact."""
