"""Limits of a whole job: counted once for all processes, kept through kills, and never paid for twice."""

import multiprocessing
import pickle
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import ConfigurationError, Usage
from groundwire.batch import Batch, Local
from groundwire.batch.shared import Ledger, SharedPace, SharedPurse
from groundwire.core.budget import Budget
from groundwire.judge.limits import Pace
from tests.batch import answers
from tests.batch.answers import jsonl, row
from tests.batch.test_batch import HERE, run, written

TWO = Local(processes=2)
pytestmark = pytest.mark.timeout(300)  # processes that start on a busy machine


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@given(
    st.lists(st.tuples(st.floats(0, 40), st.integers(1, 7), st.floats(0, 90)), max_size=25),
    st.integers(1, 6),
)
def test_the_shared_pace_is_that_of_one_process(tmp_path_factory, takes, limit):
    """The same waits for the same requests as the pace that a judge has by itself."""
    clock = Clock()
    ledger = Ledger(tmp_path_factory.mktemp("pace") / "spent.sqlite", clock=clock)
    shared, own = SharedPace(ledger, "requests", limit), Pace(limit, clock=clock)
    for pause, amount, within in takes:
        clock.now += pause
        assert shared.take(amount, within=within) == pytest.approx(own.take(amount, within=within))


def test_budgets_are_kept_through_pickling_and_other_connections(tmp_path):
    """What one spends, all have spent; what is given back, all may use."""
    first = Ledger(tmp_path / "spent.sqlite")
    second = pickle.loads(pickle.dumps(first))
    budget = Budget(calls=3, cost=10.0)
    purses = [SharedPurse(one, budget) for one in (first, second)]
    assert [purses[n % 2].claim() for n in range(3)] == ["", "", ""]
    assert "it needs 1 call, and has 3 in all" in purses[1].claim()
    purses[0].give_back()
    assert purses[1].claim() == ""
    purses[1].settle(Usage(calls=1, input_tokens=5, cost=10.0))
    assert first.spent() == Usage(calls=3, input_tokens=5, cost=10.0)
    assert "10 in money is reached" in SharedPurse(first, Budget(cost=10.0)).claim()


def _take(path, count):
    ledger, budget = Ledger(path), Budget(calls=60)
    return [SharedPurse(ledger, budget).claim() == "" for _ in range(count)]


def test_processes_at_once_never_exceed_it(tmp_path):
    """Three processes, forty calls each, room for sixty."""
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        taken = pool.starmap(_take, [(str(tmp_path / "spent.sqlite"), 40)] * 3)
    assert sum(map(sum, taken)) == 60


def test_the_budget_is_the_job_s_whoever_spends_it(tmp_path):
    """Two processes make no call more than it has; what is left over is done by a run with a larger one."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(60)))
    recipe = answers.Judged(asked=str(tmp_path / "asked"), calls=25)
    summary = run(path, tmp_path / "out", TWO, checker=recipe, unit_rows=10)
    assert len(recipe.lines()) == summary.stats.calls == 25
    reasons = Counter(one["abstention"] for one in written(tmp_path / "out"))
    assert reasons[None] == 25
    assert summary.stopped == "" or "has 25 in all, 25 of them made" in summary.stopped
    assert set(reasons) <= {None, "OVER_BUDGET"}
    again = run(path, tmp_path / "out", TWO, checker=recipe)
    assert (again.now.rows, len(recipe.lines())) == (0, 25)
    more = answers.Judged(asked=str(tmp_path / "asked"), calls=100)
    done = run(path, tmp_path / "out", TWO, checker=more)
    assert done.complete
    assert done.stats.abstentions == {}
    assert sorted(line.split(" ", 1)[1] for line in more.lines()) == sorted(f"Bag {n}" for n in range(60))
    assert [one["id"] for one in written(tmp_path / "out")] == [f"r{n}" for n in range(60)]


def test_a_reply_is_paid_for_once(tmp_path):
    """Done anew after a kill, a unit asks only for what no process was told before."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(30)))
    recipe = answers.Judged(asked=str(tmp_path / "asked"), cost=1000.0)
    first = run(path, tmp_path / "out", TWO, checker=recipe, unit_rows=10)
    assert first.stats.calls == 30
    for part in list((tmp_path / "out").glob("part-*"))[:2]:
        part.unlink()
    assert run(path, tmp_path / "out", TWO, checker=recipe).complete
    assert len(recipe.lines()) == 30


