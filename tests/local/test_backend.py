"""The local backend: encoders here, everything else behind it, and each reply in its place."""

import asyncio
import threading
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from groundwire import Abstention, AbstentionReason, Checker, Detector, Interaction, Policy, Verdict
from groundwire.core.errors import EncoderError
from groundwire.core.plan import Complete, Completed, Encode, Encoded, Failed
from groundwire.judge.drivers import NoBackend
from groundwire.local import embedded, optional
from groundwire.local.backend import LocalBackend
from groundwire.local.embedded import READER
from groundwire.local.encoder import Loaded
from groundwire.text.claims import cut
from tests.local.interactions import request
from tests.scripted import ByLength

ASKED = Complete(system="score it", user="y" * 30)
BOTH = [request(1), ASKED, request(2), replace(ASKED, user="y" * 70)]
COLOURS = [
    lambda backend, requests, timeout=None: backend.perform(requests, timeout=timeout),
    lambda backend, requests, timeout=None: asyncio.run(backend.aperform(requests, timeout=timeout)),
]
in_both_colours = pytest.mark.parametrize("perform", COLOURS, ids=["sync", "async"])


@pytest.fixture
def without_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "READER", embedded.EmbeddedReader(loaded=Loaded(tmp_path)))


@in_both_colours
def test_replies_keep_the_order_of_requests_of_both_kinds(perform):
    inner = ByLength()
    first, score, second, other = perform(LocalBackend(inner), BOTH)
    assert [first, second] == READER.read([BOTH[0], BOTH[2]])
    assert (score.texts, other.texts) == (("0.3",), ("0.7",))
    assert inner.batches == [2]


@in_both_colours
def test_whoever_is_behind_is_not_asked_for_nothing(perform):
    inner = ByLength()
    assert isinstance(perform(LocalBackend(inner), [request(1)])[0], Encoded)
    assert inner.batches == []
    assert perform(LocalBackend(inner), [ASKED])[0].texts == ("0.3",)
    assert inner.batches == [1]


@in_both_colours
def test_the_encoder_reads_while_the_model_is_waited_for(perform, monkeypatch):
    """Each waits for the other to begin, which only works side by side."""
    reading, asked = threading.Event(), threading.Event()

    class Waiting(ByLength):
        def perform(self, requests, *, timeout):
            asked.set()
            assert reading.wait(30)
            return super().perform(requests, timeout=timeout)

        async def aperform(self, requests, *, timeout):
            return await asyncio.to_thread(self.perform, requests, timeout=timeout)

    class Reading:
        def load(self):
            pass

        def read(self, requests, *, deadline):
            reading.set()
            assert asked.wait(30)
            return READER.read(requests, deadline=deadline)

    monkeypatch.setattr(embedded, "READER", Reading())
    assert isinstance(perform(LocalBackend(Waiting()), BOTH)[0], Encoded)


def test_reading_does_not_hold_the_event_loop():
    """A clock on the same loop goes on ticking while a long answer is read."""

    async def main():
        backend, ticks = LocalBackend(NoBackend()), 0

        async def clock():
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 1

        ticking = asyncio.create_task(clock())
        await backend.aperform([request(n, claims=4) for n in range(2)], timeout=None)
        ticking.cancel()
        return ticks

    assert asyncio.run(main()) > 10


@in_both_colours
def test_when_time_is_up_the_reply_says_so(perform):
    (reply,) = perform(LocalBackend(NoBackend()), [request(1)], 1e-9)
    assert isinstance(reply, Failed)
    assert reply.reason is AbstentionReason.TIMEOUT


@in_both_colours
def test_missing_weights_are_an_error_before_anything_is_asked(perform, without_weights):
    inner = ByLength()
    with pytest.raises(EncoderError, match="install groundwire again"):
        perform(LocalBackend(inner), BOTH)
    assert inner.batches == []


@in_both_colours
def test_what_goes_wrong_behind_ends_the_reading_too(perform):
    class Broken(ByLength):
        def perform(self, requests, *, timeout):
            raise LookupError("a bug")

    with pytest.raises(LookupError, match="a bug"):
        perform(LocalBackend(Broken()), BOTH)


