from datetime import timedelta

from builders import NOW

from jobs.schedule import schedule

SCHEDULE = schedule(30)


def test_every_job_has_a_time_and_a_grace_of_minutes():
    next_times = {
        job.name: job.trigger.get_next_fire_time(None, NOW + timedelta(seconds=1)) - NOW
        for job in SCHEDULE
    }

    assert {  # it is 9:30
        "ingest": timedelta(seconds=30),
        "embed_pending": timedelta(minutes=1),
        "expire": timedelta(minutes=5),
        "curate_dedupe": timedelta(minutes=10),
        "curate_fold": timedelta(minutes=2),
        "consolidate": timedelta(minutes=4),
        "detect_contradictions": timedelta(minutes=6),
        "decay_commitments": timedelta(hours=17, minutes=20),
        "archive": timedelta(hours=17, minutes=30),
        "prune_traces": timedelta(hours=18),
        "integrity": timedelta(hours=18, minutes=30),
    } == next_times
    assert all(job.grace_seconds >= 60 for job in SCHEDULE)


def test_processes_that_fire_at_the_same_time_do_so_in_the_same_slot_and_the_next_time_in_a_later_one():
    for job in SCHEDULE:
        first = job.trigger.get_next_fire_time(None, NOW + timedelta(seconds=1))
        second = job.trigger.get_next_fire_time(first, first + timedelta(seconds=1))

        assert job.slot(first) == job.slot(first + timedelta(seconds=20))
        assert job.slot(first) < job.slot(second)
