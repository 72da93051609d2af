"""The embedded reader: one reading for each claim, the same whatever else is read, and by whom."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from groundwire import AbstentionReason, Span
from groundwire.core.plan import Encode, Encoded, Failed
from groundwire.local.embedded import MOST_EVIDENCE, READER, EmbeddedReader
from groundwire.local.encoder import Loaded
from groundwire.local.rows import Builder
from groundwire.local.work import Deadline
from tests.local.interactions import request, requests, sentences

REQUESTS = requests(8)


@pytest.fixture(scope="module")
def alone():
    """Each request read by itself, on one thread."""
    READER.use_threads(1)
    return [READER.read([one])[0] for one in REQUESTS]


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("size", [2, 8])
def test_readings_are_the_same_whatever_the_batch_and_the_threads(alone, threads, size):
    """To the last bit, not nearly."""
    READER.use_threads(threads)
    read = [reply for i in range(0, len(REQUESTS), size) for reply in READER.read(REQUESTS[i : i + size])]
    assert read == alone


def test_readings_are_the_same_in_whatever_order_requests_come(alone):
    assert READER.read(REQUESTS[::-1]) == alone[::-1]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_the_order_of_the_passages_changes_no_reading(count):
    """Evidence follows its passage to its new place, and keeps its order."""
    given = request(1, passages=count, length=9)
    turned = replace(given, passages=given.passages[::-1])
    (one,), (other,) = READER.read([given]), READER.read([turned])
    for claim, same in zip(one.claims, other.claims, strict=True):
        assert claim.reading == same.reading
        assert claim.words == same.words
        assert [(count - 1 - passage, span) for passage, span in same.evidence] == list(claim.evidence)


def test_eight_threads_at_once_read_what_one_does(alone):
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(lambda i: READER.read([REQUESTS[i % 8]])[0], range(24)))
    assert read == alone * 3


def test_claims_in_are_readings_out(alone):
    for one, reply in zip(REQUESTS, alone, strict=True):
        assert isinstance(reply, Encoded)
        assert len(reply.claims) == len(one.claims)
        for span, claim in zip(one.claims, reply.claims, strict=True):
            reading = claim.reading
            assert reading.supported + reading.unsupported + reading.contradicted == pytest.approx(
                1, abs=1e-6
            )
            assert [word.span for word in claim.words] == sorted(word.span for word in claim.words)
            assert all(span.start <= word.span.start < word.span.end <= span.end for word in claim.words)


def test_evidence_is_of_the_passages_most_useful_first(alone):
    for one, reply in zip(REQUESTS, alone, strict=True):
        for claim in reply.claims:
            assert len(claim.evidence) <= MOST_EVIDENCE
            assert len(set(claim.evidence)) == len(claim.evidence)
            assert all(span.of(one.passages[passage]).strip() for passage, span in claim.evidence)
    answer = "Flight 417 takes three meals."
    passages = (
        "The captain sleeps. Nobody knows why.",
        "Each refund costs money. Flight 417 takes three meals.",
    )
    (reply,) = READER.read([Encode(answer=answer, claims=(Span(0, len(answer)),), passages=passages)])
    passage, span = reply.claims[0].evidence[0]
    assert span.of(passages[passage]) == "Flight 417 takes three meals."


def test_a_very_long_claim_has_one_reading_and_all_its_words():
    answer = " ".join(f"bag{n}" for n in range(300))
    long = Encode(answer=answer, claims=(Span(0, len(answer)),), passages=("Bags cost 25 EUR.",))
    (reply,) = READER.read([long])
    (claim,) = reply.claims
    assert [word.span.of(answer) for word in claim.words] == answer.split()


def test_of_a_very_long_claim_s_parts_the_least_supported_decides():
    answer = sentences(12, "long").replace(".", ",")
    whole = Encode(answer=answer, claims=(Span(0, len(answer)),), passages=(answer[:300],))
    parts = Builder(whole.passages, None).rows(answer, whole.claims)
    assert len(parts) > 1
    (reply,) = READER.read([whole])
    supported = [float(READER._loaded.get().read(part).row[0]) for part in parts]
    assert len(set(supported)) > 1
    assert reply.claims[0].reading.supported == min(supported)


def test_without_passages_or_claims_there_is_still_a_reply():
    (reply,) = READER.read([replace(REQUESTS[1], passages=())])
    assert len(reply.claims) == len(REQUESTS[1].claims)
    assert all(claim.evidence == () for claim in reply.claims)
    assert READER.read([replace(REQUESTS[1], claims=())]) == [Encoded(claims=())]
    assert READER.read([]) == []


def test_a_request_that_breaks_costs_the_others_nothing(alone):
    broken = replace(REQUESTS[2], claims=(Span(0, 10_000),))
    first, failed, last = READER.read([REQUESTS[0], broken, REQUESTS[1]])
    assert (first, last) == (alone[0], alone[1])
    assert isinstance(failed, Failed)
    assert failed.reason is AbstentionReason.MODEL_FAILED
    assert "reaches past a text" in failed.detail


def test_what_time_did_not_suffice_for_is_said_and_the_rest_is_whole(alone):
    """No reply is half a reading."""
    reader, read = EmbeddedReader(threads=1), 0
    deadline = Deadline()

    class Counting:
        def read(self, row):
            nonlocal read
            read += 1
            if read == 4:
                deadline.drop()
            return encoder.read(row)

    encoder = reader._loaded.get()
    reader._loaded._encoder = Counting()
    replies = reader.read(REQUESTS, deadline=deadline)
    assert read == 4
    done = [reply for reply in replies if isinstance(reply, Encoded)]
    assert 1 <= len(done) < len(REQUESTS)
    assert done == alone[: len(done)]
    for reply in replies[len(done) :]:
        assert reply.reason is AbstentionReason.TIMEOUT
    assert all(
        reply.reason is AbstentionReason.TIMEOUT for reply in reader.read(REQUESTS, deadline=Deadline(0))
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_child_reads_though_others_were_reading(alone):
    """The parent forks in the middle of its work; the child loads anew and reads the same."""
    stop, reading = threading.Event(), threading.Event()

    def read_on():
        while not stop.is_set():
            READER.read(REQUESTS[:2])
            reading.set()

    thread = threading.Thread(target=read_on)
    thread.start()
    reading.wait(60)
    child = os.fork()
    if child == 0:
        os._exit(0 if READER.read([REQUESTS[3]]) == [alone[3]] else 1)
    _, status = os.waitpid(child, 0)
    stop.set()
    thread.join(60)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_context_of_a_hundred_thousand_words_is_read():
    passages = tuple(sentences(450, f"huge {n}") for n in range(30))
    assert sum(len(passage.split()) for passage in passages) > 100_000
    huge = replace(request(5, claims=2), passages=passages)
    (reply,) = READER.read([huge])
    assert isinstance(reply, Encoded)
    assert all(claim.evidence for claim in reply.claims)


class Counting:
    """The encoder, and how many rows it was given."""

    def __init__(self):
        self.rows = 0

    def get(self):
        return self

    def read(self, row):
        self.rows += 1
        return Loaded().get().read(row)


def test_what_an_answer_says_again_and_again_is_read_once():
    counting = Counting()
    answer = "Flight 417 takes three meals. " * 50
    claims = tuple(Span(i * 30, i * 30 + 29) for i in range(50))
    given = Encode(answer=answer, claims=claims, passages=("Flight 417 takes three meals.",))
    (reply,) = EmbeddedReader(threads=1, loaded=counting).read([given])
    assert len(reply.claims) == 50
    assert counting.rows == 2  # the first has nothing before it
