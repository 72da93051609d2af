"""The mailbox: nothing is lost unseen, nobody waits, one bad letter harms no other."""

import logging
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.tracing.outbox import Outbox, TryLaterError

NO_WAITS = (0.0, 0.0, 0.0)


class Service:
    """Takes a letter after refusing it for now a given number of times, or refuses it for good."""

    def __init__(self, refusals):
        self.refusals = dict(refusals)
        self.taken = []

    def __call__(self, letter):
        left = self.refusals.get(letter, 0)
        if left is None:
            raise ValueError(f"never {letter}")
        if left:
            self.refusals[letter] = left - 1
            raise TryLaterError
        self.taken.append(letter)


@given(st.lists(st.one_of(st.none(), st.integers(0, 4)), max_size=12))
@settings(deadline=None, max_examples=50)
def test_every_letter_is_delivered_or_counted_as_failed(refusals):
    """A letter arrives exactly when it is refused fewer times than there are attempts; counts add up."""
    service = Service(enumerate(refusals))
    outbox = Outbox(service, what="letters", waits=NO_WAITS)
    for number in range(len(refusals)):
        outbox.post(number)
    assert outbox.flush(5)
    arriving = [n for n, refused in enumerate(refusals) if refused is not None and refused < len(NO_WAITS)]
    assert sorted(service.taken) == arriving
    assert outbox.counts.delivered == len(arriving)
    assert outbox.counts.failed == len(refusals) - len(arriving)
    assert (outbox.counts.dropped, outbox.counts.pending) == (0, 0)


def test_a_letter_put_off_does_not_hold_up_the_others():
    """While one letter waits for its next attempt, later ones are delivered."""
    service = Service({"slow": 1})
    arrived = threading.Event()

    def deliver(letter):
        service(letter)
        if letter == "quick":
            arrived.set()

    outbox = Outbox(deliver, what="letters", waits=(0.0, 600.0))
    outbox.post("slow")
    outbox.post("quick")
    assert arrived.wait(5)
    assert service.taken == ["quick"]
    assert outbox.flush(5)
    assert service.taken == ["quick", "slow"]


def test_flush_tries_at_once_what_was_put_off():
    """Nobody who flushes sits out the wait between two attempts."""
    service = Service({"letter": 1})
    outbox = Outbox(service, what="letters", waits=(600.0, 0.0))
    outbox.post("letter")
    assert outbox.flush(5)
    assert service.taken == ["letter"]


def test_posting_never_waits_and_flushing_waits_no_longer_than_told():
    """A service that hangs costs the poster nothing and the flusher only its timeout."""
    release = threading.Event()
    outbox = Outbox(lambda _: release.wait(), what="letters", waits=NO_WAITS)
    started = time.perf_counter()
    for number in range(100):
        outbox.post(number)
    assert not outbox.flush(0.05)
    assert time.perf_counter() - started < 1
    assert outbox.counts.pending == 100
    release.set()
    assert outbox.flush(5)
    assert outbox.counts.delivered == 100


def test_no_more_are_delivered_at_a_time_than_there_are_threads_for():
    """With three, three letters are on their way together, and never a fourth."""
    together, lock, under_way, most = threading.Barrier(3, timeout=5), threading.Lock(), [], []

    def deliver(letter):
        with lock:
            under_way.append(letter)
            most.append(len(under_way))
        together.wait()
        with lock:
            under_way.remove(letter)

    outbox = Outbox(deliver, what="letters", threads=3, waits=NO_WAITS)
    for number in range(9):
        outbox.post(number)
    assert outbox.flush(5)
    assert outbox.counts.delivered == 9
    assert max(most) == 3


def test_a_deliverer_that_asks_its_thread_to_end_loses_that_letter_alone():
    """SystemExit is no way to stop the others."""
    service = Service({})

    def deliver(letter):
        if letter == "last words":
            raise SystemExit
        service(letter)

    outbox = Outbox(deliver, what="letters", waits=NO_WAITS)
    for letter in ("before", "last words", "after"):
        outbox.post(letter)
    assert outbox.flush(5)
    assert service.taken == ["before", "after"]
    assert outbox.counts.failed == 1


