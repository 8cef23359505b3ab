"""Text as the service reads it: normalised, analysed, divided into sentences."""
