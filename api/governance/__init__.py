"""HTTP of governed memory: contracts, calls, and what is known of them (004)."""
