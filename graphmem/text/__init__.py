"""Text as the service reads it: normalised, analysed, divided into sentences.

No store, no model.
"""