def test_a_reply_that_could_not_be_read_is_asked_for_anew(tmp_path):
    """Judged again, its row hears another reply and not the remembered one; no other reply is paid for."""
    path, garbled = jsonl(tmp_path / "in.jsonl", map(row, range(30))), tmp_path / "garbled"
    recipe = answers.Judged(asked=str(tmp_path / "asked"), garbled=str(garbled))
    run(path, tmp_path / "out", checker=recipe, unit_rows=10, on_done=lambda _: garbled.touch())
    garbled.unlink()
    assert Counter(one["abstention"] for one in written(tmp_path / "out")) == {
        None: 10,
        "UNREADABLE_REPLY": 20,
    }
    summary = run(path, tmp_path / "out", TWO, checker=recipe, retry_errors=True)
    assert (summary.stats.abstentions, len(recipe.lines())) == ({}, 50)
    assert [one["id"] for one in written(tmp_path / "out")] == [f"r{n}" for n in range(30)]
    for part in (tmp_path / "out").glob("part-*"):
        part.unlink()
    assert run(path, tmp_path / "out", checker=recipe).stats.abstentions == {}
    assert len(recipe.lines()) == 50  # what is remembered now is what could be read


def test_the_rate_is_the_job_s_whoever_asks(tmp_path):
    """Never more than so many requests within a minute, over both processes."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(8)))
    recipe = answers.Judged(asked=str(tmp_path / "asked"), requests_per_minute=6, timeout=0.5)
    run(path, tmp_path / "out", TWO, checker=recipe, unit_rows=2)
    assert len(recipe.lines()) <= 6
    reasons = Counter(one["abstention"] for one in written(tmp_path / "out"))
    assert reasons == Counter({None: len(recipe.lines()), "TIMEOUT": 8 - len(recipe.lines())})


def test_what_it_would_take_is_told_before(tmp_path):
    """Calls, tokens and cost of what is left; from all rows where they are few, from a sample where not."""
    path = jsonl(tmp_path / "in.jsonl", ({**row(n), "answer": "x" * (n % 97)} for n in range(1, 3001)))
    recipe = answers.Judged(asked=str(tmp_path / "asked"), requests_per_minute=100)
    with Batch([str(path)], str(tmp_path / "out"), checker=recipe, unit_rows=10) as job:
        told = job.forecast()
    assert (told.rows, told.calls, told.sampled) == (3000, 3000, 500)
    assert told.minutes == 30
    assert 0 < told.margin < 0.2
    assert told.cost == pytest.approx(told.input_tokens)
    assert recipe.lines() == []


def test_what_judging_again_would_take_is_told_before(tmp_path):
    """Of rows that a model failed on, where they are to be judged once more, and of no other that is done."""
    path, broken = jsonl(tmp_path / "in.jsonl", map(row, range(30))), tmp_path / "broken"
    recipe = answers.Judged(asked=str(tmp_path / "asked"), broken=str(broken))
    run(path, tmp_path / "out", checker=recipe, unit_rows=10, on_done=lambda _: broken.touch())
    with Batch([str(path)], str(tmp_path / "out"), checker=recipe) as job:
        assert (job.forecast().rows, job.forecast().calls) == (0, 0)
        told = job.forecast(retry_errors=True)
    assert (told.rows, told.calls, told.margin) == (20, 20, 0)


def test_a_limit_that_is_no_number_is_refused(tmp_path):
    """Before anything is done."""
    with pytest.raises(ConfigurationError, match="processes: expected a whole number"):
        Local(processes=0)
    assert HERE.processes == 1
