"""Runs: in order, several at once, and neither twice nor never when the process dies."""

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from groundwire import (
    AbstentionReason,
    Checker,
    ConfigurationError,
    Detector,
    Interaction,
    Judge,
    OnAbstention,
    Policy,
    Verdict,
)
from groundwire.bench.runs import judge
from tests.bench.answers import Lottery, example
from tests.bench.killed import ROWS
from tests.servers.bedrock_server import bedrock

__all__ = ["bedrock"]


def run(record, asked, die_at, concurrency):
    return subprocess.run(
        [sys.executable, "-m", "tests.bench.killed", record, asked, str(die_at), str(concurrency)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.timeout(400)
@pytest.mark.parametrize("concurrency", [1, 4])
def test_killed_at_twenty_random_rows_it_ends_as_one_clean_run(tmp_path, concurrency):
    """The same outcomes in the same order; of what a kill cut short, what was in flight is asked again."""
    clean = run(tmp_path / "clean.jsonl", tmp_path / "clean.asked", 0, concurrency)
    assert clean.returncode == 0, clean.stderr
    record, asked = tmp_path / "killed.jsonl", tmp_path / "killed.asked"
    rng = random.Random(concurrency)
    kills = 0
    while kills < 20:
        left = ROWS - (len(record.read_bytes().splitlines()) - 1 if record.exists() else 0)
        # Some rows must be left for the kills that are still to come.
        most = max(1, left // (21 - kills)) * 2
        done = run(record, asked, rng.randint(1, max(1, min(most, left - 1))), concurrency)
        assert done.returncode == -signal.SIGKILL, done.stderr
        kills += 1
    last = run(record, asked, 0, concurrency)
    assert last.returncode == 0, last.stderr
    assert last.stdout == clean.stdout
    times = Counter(asked.read_text().splitlines())
    assert len(times) == ROWS
    assert ROWS <= times.total() <= ROWS + kills * concurrency
    if concurrency == 1:
        assert times.total() == ROWS + kills


def test_a_line_that_was_cut_off_is_judged_again(tmp_path):
    """A write that the process did not live to end leaves half a line: it goes, and the rest stays."""
    examples = [example(n) for n in range(5)]
    record = tmp_path / "record.jsonl"
    whole = list(judge(examples, Checker(Lottery()), record=record))
    lines = record.read_bytes().splitlines(keepends=True)
    record.write_bytes(b"".join(lines[:3]) + lines[3][:-20])
    again = list(judge(examples, Checker(Lottery()), record=record))
    assert [one.outcome.score for one in again] == [one.outcome.score for one in whole]
    assert again[:2] == whole[:2]
    head, *rows = map(json.loads, record.read_bytes().splitlines())
    assert "row" not in head
    assert len({one["row"] for one in rows}) == len(rows) == 5


@dataclass(frozen=True, kw_only=True)
class Failing(Detector):
    """Abstains for the reason that stands in an answer, until it is mended."""

    name = "failing"
    version = "1"
    mended = False

    def detect(self, interaction):
        yield from ()
        why = interaction.answer
        if why and not Failing.mended:
            return self.abstain(AbstentionReason(why), "down")
        return Verdict.graded(0.2, self.grading, detector=self.spec)


def test_answers_that_a_model_failed_on_are_judged_again_if_asked(tmp_path, monkeypatch):
    """What was over a budget always is; what follows from the answer itself, and what was judged, never."""
    reasons = ["", "MODEL_FAILED", "OVER_BUDGET", "TIMEOUT", "NO_CLAIMS", "UNAVAILABLE"]
    examples = [replace(example(n), interaction=Interaction(answer=why)) for n, why in enumerate(reasons)]
    record = tmp_path / "record.jsonl"

    def left(**options):
        said = judge(examples, Checker(Failing()), record=record, **options)
        return [str(one.outcome.why) for one in said if one.outcome.score is None]

    assert left() == reasons[1:]
    monkeypatch.setattr(Failing, "mended", True)
    assert left() == ["MODEL_FAILED", "TIMEOUT", "NO_CLAIMS", "UNAVAILABLE"]
    assert left(retry_errors=True) == ["NO_CLAIMS"]
    assert left() == ["NO_CLAIMS"], "what was said the second time is kept"


def test_what_is_read_back_is_what_was_judged(tmp_path):
    """A second run yields equal outcomes and seconds, and judges nothing."""
    examples = [example(n, label=None) for n in range(4)]
    record = tmp_path / "deep" / "record.jsonl"
    first = list(judge(examples, Checker("lexical"), record=record))
    before = record.read_bytes()
    assert list(judge(examples, Checker("lexical"), record=record)) == first
    assert record.read_bytes() == before


def test_labels_may_be_mended_without_judging_again(tmp_path):
    """A record is of what detectors see: another label changes nothing in it."""
    examples = [example(n) for n in range(3)]
    record = tmp_path / "record.jsonl"
    list(judge(examples, Checker(Lottery()), record=record))
    mended = [replace(one, label=False) for one in examples]
    before = record.read_bytes()
    assert all(one.example.label is False for one in judge(mended, Checker(Lottery()), record=record))
    assert record.read_bytes() == before


def test_of_more_answers_only_the_new_ones_are_judged(tmp_path):
    """What was paid for is found again, wherever it stands now and whatever it is called."""
    examples = [example(n) for n in range(5)]
    record = tmp_path / "record.jsonl"
    first = list(judge(examples[:3], Checker(Lottery()), record=record))
    moved = [examples[4], *(replace(one, id=f"renamed-{one.id}") for one in reversed(examples[:4]))]
    said = list(judge(moved, Checker(Lottery()), record=record))
    assert len(record.read_bytes().splitlines()) == 1 + 5
    assert [one.seconds for one in said[2:]] == [one.seconds for one in reversed(first)]
    assert [one.outcome.id for one in said] == [one.id for one in moved]
    assert [one.outcome.score for one in said] == [
        one.outcome.score for one in judge(moved, Checker(Lottery()))
    ]


def test_answers_that_say_the_same_are_each_kept(tmp_path):
    """A model may say another thing each time: none is read in another's place."""
    examples = [example(1), replace(example(1), id="again"), example(2)]
    record = tmp_path / "record.jsonl"
    first = list(judge(examples, Checker(Lottery()), record=record))
    assert len(record.read_bytes().splitlines()) == 1 + 3
    assert list(judge(examples, Checker(Lottery()), record=record)) == first


@pytest.mark.parametrize("content", [b"id,answer\n1,yes\n", b'{"a": 1}\n', b"[]\n", b"no line"])
def test_a_file_that_is_no_record_is_refused_and_left_alone(tmp_path, content):
    """A table named by mistake is not written to."""
    record = tmp_path / "table.csv"
    record.write_bytes(content)
    with pytest.raises(ConfigurationError, match="no record of a run"):
        judge([example(1)], Checker(Lottery()), record=record)
    assert record.read_bytes() == content


def test_a_record_of_another_detector_or_reading_is_refused(tmp_path):
    """The message names what differs."""
    record = tmp_path / "record.jsonl"
    list(judge([example(1)], Checker(Lottery()), record=record))
    with pytest.raises(ConfigurationError, match="its detector is 'lottery', this one's is 'token'"):
        judge([example(1)], Checker("token"), record=record)
    lenient = Policy(grading=replace(Lottery().grading, threshold=0.9))
    with pytest.raises(ConfigurationError, match="its grading is None"):
        judge([example(1)], Checker(Lottery(), policy=lenient), record=record)


def test_a_record_made_with_another_embedding_model_is_refused(tmp_path):
    """Where the detector embeds: for any other it decides about nothing."""

    def embedding(name):
        return partial(lambda name, texts: [[1.0, float(len(name))] for _ in texts], name)

    record = tmp_path / "record.jsonl"
    list(judge([example(1)], Checker("semantic", judge=Judge(embeddings=embedding("a"))), record=record))
    with pytest.raises(ConfigurationError, match="its embedding model is"):
        judge([example(1)], Checker("semantic", judge=Judge(embeddings=embedding("b"))), record=record)


def test_two_runs_do_not_write_to_one_record(tmp_path):
    """The second is refused at its first row, while the first is under way."""
    record = tmp_path / "record.jsonl"
    first = judge([example(n) for n in range(3)], Checker(Lottery()), record=record)
    next(first)
    with pytest.raises(ConfigurationError, match="another run is writing"):
        next(judge([example(n) for n in range(3)], Checker(Lottery()), record=record))
    assert len(list(first)) == 2


def test_models_are_asked_several_at_once_and_no_more():
    """As many rows are out as the judge makes calls, the rows come in order, and each has its own seconds."""
    out, most, lock = 0, 0, threading.Lock()

    def model(system, user):
        nonlocal out, most
        with lock:
            out += 1
            most = max(most, out)
        time.sleep(0.05)
        with lock:
            out -= 1
        return "not what was asked for"

    checker = Checker("judge", judge=Judge(model, max_concurrency=3))
    judged = list(judge([example(n) for n in range(9)], checker))
    assert [one.example.id for one in judged] == [f"row-{n}" for n in range(9)]
    assert most == 3
    assert all(str(one.outcome.why) == "UNREADABLE_REPLY" for one in judged)
    assert all(0.05 <= one.seconds < 5 for one in judged)


def test_a_policy_that_raises_still_gives_every_row():
    """What could not be judged is an abstention here, whatever the application wants."""
    checker = Checker("lexical", policy=Policy(on_abstention=OnAbstention.RAISE))
    (one,) = judge([example(1, contexts=[])], checker)
    assert str(one.outcome.why) == "NO_CONTEXT"


def test_concurrency_must_be_a_number_of_rows():
    with pytest.raises(ConfigurationError, match="from 1 on, not 0"):
        judge([example(1)], Checker(Lottery()), concurrency=0)


def test_a_consumer_may_stop_early():
    """No thread is left behind, and what was not begun is not judged."""
    before = threading.active_count()
    judged = judge([example(n) for n in range(100)], Checker(Lottery()), concurrency=4)
    next(judged)
    judged.close()
    assert threading.active_count() <= before


def test_records_are_named_apart(tmp_path):
    """Names that would be the same file keep records of their own."""
    from groundwire.bench.comparison import _record, contestant

    one = contestant("judge: a/b", Checker(Lottery()))
    names = {_record(Path("out"), name, one).name for name in ("set 1", "set/1", "set-1")}
    assert len(names) == 3
    assert all("/" not in name for name in names)


def test_a_record_of_another_further_model_or_other_parameters_is_refused(bedrock, tmp_path):
    def judged(second="m2", **parameters):
        judge_ = Judge("bedrock:m1", models={"second": f"bedrock:{second}"}, parameters=parameters or None)
        return list(judge([], Checker("lexical", judge=judge_), record=record))

    pytest.importorskip("langchain_aws")
    record = tmp_path / "record.jsonl"
    judged()
    judged()
    with pytest.raises(ConfigurationError, match="its further models is"):
        judged("m3")
    with pytest.raises(ConfigurationError, match="its model's parameters is"):
        judged(temperature=0.5)
