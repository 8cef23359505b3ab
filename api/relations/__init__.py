"""Relations over HTTP."""