def test_a_system_without_a_thread_to_give_delays_a_letter(monkeypatch):
    """It waits in the box until somebody can take it out."""
    service = Service({})
    outbox = Outbox(service, what="letters", waits=NO_WAITS)

    def refuse(self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as poor:
        poor.setattr(threading.Thread, "start", refuse)
        outbox.post("letter")
        began = time.monotonic()
        assert not outbox.flush(5)  # nobody would come
        assert time.monotonic() - began < 2
    assert outbox.counts.pending == 1
    assert outbox.flush(5)
    assert service.taken == ["letter"]


def test_a_full_box_drops_counts_and_says_so_once(caplog):
    """Memory is bounded; what did not fit is counted, and the log tells it once."""
    release = threading.Event()
    outbox = Outbox(lambda _: release.wait(), what="letters", capacity=3, waits=NO_WAITS)
    with caplog.at_level(logging.WARNING, "groundwire"):
        for number in range(10):
            outbox.post(number)
    assert (outbox.counts.pending, outbox.counts.dropped) == (3, 7)
    assert len(caplog.records) == 1
    release.set()
    assert outbox.flush(5)


@pytest.mark.parametrize("failed", [1, 3])
def test_the_end_of_the_process_tells_how_many_were_lost_in_all(failed):
    """A script is over before the minute is, and would have told of the first one of each kind alone."""
    code = textwrap.dedent(
        f"""
        import threading
        from groundwire.tracing.outbox import Outbox

        release = threading.Event()

        def deliver(number):
            release.wait()
            if number < {failed}:
                raise ValueError

        outbox = Outbox(deliver, what="letters", capacity=3)
        for number in range(10):
            outbox.post(number)
        release.set()
        assert outbox.flush(5)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True
    )
    assert "1 were dropped so far" in done.stderr
    assert f"letters: in all, {failed} failed and 7 were dropped" in done.stderr


def test_the_end_of_the_process_tells_what_no_thread_could_deliver():
    """As of answers that are judged while a Python 3.12.1 ends, which starts no more threads then."""
    code = textwrap.dedent(
        """
        import threading
        from groundwire.tracing.outbox import Outbox

        def refuse(thread):
            raise RuntimeError("can't create new thread at interpreter shutdown")

        threading.Thread.start = refuse
        Outbox(print, what="letters").post("letter")
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True
    )
    assert "letters: 1 were not delivered before the process ended" in done.stderr


def test_losses_are_logged_once_without_what_the_service_said(caplog):
    """A service's words may quote the letter, so the log tells the kind of error alone, and once."""
    outbox = Outbox(Service(dict.fromkeys(range(5))), what="letters", waits=NO_WAITS)
    with caplog.at_level(logging.WARNING, "groundwire"):
        for number in range(5):
            outbox.post(number)
        assert outbox.flush(5)
    assert outbox.counts.failed == 5
    (record,) = caplog.records
    assert "ValueError" in record.getMessage()
    assert "never" not in record.getMessage()


def test_a_letter_given_up_is_told_by_what_stood_in_its_way(caplog):
    """After the last attempt the log names the cause, not the wish to try later."""

    def deliver(_):
        raise TryLaterError from ConnectionResetError()

    outbox = Outbox(deliver, what="letters", waits=NO_WAITS)
    with caplog.at_level(logging.WARNING, "groundwire"):
        outbox.post("letter")
        assert outbox.flush(5)
    assert "ConnectionResetError" in caplog.records[0].getMessage()


def test_an_empty_box_is_flushed_at_once_and_starts_no_thread():
    """An outbox that is never used costs nothing."""
    before = threading.active_count()
    outbox = Outbox(pytest.fail, what="letters")
    assert outbox.flush(0)
    assert threading.active_count() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_child_delivers_its_own_letters_only():
    """What the parent had waiting is not sent twice, and the child's box works."""
    code = textwrap.dedent(
        """
        import os, sys
        from groundwire.tracing.outbox import Outbox

        told = []
        outbox = Outbox(told.append, what="letters", waits=(600.0,))
        outbox.post("the parent's")
        child = os.fork()
        if child == 0:
            outbox.post("the child's")
            done = outbox.flush(5) and told == ["the child's"]
            os._exit(0 if done else 1)
        _, status = os.waitpid(child, 0)
        assert outbox.flush(5) and told == ["the parent's"], told
        sys.exit(os.waitstatus_to_exitcode(status))
        """
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_worker_of_multiprocessing_delivers_before_it_ends(tmp_path):
    """Also what one of its last threads posts."""
    code = textwrap.dedent(
        """
        import multiprocessing, sys, threading, time
        from groundwire.tracing.outbox import Outbox

        def deliver(letter):
            time.sleep(0.1)
            with open(sys.argv[1], "a") as file:
                file.write(letter)

        outbox = Outbox(deliver, what="letters")

        def work():
            outbox.post("a")
            threading.Thread(target=lambda: (time.sleep(0.3), outbox.post("b"))).start()

        worker = multiprocessing.get_context("fork").Process(target=work)
        worker.start()
        worker.join()
        """
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "told")], check=True, timeout=60)
    assert (tmp_path / "told").read_text() == "ab"
