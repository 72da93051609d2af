"""Calls: in their order, at their limit, given up in time, and gone when nobody asks."""

import asyncio
import os
import subprocess
import sys
import threading
import time

import pytest

from groundwire.judge.calls import Call, Calls


class Model:
    """Counts who is inside at once; holds everybody while ``open`` is cleared."""

    def __init__(self):
        self.open = threading.Event()
        self.entered = threading.Semaphore(0)
        self.inside = self.most = 0
        self._lock = threading.Lock()

    def __call__(self):
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.entered.release()
        self.open.wait(20)
        with self._lock:
            self.inside -= 1
        return "reply"


@pytest.fixture
def model():
    model = Model()
    yield model
    model.open.set()


@pytest.fixture
def threads():
    """The threads that calls of this test are out on."""
    before = set(threading.enumerate())
    return lambda: [thread for thread in threading.enumerate() if thread not in before]


def ended(threads):
    for thread in threads():
        thread.join(20)
    return threads() == []


def test_results_are_their_own_call_s():
    calls = Calls(limit=3, seconds=20)
    begun = [calls.submit(lambda i=i: i * i) for i in range(50)]
    assert [calls.result(call) for call in begun] == [i * i for i in range(50)]


def test_no_more_than_the_limit_are_out_at_once_and_no_thread_stays(model, threads):
    calls = Calls(limit=3, seconds=20)
    begun = [calls.submit(model) for _ in range(12)]
    for _ in range(3):
        assert model.entered.acquire(timeout=20)
    model.open.set()
    assert [calls.result(call) for call in begun] == ["reply"] * 12
    assert model.most == 3
    assert ended(threads)


def test_the_clock_of_a_call_starts_when_it_begins():
    """Twenty calls in a row take far longer than one may take, and none is late."""
    calls = Calls(limit=1, seconds=0.5)
    pause = threading.Event()
    begun = [calls.submit(lambda: pause.wait(0.05)) for _ in range(20)]
    assert [calls.result(call) for call in begun] == [False] * 20


def test_a_call_that_never_ends_gives_its_place_to_the_next(model):
    calls = Calls(limit=1, seconds=0.05)
    stuck, prompt = calls.submit(model), calls.submit(lambda: "prompt")
    with pytest.raises(TimeoutError, match=r"did not reply within 0\.05 seconds"):
        calls.result(stuck)
    assert calls.result(prompt) == "prompt"


def test_abandoned_calls_never_exceed_twice_the_limit_and_then_new_ones_are_refused_at_once(model, threads):
    calls = Calls(limit=2, seconds=0.05)
    begun = [calls.submit(model) for _ in range(10)]
    told = []
    for call in begun:
        with pytest.raises(TimeoutError) as caught:
            calls.result(call)
        told.append(str(caught.value))
    assert len(threads()) == 4
    assert told[-1] == "4 earlier calls never came back"
    started = time.monotonic()
    with pytest.raises(TimeoutError, match="4 earlier calls never came back"):
        calls.result(calls.submit(lambda: "new"))
    assert time.monotonic() - started < 0.05
    model.open.set()
    assert ended(threads)
    assert calls.result(calls.submit(lambda: "new")) == "new"


def test_a_check_that_runs_out_of_time_takes_its_waiting_calls_back(model, threads):
    calls = Calls(limit=1, seconds=20)
    until = time.monotonic() + 0.05
    never = []
    first = calls.submit(model, until=until)
    second = calls.submit(lambda: never.append("began"), until=until)
    for call in (first, second):
        with pytest.raises(TimeoutError, match="the time given to the whole check ran out"):
            calls.result(call)
    model.open.set()
    assert ended(threads)
    assert never == []


def test_a_call_that_never_had_its_turn_says_so(model, threads):
    calls = Calls(limit=1, seconds=20)
    until = time.monotonic() + 0.05
    first, second = (calls.submit(model, until=until) for _ in range(2))
    with pytest.raises(TimeoutError, match="before the model replied"):
        calls.result(first)
    with pytest.raises(TimeoutError, match=r"before it was this call's turn.*1 are out at once \(max_conc"):
        calls.result(second)
    model.open.set()
    assert ended(threads)


@pytest.mark.parametrize(
    ("waited", "ran", "had"),
    [(0, 0.1, True), (9, 1, False), (1, 9, True), (900, 21, True), (900, 19, False), (9, None, False)],
)
def test_a_call_had_time_if_it_had_all_of_its_own_or_most_of_the_check_s(waited, ran, had):
    calls = Calls(limit=1, seconds=20)
    call = Call(lambda: None, None)
    now = time.monotonic()
    call.asked = now - waited - (ran or 0)
    call.began = None if ran is None else now - ran
    assert calls.had_time(call) is had


def test_a_call_that_begins_to_rest_while_its_time_is_looked_at_breaks_nothing():
    """The thread that makes a call goes on after nobody waits for it, and may rest at any moment."""

    class Resting(Call):
        looks = 0

        @property
        def began(self):
            self.looks += 1
            return time.monotonic() - 1 if self.looks == 1 else None

        @began.setter
        def began(self, value):
            pass

    assert Calls(limit=1, seconds=20).had_time(Resting(lambda: None, None))


def test_what_work_raises_is_raised_where_it_is_awaited():
    calls = Calls(limit=1, seconds=20)

    def exits():
        raise SystemExit("from within")

    call = calls.submit(exits)
    with pytest.raises(SystemExit, match="from within"):
        calls.result(call)


async def test_an_event_loop_turns_while_it_waits_and_gives_up_in_time(model):
    calls = Calls(limit=1, seconds=0.2)
    turns = 0

    async def turning():
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    other = asyncio.create_task(turning())
    with pytest.raises(TimeoutError):
        await calls.aresult(calls.submit(model))
    other.cancel()
    assert turns > 5


def test_a_call_that_ends_after_its_event_loop_disturbs_nobody(model, threads, caplog):
    calls = Calls(limit=1, seconds=0.05)

    async def ask():
        with pytest.raises(TimeoutError):
            await calls.aresult(calls.submit(model))

    asyncio.run(ask())
    model.open.set()
    assert ended(threads)
    assert caplog.records == []


def test_cancelling_whoever_waits_takes_back_what_has_not_begun(model, threads):
    calls = Calls(limit=1, seconds=20)
    never = []

    async def ask():
        calls.submit(model)
        task = asyncio.create_task(calls.aresult(calls.submit(lambda: never.append("began"))))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(ask())
    model.open.set()
    assert ended(threads)
    assert never == []


def test_the_interpreter_does_not_wait_for_a_call_that_never_ends():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            """
import threading
from groundwire import Judge
from groundwire.core.plan import Complete
judge = Judge(lambda system, user: threading.Event().wait(), timeout=0.05)
print(judge.perform([Complete(system="", user="")], timeout=None)[0].reason)
""",
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "TIMEOUT\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_child_makes_calls_of_its_own():
    """A call that is out in the parent holds the only place, and a fork is taken while the lock is held."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            """
import os, threading
from groundwire.judge.calls import Calls
calls = Calls(limit=1, seconds=5)
entered, gate = threading.Event(), threading.Event()
out = calls.submit(lambda: entered.set() or gate.wait(20))
entered.wait(20)
with calls._lock:
    child = os.fork()
    if child == 0:
        print(calls.result(calls.submit(lambda: "child")), flush=True)
        os._exit(0)
status = os.waitpid(child, 0)[1]
gate.set()
print(status, calls.result(out))
""",
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode, done.stdout) == (0, "child\n0 True\n"), done.stderr
