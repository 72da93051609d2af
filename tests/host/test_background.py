"""The background queue: bounded, isolated, harmless, and empty when the interpreter ends."""

import os
import subprocess
import sys
import threading
from concurrent.futures import thread
from contextvars import ContextVar

import pytest

from groundwire.host.background import Background, OverdueError

HOSTS = ContextVar("hosts", default="nothing")


class Gate:
    """Work that waits until it is let through."""

    def __init__(self):
        self.entered = threading.Semaphore(0)
        self.opened = threading.Event()

    def __call__(self):
        self.entered.release()
        assert self.opened.wait(30)
        return "through"


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.opened.set()


def test_each_result_is_handed_on():
    """What work returns, or raises, is what done gets."""
    results = []
    background = Background()
    error = ValueError("no")

    def fail():
        raise error

    background.submit(lambda: 7, results.append)
    background.submit(fail, results.append)
    assert background.flush(30)
    assert sorted(results, key=str) == [7, error]


def test_work_inherits_nothing_from_the_host():
    """Work runs in an empty context, wherever it was submitted."""
    results = []
    background = Background()
    token = HOSTS.set("the host's")
    background.submit(HOSTS.get, results.append)
    HOSTS.reset(token)
    assert background.flush(30)
    assert results == ["nothing"]


def test_what_done_does_costs_the_next_nothing(caplog):
    """A done that raises is logged, and the queue goes on."""
    results = []
    background = Background(workers=1)

    def fail(result):
        raise ValueError

    background.submit(lambda: 1, fail)
    background.submit(lambda: 2, results.append)
    assert background.flush(30)
    assert results == [2]
    assert "could not be handed on" in caplog.text


def test_a_full_queue_drops_the_newest_and_says_so_once(gate, caplog):
    """Nobody waits for room; what finds none is counted, and told at most once a minute."""
    results = []
    background = Background(workers=1, max_pending=2)
    taken = [background.submit(gate, results.append) for _ in range(5)]
    assert taken == [True, True, False, False, False]
    assert (background.pending, background.dropped) == (2, 3)
    gate.opened.set()
    assert background.flush(30)
    assert results == ["through"] * 2
    assert len([record for record in caplog.records if "no more fit" in record.getMessage()]) == 1


def test_work_that_hangs_is_given_up(gate):
    """Past its time, done gets an OverdueError, and the worker is free again."""
    results = []
    background = Background(workers=1, timeout=0.05)
    background.submit(gate, results.append)
    assert background.flush(30)
    background.submit(lambda: "next", results.append)
    assert background.flush(30)
    assert isinstance(results[0], OverdueError)
    assert results[1] == "next"


def test_hanging_work_does_not_pile_up(gate):
    """When too many are stuck, no further thread is risked until some come back."""
    results = []
    background = Background(workers=1, timeout=0.02)
    for _ in range(20):
        background.submit(gate, results.append)
    assert background.flush(30)
    assert all(isinstance(result, OverdueError) for result in results)
    assert len(results) == 20
    assert sum("not tried" in str(result) for result in results) == 4


def test_a_system_without_a_thread_to_give_loses_no_result(monkeypatch):
    """Work that is watched has a thread of its own; where there is none, it is done all the same."""
    results, start = [], threading.Thread.start

    def refuse(thread):
        if thread.name == "groundwire-attempt":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    background = Background(workers=1, timeout=30)
    background.submit(lambda: 7, results.append)
    assert background.flush(30)
    assert results == [7]


def test_flush_says_when_time_ran_out(gate):
    """A flush that can't wait any longer returns False, and a later one True."""
    background = Background()
    background.submit(gate, lambda _: None)
    assert not background.flush(0.01)
    gate.opened.set()
    assert background.flush(30)


def test_a_flush_from_inside_does_not_wait_for_itself():
    """A callback that flushes, or closes, would keep its worker and the interpreter's exit for ever."""
    background, flushed = Background(workers=2), []
    together = threading.Barrier(2, timeout=20)

    def done(result):
        together.wait()
        flushed.append(background.flush(20))

    for _ in range(2):
        background.submit(lambda: None, done)
    assert background.flush(60)
    background.submit(lambda: None, lambda _: flushed.append(background.close(20)))
    assert background.flush(60)
    assert flushed == [True] * 3


@pytest.mark.parametrize(("workers", "pieces"), [(1, 3), (2, 9), (2, 60)])
def test_flushes_from_inside_leave_threads_for_what_waits(workers, pieces):
    """A callback may flush after each answer: were all workers to wait, nobody would do the rest."""
    background, flushed, begin = Background(workers=workers), [], threading.Event()
    for _ in range(pieces):
        background.submit(begin.wait, lambda _: flushed.append(background.flush(60)))
    begin.set()
    assert background.flush(30)
    assert len(flushed) == pieces
    assert any(flushed)


def test_a_flush_from_inside_waits_for_what_has_not_begun():
    """Another thread does it, and no more of these stay than were asked for."""
    background, order, begin = Background(workers=1), [], threading.Event()
    background.submit(begin.wait, lambda _: (background.flush(30), order.append("flushed")))
    for n in range(3):
        background.submit(lambda n=n: n, order.append)
    begin.set()
    assert background.flush(30)
    assert order == [0, 1, 2, "flushed"]
    used = set()
    for _ in range(5):
        background.submit(threading.get_ident, used.add)
    assert background.flush(30)
    assert len(used) <= 2


