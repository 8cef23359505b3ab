"""Numbered migrations, each applied once."""
