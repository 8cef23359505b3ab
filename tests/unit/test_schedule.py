from datetime import timedelta

import pytest
from builders import NOW

from graphmem.model.job import ByHand, Daily, Every, Job
from jobs.schedule import scheduled


def job(name, schedule):
    return Job(name=name, does="works", schedule=schedule, function=lambda _: None)


SCHEDULE = scheduled(
    [
        job("often", Every(seconds=30)),
        job("minutely", Every(minutes=1)),
        job("first", Every(minutes=10)),
        job("second", Every(minutes=10, offset=2)),
        job("nightly", Daily(hour=2, minute=50)),
        job("asked for", ByHand()),
    ]
)


def test_every_schedule_fires_at_its_time_and_what_is_done_by_hand_never():
    next_times = {
        job.name: job.trigger.get_next_fire_time(None, NOW + timedelta(seconds=1)) - NOW
        for job in SCHEDULE
    }

    assert {  # it is 9:30
        "often": timedelta(seconds=30),
        "minutely": timedelta(minutes=1),
        "first": timedelta(minutes=10),
        "second": timedelta(minutes=2),
        "nightly": timedelta(hours=17, minutes=20),
    } == next_times


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("every minute", Every(minutes=1)),
        ("every 30 seconds", Every(seconds=30)),
        ("every 10 minutes, where a space is due", Every(minutes=10, where="where a space is due")),
        ("daily at 2:05 UTC", Daily(hour=2, minute=5)),
        ("by hand", ByHand()),
    ],
)
def test_a_schedule_says_in_words_when_it_runs(text, schedule):
    assert text == schedule.text


def test_processes_that_fire_at_one_time_do_so_in_one_slot_and_next_time_in_a_later_one():
    for job in SCHEDULE:
        first = job.trigger.get_next_fire_time(None, NOW + timedelta(seconds=1))
        second = job.trigger.get_next_fire_time(first, first + timedelta(seconds=1))

        assert job.slot(first) == job.slot(first + timedelta(seconds=20))
        assert job.slot(first) < job.slot(second)
