"""Rankers: pure functions from candidates and the time to scores."""
