"""Which call gets a thread."""

import threading
from types import SimpleNamespace

import pytest
from waiting import eventually

from api.dispatching import WAIT_SECONDS, FairDispatcher, TooManyCalls, key_of


class Call:
    """A call of a key that lasts until it is let go."""

    def __init__(self, key="", path="/v1/recall"):
        headers = {"X_API_KEY": key} if key else {}
        request = SimpleNamespace(error=None, path=path, headers=headers)
        self.requests = [request]
        self.began, self.may_end = threading.Event(), threading.Event()
        self.refused = None

    def service(self):
        self.refused = self.requests[0].error
        self.began.set()
        if self.refused is None:
            self.may_end.wait(10)

    def cancel(self):
        self.may_end.set()


@pytest.fixture
def dispatch():
    """A dispatcher of four threads, three for a key, and its clock."""
    time = SimpleNamespace(now=0.0)
    made, calls = FairDispatcher(4, most=3, clock=lambda: time.now), []

    def add(*arguments, **options):
        call = Call(*arguments, **options)
        calls.append(call)
        made.add_task(call)
        return call

    yield SimpleNamespace(add=add, dispatcher=made, time=time)
    for call in calls:
        call.may_end.set()
    made.shutdown(timeout=5)


def has_begun(call):
    return call.began.wait(5)


def test_a_key_gets_three_quarters_and_others_the_rest(dispatch):
    mine = [dispatch.add("mine") for _ in range(4)]
    other = dispatch.add("other")

    assert all(has_begun(call) for call in [*mine[:3], other])
    assert not mine[3].began.is_set()


@pytest.mark.parametrize(
    "headers",
    [
        {"AUTHORIZATION": "Bearer K"},
        {"AUTHORIZATION": "bearer  K "},
        {"X_API_KEY": " K"},
        {"AUTHORIZATION": "Basic x7", "X_API_KEY": "K"},
    ],
)
def test_a_key_is_one_however_it_is_sent(headers):
    assert key_of({"X_API_KEY": "K"}) == key_of(headers)
    assert key_of({"X_API_KEY": "L"}) != key_of(headers)


def test_what_waits_follows_when_another_call_of_its_key_ends(dispatch):
    first, second, _, fourth, fifth = (dispatch.add("mine") for _ in range(5))
    assert has_begun(first)

    first.may_end.set()
    assert has_begun(fourth)
    assert not fifth.began.is_set()
    second.may_end.set()
    assert has_begun(fifth)


@pytest.mark.parametrize(
    ("waited", "is_refused"), [(WAIT_SECONDS - 0.01, False), (WAIT_SECONDS, True)]
)
def test_what_waited_a_second_is_refused(dispatch, waited, is_refused):
    calls = [dispatch.add("mine") for _ in range(4)]
    assert has_begun(calls[2])

    dispatch.time.now += waited
    dispatch.dispatcher.refuse_late()

    assert is_refused == eventually(calls[3].began.is_set, seconds=1 if is_refused else 0.2)
    assert is_refused == isinstance(calls[3].refused, TooManyCalls)


def test_health_and_metrics_are_answered_beside(dispatch):
    for key in ("a", "b"):
        for _ in range(3):
            dispatch.add(key)

    assert has_begun(dispatch.add("a", path="/health/live"))
    assert has_begun(dispatch.add(path="/metrics"))


def test_a_key_that_had_all_its_calls_answered_gets_as_many_again(dispatch):
    for _ in range(3):
        calls = [dispatch.add("mine") for _ in range(6)]
        for call in calls:
            call.may_end.set()
        assert all(has_begun(call) for call in calls)

    last = [dispatch.add("mine") for _ in range(3)]
    assert all(has_begun(call) for call in last)
