"""Work: every piece is done once, by few threads at a time, until time is up."""

import os
import threading
import time

import pytest

from groundwire.local.work import Deadline, Hands


def taking(pieces):
    """What gives each piece once, to any number of threads."""
    left, lock = iter(pieces), threading.Lock()

    def take():
        with lock:
            return next(left, None)

    return take


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("pieces", [0, 1, 50])
def test_every_piece_is_done_once(threads, pieces):
    done = []
    Hands(threads).work(taking(range(1, pieces + 1)), done.append, pieces=pieces, deadline=Deadline())
    assert sorted(done) == list(range(1, pieces + 1))


def test_no_more_is_in_hand_than_there_are_hands_whoever_asks():
    hands, at_once, most, lock = Hands(3), 0, 0, threading.Lock()
    meeting = threading.Barrier(3)

    def do(piece):
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        meeting.wait(10)  # passes only where three are in hand
        with lock:
            at_once -= 1

    callers = [
        threading.Thread(
            target=hands.work, args=(taking(range(1, 4)), do), kwargs={"pieces": 3, "deadline": Deadline()}
        )
        for _ in range(4)
    ]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join(30)
    assert most == 3


def test_past_the_deadline_nothing_more_is_taken():
    done, deadline = [], Deadline()

    def do(piece):
        done.append(piece)
        if len(done) == 3:
            deadline.drop()

    Hands(1).work(taking(range(1, 100)), do, pieces=99, deadline=deadline)
    assert done == [1, 2, 3]
    Hands(2).work(taking(range(1, 100)), done.append, pieces=99, deadline=Deadline(0))
    assert done == [1, 2, 3]


def test_who_waits_for_a_hand_waits_no_longer_than_the_deadline():
    hands, busy, free = Hands(1), threading.Event(), threading.Event()

    def hold(piece):
        busy.set()
        free.wait(30)

    holder = threading.Thread(
        target=hands.work, args=(taking([1]), hold), kwargs={"pieces": 1, "deadline": Deadline()}
    )
    holder.start()
    busy.wait(10)
    done = []
    hands.work(taking([1, 2]), done.append, pieces=2, deadline=Deadline(0.05))
    free.set()
    holder.join(10)
    assert done == []


@pytest.mark.parametrize("threads", [1, 3])
def test_what_a_piece_raises_is_raised_where_the_work_was_asked_for(threads):
    def do(piece):
        raise LookupError("a bug")

    with pytest.raises(LookupError, match="a bug"):
        Hands(threads).work(taking(range(1, 9)), do, pieces=8, deadline=Deadline())


def test_no_thread_is_left_when_the_work_is_done():
    before = threading.active_count()
    Hands(4).work(taking(range(1, 30)), lambda piece: None, pieces=29, deadline=Deadline())
    assert threading.active_count() == before


def test_no_hands_are_refused():
    with pytest.raises(ValueError, match="threads must be at least 1, not 0"):
        Hands(0)


def test_a_deadline_counts_down_to_nothing():
    assert Deadline().left() is None
    assert Deadline(0).left() == 0
    began = time.monotonic()
    assert 0 < Deadline(100).left() <= 100 - (time.monotonic() - began) + 1
    dropped = Deadline(100)
    dropped.drop()
    assert dropped.left() == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_child_has_hands_of_its_own():
    """The parent's were all full when it forked; whoever filled them does not exist in the child."""
    hands, busy, free = Hands(1), threading.Event(), threading.Event()

    def hold(piece):
        busy.set()
        free.wait(30)

    holder = threading.Thread(
        target=hands.work, args=(taking([1]), hold), kwargs={"pieces": 1, "deadline": Deadline()}
    )
    holder.start()
    busy.wait(10)
    child = os.fork()
    if child == 0:
        done = []
        hands.work(taking([1]), done.append, pieces=1, deadline=Deadline(5))
        os._exit(0 if done == [1] else 1)
    _, status = os.waitpid(child, 0)
    free.set()
    holder.join(10)
    assert os.waitstatus_to_exitcode(status) == 0
