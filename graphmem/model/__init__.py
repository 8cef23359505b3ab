"""Frozen records and enums that every room shares. Standard library only."""
