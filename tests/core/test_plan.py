"""Plans: generators that ask for work; drivers and combinators that run them."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import AbstentionReason, Usage
from groundwire.core.plan import Complete, Completed, Failed, metered, together
from groundwire.judge.drivers import NoBackend, arun, run


class Echo:
    """A backend that replies with what it was asked, one call each, and remembers its batches."""

    def __init__(self):
        self.batches = []
        self.timeouts = []

    def perform(self, requests, *, timeout):
        self.batches.append([request.user for request in requests])
        self.timeouts.append(timeout)
        return [Completed(texts=(request.user,), usage=Usage(calls=1)) for request in requests]

    async def aperform(self, requests, *, timeout):
        return self.perform(requests, timeout=timeout)


def asks(name, steps, per_step=1):
    """A plan that asks ``steps`` times and returns everything it was told."""
    heard = []
    for step in range(steps):
        requests = [Complete(system="", user=f"{name}.{step}.{i}") for i in range(per_step)]
        replies = yield requests
        assert len(replies) == per_step
        heard += [reply.texts[0] for reply in replies]
    return heard


def both_colours(plan_maker):
    sync, other = Echo(), Echo()
    return (run(plan_maker(), sync), sync), (asyncio.run(arun(plan_maker(), other)), other)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_plan_says_the_same_in_both_colours(steps):
    (one, sync), (other, other_backend) = both_colours(lambda: asks("p", steps, per_step=2))
    assert one == other == [f"p.{step}.{i}" for step in range(steps) for i in range(2)]
    assert sync.batches == other_backend.batches


def test_an_error_in_a_plan_reaches_the_caller_in_both_colours():
    def broken():
        yield [Complete(system="", user="x")]
        raise LookupError("a bug in the plan")

    with pytest.raises(LookupError, match="a bug"):
        run(broken(), Echo())
    with pytest.raises(LookupError, match="a bug"):
        asyncio.run(arun(broken(), Echo()))


def test_the_async_driver_keeps_a_plan_off_the_event_loop():
    def notes_its_threads():
        yield [Complete(system="", user="x")]
        return threading.current_thread()

    async def main():
        return await arun(notes_its_threads(), Echo()), threading.current_thread()

    worker, loop_thread = asyncio.run(main())
    assert worker is not loop_thread


def test_past_the_deadline_every_request_fails_with_timeout_and_none_is_performed():
    def asks_once():
        (reply,) = yield [Complete(system="", user="x")]
        return reply

    backend = Echo()
    reply = run(asks_once(), backend, timeout=0)
    assert isinstance(reply, Failed)
    assert reply.reason is AbstentionReason.TIMEOUT
    assert asyncio.run(arun(asks_once(), backend, timeout=0)) == reply
    assert backend.batches == []


def test_the_backend_is_told_how_long_is_left():
    backend = Echo()
    run(asks("p", 2), backend, timeout=100)
    assert 100 >= backend.timeouts[0] >= backend.timeouts[1] > 0


def test_asking_without_a_judge_is_a_failure_that_says_what_to_pass():
    def asks_once():
        (reply,) = yield [Complete(system="", user="x")]
        return reply

    reply = run(asks_once(), NoBackend())
    assert reply.reason is AbstentionReason.MODEL_FAILED
    assert "judge=Judge(model)" in reply.detail


def test_a_metered_plan_adds_up_what_its_replies_cost():
    heard, usage = run(metered(asks("p", 3, per_step=2)), Echo())
    assert len(heard) == 6
    assert usage == Usage(calls=6)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), max_size=5))
def test_plans_run_together_hear_exactly_what_they_hear_alone(shapes):
    alone = [run(asks(n, *shape), Echo()) for n, shape in enumerate(shapes)]
    backend = Echo()
    assert run(together([asks(n, *shape) for n, shape in enumerate(shapes)]), backend) == alone
    assert len(backend.batches) == max((steps for steps, _ in shapes), default=0)
