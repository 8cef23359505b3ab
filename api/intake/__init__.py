"""Intake over HTTP: files, write-backs, bulletins and contexts of orchestrators (002)."""