def test_each_of_its_workers_is_used():
    """As many pieces of work go on at once as there are workers, however idle they were before."""
    background = Background(workers=3)
    background.submit(lambda: None, lambda _: None)
    assert background.flush(30)
    together = threading.Barrier(3, timeout=20)
    results = []
    for _ in range(3):
        background.submit(together.wait, results.append)
    assert background.flush(30)
    assert sorted(results) == [0, 1, 2]


def test_what_the_garbage_collector_ends_can_be_submitted():
    """It may run while its thread holds any lock, such as the one that all executors share, or ours."""
    background, results = Background(), []

    def collected():
        with thread._global_shutdown_lock, background._changed:
            background.submit(lambda: "done", results.append)

    caller = threading.Thread(target=collected, daemon=True)
    caller.start()
    caller.join(20)
    assert not caller.is_alive()
    assert background.flush(30)
    assert results == ["done"]


def test_a_closed_queue_takes_nothing_and_raises_nothing(caplog):
    """After close, work is dropped and counted; closing again is no mistake."""
    results = []
    background = Background()
    background.submit(lambda: 1, results.append)
    assert background.close(30)
    assert background.close(30)
    assert not background.submit(lambda: 2, results.append)
    assert (results, background.dropped) == ([1], 1)
    (told,) = caplog.messages
    assert "after close()" in told


@pytest.mark.parametrize("limit", [{"workers": 0}, {"max_pending": 0}])
def test_limits_that_cant_work_are_refused(limit):
    """A queue without room or hands is a mistake at once."""
    with pytest.raises(ValueError, match="at least 1"):
        Background(**limit)


def output_of(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.splitlines()


def test_a_normal_exit_loses_nothing():
    """What is queued when the main thread ends is performed before the interpreter does."""
    lines = output_of(
        """
import time
from groundwire.host.background import Background
background = Background(workers=1)
for i in range(5):
    background.submit(lambda i=i: time.sleep(0.02) or i, lambda i: print(i, flush=True))
"""
    )
    assert lines == ["0", "1", "2", "3", "4"]


def test_what_arrives_during_the_exit_is_not_lost():
    """A thread that outlives the main one has its work done too."""
    lines = output_of(
        """
import threading
from groundwire.host.background import Background
background = Background()
background.submit(lambda: "early", print)
def late():
    threading.main_thread().join()
    background.submit(lambda: "late", print)
threading.Thread(target=late).start()
"""
    )
    assert lines == ["early", "late"]


def test_work_that_never_ends_does_not_keep_the_interpreter():
    """An exit waits for work no longer than its timeout."""
    lines = output_of(
        """
import threading
from groundwire.host.background import Background
background = Background(timeout=0.1)
background.submit(threading.Event().wait, lambda result: print(type(result).__name__))
"""
    )
    assert lines == ["OverdueError"]


def test_a_worker_of_celery_has_a_result_for_each_before_it_ends():
    """No thread outlives the signal of its end: what can't be done by then is told as given up."""
    lines = output_of(
        """
import os, threading
from groundwire.host import background as module
from tests.celery import worker_ends
module._FAREWELL = 0.2
background = module.Background(workers=1, timeout=0.5)
for work in (lambda: "done", threading.Event().wait, lambda: "too late"):
    background.submit(work, lambda result: print(getattr(result, "args", result), flush=True))
worker_ends()
os._exit(0)
"""
    )
    assert lines == [
        "done",
        "('it was given up after 0.5 seconds',)",
        "('it had not begun when the queue was closed',)",
    ]


def test_a_queue_without_work_is_not_kept_for_celery():
    """An application may make a handler for each request."""
    lines = output_of(
        """
import gc, time, weakref
from groundwire.host import background as module
from tests import celery
module._LINGER = 0.0
background = module.Background()
background.submit(lambda: "done", print)
background.flush(20)
gone = weakref.ref(background)
del background
until = time.monotonic() + 20
while gone() is not None and time.monotonic() < until:
    gc.collect()
    time.sleep(0.01)
print(gone())
"""
    )
    assert lines == ["done", "None"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_child_has_a_queue_of_its_own():
    """The child starts empty and works; the parent's work stays the parent's."""
    lines = output_of(
        """
import os, threading
from groundwire.host.background import Background
background = Background(workers=1)
gate = threading.Event()
background.submit(gate.wait, lambda _: print("parent", flush=True))
child = os.fork()
if child == 0:
    assert background.pending == 0
    background.submit(lambda: "child", lambda result: print(result, flush=True))
    assert background.flush(20)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
gate.set()
"""
    )
    assert lines == ["child", "parent"]


def test_what_has_not_begun_when_a_closing_queue_runs_out_of_time_is_told():
    """Nothing waits for ever and nothing vanishes: each piece of work still gets its result."""
    begun, go = threading.Event(), threading.Event()
    results = []

    def slow():
        begun.set()
        go.wait(30)
        return "done"

    background = Background(workers=1)
    for _ in range(5):
        background.submit(slow, results.append)
    begun.wait(30)
    assert not background.close(0.01)
    go.set()
    assert background.flush(30)
    assert results[0] == "done"
    assert [type(result) for result in results[1:]] == [OverdueError] * 4


def test_work_that_is_merely_going_on_is_not_stuck():
    """Any number of workers may be busy at once; only what was given up counts against new work."""
    busy = threading.Barrier(21, timeout=30)
    results = []
    background = Background(workers=20, timeout=60)
    for _ in range(20):
        background.submit(busy.wait, results.append)
    busy.wait()
    assert background.flush(30)
    assert [result for result in results if isinstance(result, Exception)] == []
