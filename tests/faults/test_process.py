"""What the process around a judge can do: its clock jumps, its loop closes, it forks, it ends."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time

import pytest

from groundwire import Checker, Judge, Policy
from groundwire.langchain import GroundwireCallbackHandler
from tests.faults.asked import DEADLINE, FEE, LATE, MARGIN, checked, outcome_of
from tests.faults.told import ROOT
from tests.langchain.apps import lcel, question

DAY = 86_400.0


def never(system, user):
    threading.Event().wait()


def run(code, *args):
    """A process of its own: what it said, and the seconds it lived for beyond its own start."""
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True,
        check=False,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_judge_that_never_returns_is_given_up_each_time_on_few_threads(told):
    before = threading.active_count()
    one = Checker("judge", judge=Judge(never, timeout=0.1, breaker=None), policy=Policy(timeout=DEADLINE))
    results = [checked(one) for _ in range(20)]
    assert {outcome_of(outcome) for outcome, _ in results} == {LATE}
    assert max(seconds for _, seconds in results) < DEADLINE + MARGIN
    assert threading.active_count() - before <= 2 * one.judge.max_concurrency
    told("a judge that never returns", "function", LATE, max(s for _, s in results), deadline=0.1)


def test_an_application_goes_on_while_its_judge_never_returns(told):
    handler = GroundwireCallbackHandler(
        Checker("judge", judge=Judge(never, timeout=0.1)), on_outcome=None, workers=2
    )
    started = time.monotonic()
    answers = [lcel().invoke(question(n), config={"callbacks": [handler]}) for n in range(5)]
    seconds = time.monotonic() - started
    assert all(answers)
    assert handler.flush(30)
    assert not any(record.outcome.grounded for record in handler.outcomes)
    told(
        "a judge that never returns, in an application",
        "callback",
        "answers not held up",
        seconds,
        deadline=None,
    )


@pytest.mark.parametrize(("jump", "way"), [(-DAY, "back"), (DAY, "forward")])
def test_deadlines_are_none_of_the_wall_clock_s(jump, way, told, monkeypatch):
    """The clock on the wall jumps by a day while a call is out: it is late when it is late."""
    real, moved = time.time, threading.Event()
    monkeypatch.setattr(time, "time", lambda: real() + (jump if moved.is_set() else 0.0))
    threading.Timer(DEADLINE / 3, moved.set).start()
    outcome, seconds = checked(Checker("judge", judge=Judge(never, timeout=DEADLINE)))
    assert moved.is_set()
    assert abs(time.time() - real()) > DAY / 2
    assert outcome_of(outcome) == LATE
    assert DEADLINE <= seconds < DEADLINE + MARGIN
    told(f"clock set {way} by a day", "function", LATE, seconds, deadline=DEADLINE)


def test_a_loop_that_closes_while_a_call_is_out_hears_nothing_of_it(told, caplog):
    gate, ended = threading.Event(), threading.Event()

    def slow(system, user):
        gate.wait(20)
        ended.set()
        return "{}"

    async def ask():
        async with asyncio.timeout(DEADLINE):
            await Checker("judge", judge=Judge(slow)).acheck(FEE)

    started = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(ask())
    seconds = time.monotonic() - started
    gate.set()
    assert ended.wait(20)
    time.sleep(0.1)
    assert caplog.records == []
    assert seconds < DEADLINE + MARGIN
    told("event loop closed", "function", "cancelled, and nothing is said later", seconds, deadline=DEADLINE)


EXIT = """
import sys, threading, time
from groundwire import Checker, Judge
from groundwire.host.observer import Observed, Observer
from tests.faults.asked import FEE
from uuid import uuid4
judge = Judge(lambda *_: threading.Event().wait(), timeout=0.2) if sys.argv[1] == "hangs" else None
checker = Checker("judge", judge=judge) if judge else Checker("lexical")
said = lambda record: sys.stdout.write(f"{record.outcome.grounded}\\n")
observer = Observer(checker, said, mode="background", workers=2, max_pending=99, keep=9)
for _ in range(20):
    observer.observe(Observed(run_id=(key := uuid4()), trace_id=key, interaction=FEE))
print("end", time.monotonic(), file=sys.stderr)
"""


@pytest.mark.parametrize("way", ["works", "hangs"])
def test_a_process_that_ends_with_answers_waiting_tells_an_outcome_for_each(way, told):
    done = run(EXIT, way)
    ended = time.monotonic()
    outcomes = done.stdout.splitlines()
    assert len(outcomes) == 20
    (end,) = [float(line.split()[1]) for line in done.stderr.splitlines() if line.startswith("end ")]
    seconds = ended - end
    assert set(outcomes) == {"False"}, "one of them would have passed as grounded"
    what = "exit while the judge hangs" if way == "hangs" else "exit with answers waiting"
    assert seconds < 20 * 0.2 / 2 + 10
    told(what, "callback", "an outcome for each, then the exit", seconds)


FORK = """
import json, os, sys, threading, time
from groundwire import Checker, Judge
from tests.faults.asked import FEE, RIGHT
entered, gate = threading.Event(), threading.Event()
def model(system, user):
    if not gate.is_set():
        entered.set(); gate.wait(20)
    return RIGHT
one = Checker("judge", judge=Judge(model, max_concurrency=1, timeout=15))
out = []
parent = threading.Thread(target=lambda: out.append(one.check(FEE)))
parent.start()
entered.wait(20)
started = time.monotonic()
child = os.fork()
if child == 0:
    gate.set()
    outcome = one.check(FEE)
    os._exit(0 if outcome.hallucinated else 1)
status = os.waitpid(child, 0)[1]
seconds = time.monotonic() - started
gate.set()
parent.join(20)
print(json.dumps([status, out[0].hallucinated, seconds]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_with_a_call_out_leaves_both_able_to_judge(told):
    status, hallucinated, seconds = json.loads(run(FORK).stdout)
    assert (status, hallucinated) == (0, True)
    told("fork with a call out", "function", "parent and child judge", seconds)
