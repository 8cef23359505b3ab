from datetime import timedelta

from builders import NOW

from jobs.schedule import SCHEDULE


def test_every_job_has_a_time_and_a_grace_of_minutes():
    next_times = {job.name: job.trigger.get_next_fire_time(NOW, NOW) - NOW for job in SCHEDULE}

    assert {
        "embed_pending": timedelta(minutes=1),
        "expire": timedelta(minutes=5),
        "decay_commitments": timedelta(hours=17, minutes=20),  # at 2:50
        "archive": timedelta(hours=17, minutes=30),
        "curate_dedupe": timedelta(minutes=10),
        "curate_fold": timedelta(minutes=10),
        "consolidate": timedelta(minutes=10),
        "detect_contradictions": timedelta(minutes=10),
        "integrity": timedelta(hours=18, minutes=30),
        "prune_traces": timedelta(hours=18),
    } == next_times
    assert all(job.grace_seconds >= 60 for job in SCHEDULE)
