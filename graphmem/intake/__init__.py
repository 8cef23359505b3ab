"""Raw input becomes write requests: write-backs of an orchestrator."""
