"""What time does to memories: rules as pure deciders, run by the gateway."""
