"""Bounds: what the service itself leaves behind is kept for some time and up to some number.

What was written is none of it: memories, revisions and edges stay.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from graphmem.model.job import Run
from graphmem.rooms import Core, Prune
from graphmem.store.forgetting import Forgetting


def prunes(
    core: Core, trace_days: Mapping[str, int], own_traces: Sequence[str]
) -> tuple[Prune, ...]:
    """What holds the bounds of the core.

    ``trace_days`` are those of kinds with their own; ``own_traces`` are kinds that rooms forget.
    """
    kept, traces = core.settings.keep, core.settings.traces

    def forgetting(run: Run) -> Forgetting:
        return Forgetting(connection=core.connection, run=run)

    def ago(days: int) -> datetime:
        return core.clock.now() - timedelta(days=days)

    def forget_traces(before: datetime, run: Run) -> int:
        of_kinds = sum(
            forgetting(run).older(
                "traces.forget_of_kind", "traces.count_of_kind_before", kind=kind, before=ago(days)
            )
            for kind, days in trace_days.items()
        )
        old = forgetting(run).older(
            "traces.forget",
            "traces.count_before",
            before=before,
            other_kinds=[*sorted(trace_days), *own_traces],
        )
        beyond = forgetting(run).beyond(
            "traces.forget_oldest",
            "traces.count",
            most=traces.keep_most,
            other_kinds=list(own_traces),
        )
        return of_kinds + old + beyond

    def forget_runs(_: datetime, run: Run) -> int:
        old = forgetting(run).older(
            "jobs.forget_runs", "jobs.count_runs_before", before=ago(kept.runs_days)
        )
        beyond = forgetting(run).older(
            "jobs.forget_older_runs", "jobs.count_older_runs", most=kept.runs_most
        )
        return old + beyond

    def forget_vectors(_: datetime, run: Run) -> int:
        old = forgetting(run).older(
            "history.forget_vectors",
            "history.count_vectors_before",
            before=ago(kept.former_vectors_days),
        )
        beyond = forgetting(run).beyond(
            "history.forget_oldest_vectors",
            "history.count_vectors",
            most=kept.former_vectors_most,
        )
        return old + beyond

    def forget_retry_keys(_: datetime, run: Run) -> int:
        return forgetting(run).beyond(
            "service.forget_oldest_idempotency_keys",
            "service.count_idempotency_keys",
            most=kept.retry_keys_most,
        )

    return (
        Prune(counted_as="forgotten", forget=forget_traces),
        Prune(counted_as="runs_forgotten", forget=forget_runs),
        Prune(counted_as="vectors_forgotten", forget=forget_vectors),
        Prune(counted_as="retry_keys_forgotten", forget=forget_retry_keys),
    )
