"""The jobs process: APScheduler says when, graphmem says what."""