@in_both_colours
def test_another_encoder_reads_what_names_it_and_a_failure_of_its_is_its_request_s(perform, monkeypatch):
    told = []

    class Other:
        def read(self, requests):
            (one,) = requests
            if not one.passages:
                raise RuntimeError("out of memory")
            return [Encoded(claims=())]

    def load(name, setup):
        told.append((name, setup))
        return Other()

    monkeypatch.setattr(optional, "load", load)
    named = request(1, model="their/model")
    replies = perform(LocalBackend(NoBackend()), [named, request(2), replace(named, passages=())])
    assert replies[0] == Encoded(claims=())
    assert replies[1] == READER.read([request(2)])[0]
    assert replies[2].reason is AbstentionReason.MODEL_FAILED
    assert replies[2].detail == "the encoder 'their/model' failed: RuntimeError: out of memory"
    assert {name for name, _ in told} == {"their/model"}
    (late,) = perform(LocalBackend(NoBackend()), [named], 1e-9)
    assert late.reason is AbstentionReason.TIMEOUT


@dataclass(frozen=True, kw_only=True)
class Reads(Detector):
    """Scores an answer by its least supported claim."""

    name: ClassVar[str] = "reads"
    version: ClassVar[str] = "1"
    needs_encoder: ClassVar[bool] = True

    def detect(self, interaction):
        passages = tuple(passage.text for passage in interaction.contexts)
        answer = interaction.answer
        (reply,) = yield [Encode(answer=answer, claims=tuple(cut(answer)), passages=passages)]
        if isinstance(reply, Failed):
            return Abstention(why=reply.reason, detail=reply.detail)
        score = max(1 - claim.reading.supported for claim in reply.claims)
        return Verdict.graded(score, self.grading, detector=self.spec)


class ReadsAndAsks(Reads):
    """As Reads, but a model is asked, too."""

    needs_model: ClassVar[bool] = True

    def detect(self, interaction):
        (reply,) = yield [ASKED]
        assert isinstance(reply, Completed)
        return (yield from super().detect(interaction))


INTERACTIONS = [
    Interaction(contexts=list(one.passages), answer=one.answer, id=str(n))
    for n, one in ((n, request(n, length=2, claims=1)) for n in range(7))
]


@pytest.fixture
def batches(monkeypatch):
    """How many requests the embedded encoder was given at a time."""
    seen, read = [], READER.read

    def counted(requests, **options):
        seen.append(len(requests))
        return read(requests, **options)

    monkeypatch.setattr(READER, "read", counted)
    return seen


def test_a_checker_needs_no_judge_to_read(batches):
    checker = Checker(Reads())
    one = checker.check(INTERACTIONS[0])
    assert one.score == asyncio.run(checker.acheck(INTERACTIONS[0])).score
    assert batches == [1, 1]


def test_many_are_read_together_and_say_what_each_says_alone(batches):
    checker = Checker(Reads())
    alone = [checker.check(interaction).score for interaction in INTERACTIONS]
    batches.clear()
    assert [outcome.score for outcome in checker.check_many(INTERACTIONS, batch=4)] == alone
    assert batches == [4, 3]


def test_how_many_calls_a_judge_makes_at_once_says_nothing_about_reading(batches):
    judge = ByLength()
    judge.max_concurrency = 2
    list(Checker(Reads(), judge=judge).check_many(INTERACTIONS))
    assert batches == [7]
    batches.clear()
    list(Checker(ReadsAndAsks(), judge=judge).check_many(INTERACTIONS))
    assert batches == [2, 2, 2, 1]


def test_checks_that_are_read_together_have_the_time_of_all(monkeypatch):
    """What the first of a batch takes is not taken from the last."""
    given = []

    def noted(requests, *, deadline):
        given.append(deadline.left())
        return [Failed(reason=AbstentionReason.TIMEOUT)] * len(requests)

    monkeypatch.setattr(READER, "read", noted)
    checker = Checker(Reads(), policy=Policy(timeout=100))
    list(checker.check_many(INTERACTIONS, batch=7))
    checker.check(INTERACTIONS[0])
    list(Checker(Reads(), policy=Policy(timeout=None)).check_many(INTERACTIONS))
    assert 600 < given[0] <= 700
    assert 0 < given[1] <= 100
    assert given[2] is None


def test_too_little_time_is_an_abstention():
    outcome = Checker(Reads(), policy=Policy(timeout=1e-9)).check(INTERACTIONS[0])
    assert outcome.why is AbstentionReason.TIMEOUT


def test_missing_weights_are_an_error_for_whoever_checks(without_weights):
    with pytest.raises(EncoderError, match="detector='lexical'"):
        Checker(Reads()).check(INTERACTIONS[0])
