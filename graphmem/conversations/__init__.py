"""Conversations: what was said, turn by turn, and what is remembered of it."""
