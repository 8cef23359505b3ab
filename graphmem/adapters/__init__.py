"""What meets the outside world: the embedded server, models, the clock, ids."""
