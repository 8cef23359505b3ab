"""Retries: the same again after a pause, a number of times or for some seconds."""

from collections.abc import Callable, Iterator

import stamina

# its hooks log what failed, and an error of the database may quote what is stored
stamina.instrumentation.set_on_retry_hooks(())


def attempts(
    on: type[Exception] | Callable[[Exception], bool],
    *,
    tries: int | None = None,
    seconds: float | None = None,
    pause: float = 0.0,
) -> Iterator[stamina.Attempt]:
    """Attempts, each a context that swallows what is worth another try.

    The last one raises it. ``on`` says what is worth one; ``pause`` is in seconds.
    """
    return iter(
        stamina.retry_context(
            on=on,
            attempts=tries,
            timeout=seconds,
            wait_initial=pause,
            wait_max=pause,
            wait_jitter=0.0,
            wait_exp_base=1.0,
        )
    )
