"""What a model's server and its replies can do wrong, to four real clients: never clean, never late."""

import json
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from groundwire import Checker, Interaction, Policy, Verdict
from groundwire.judge.breaker import Breaker
from groundwire.judge.limits import Limits
from tests.faults.asked import (
    DEADLINE,
    FAILED,
    FEE,
    LATE,
    MARGIN,
    PATIENCE,
    RIGHT,
    RIGHTLY,
    UNREADABLE,
    checked,
    claim,
    outcome_of,
    replies,
)
from tests.faults.clients import CLIENTS, judge
from tests.faults.told import ROOT
from tests.servers.bedrock_server import babbles, breaks, hangs, refuses, resets, says, throttles

pytest.importorskip("langchain_aws")


def trickles(http, body):
    """A byte every 0.3 s, so that no read of a client ever times out."""
    http.send_response(200)
    http.send_header("Content-Length", "1000000")
    http.end_headers()
    while not http.bedrock.closing.wait(0.3):
        http.wfile.write(b" ")
        http.wfile.flush()
    http.close_connection = True


def cut_off(http, body):
    """Half of a body of which more was promised; then the connection is closed."""
    payload = b'{"output": {"message": {"role": "assistant", "content": [{"text": "'
    http.send_response(200)
    http.send_header("Content-Type", "application/json")
    http.send_header("Content-Length", str(10 * len(payload)))
    http.end_headers()
    http.wfile.write(payload)
    http.close_connection = True


# fault -> what the server does, and what has to come of it
FAULTS = {
    "nothing": (says(RIGHT), RIGHTLY),
    "every call throttled": (throttles(), FAILED),
    "status 500": (refuses(500, "InternalServerException"), FAILED),
    "status 503": (breaks(), FAILED),
    "connection cut": (resets, FAILED),
    "no reply, ever": (hangs, LATE),
    "a byte every 0.3 s": (trickles, LATE),
    "body cut off": (cut_off, FAILED),
    "JSON cut off, all promised bytes there": (
        lambda http, body: http.raw(200, b'{"output": {"mess'),
        FAILED,
    ),
    "garbage with status 200": (babbles, FAILED),
    "body empty": (lambda http, body: http.raw(200, b""), FAILED),
    "JSON without what a reply has": (lambda http, body: http.answer(200, {"hello": 1}), FAILED),
    "null": (lambda http, body: http.raw(200, b"null"), FAILED),
    "expired credentials": (refuses(403, "ExpiredTokenException", "The token has expired"), FAILED),
    "a refusal": (says("I'm sorry, but I can't help with that."), UNREADABLE),
    "a reply without words": (says(""), UNREADABLE),
    "the reply cut off": (says(RIGHT[:-20], stop="max_tokens"), UNREADABLE),
    "JSON of another shape": (says('{"verdict": "all good", "hallucinated": false}'), UNREADABLE),
    "prose": (says("Everything is supported, score 0."), UNREADABLE),
    "no claims at all": (says(replies()), UNREADABLE),
    "a claim left out": (says(replies(claim(1, support="supported", score=0.1))), UNREADABLE),
    "claims that nobody asked for": (says(replies(claim(1), claim(2), claim(3), claim(99))), RIGHTLY),
    "one claim judged twice": (
        says(replies(*[claim(i, support="supported", score=0.1) for i in (1, 1, 2)])),
        UNREADABLE,
    ),
    "a score of 7, of NaN, of nothing": (
        says(
            '{"claims": [{"id": 1, "support": "supported", "score": NaN, "quote": "", "words": []}, '
            '{"id": 2, "support": "supported", "score": 7, "quote": "", "words": []}]}'
        ),
        UNREADABLE,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_is_ever_clean_or_late(fault, faulty, keys, told):
    """Each client once, all at a time: the outcome is the one expected, and is there by the deadline."""
    act, expected = FAULTS[fault]
    name = "".join(c if c.isalnum() else "-" for c in fault)
    faulty.acts[name] = act
    deadline = DEADLINE if expected == LATE else None
    timeout = deadline or PATIENCE
    checkers = {
        client: Checker("judge", judge=judge(faulty, client, name, timeout=timeout)) for client in CLIENTS
    }
    with ThreadPoolExecutor(len(CLIENTS)) as pool:
        results = dict(zip(checkers, pool.map(checked, checkers.values()), strict=True))
    for client, (outcome, seconds) in results.items():
        assert not outcome.grounded, client
        assert outcome_of(outcome) == expected, (client, outcome.reason)
        assert seconds < timeout + MARGIN, client
        if fault != "nothing":
            told(fault, client, expected, seconds, deadline=deadline)


@pytest.mark.parametrize("fault", ["no reply, ever", "a byte every 0.3 s"])
def test_the_whole_check_s_deadline_holds_where_the_call_s_is_longer(fault, faulty, keys, told):
    faulty.acts["whole"] = FAULTS[fault][0]
    one = Checker("judge", judge=judge(faulty, "function", "whole"), policy=Policy(timeout=DEADLINE))
    outcome, seconds = checked(one)
    assert outcome_of(outcome) == LATE
    assert DEADLINE <= seconds < DEADLINE + MARGIN
    told(f"{fault}, under a check's deadline", "function", LATE, seconds, deadline=DEADLINE)


@pytest.mark.parametrize("share", [20, 50])
def test_throttling_costs_time_and_no_verdict(share, faulty, keys, told):
    """40 answers, of whose calls that share is throttled: with retries, every one of them is judged."""
    attempts = Counter()

    def act(http, body):
        said = json.dumps(body)
        attempts[said] += 1
        # By the words and the attempt alone, so that every run meets the same faults.
        lot = hash((len(said), said.count("7"), sum(map(ord, said[-400:])), attempts[said])) % 100
        (throttles() if lot < share else says(RIGHT))(http, body)

    answers = [
        Interaction(contexts=FEE.contexts, answer=f"Bag {i} costs 75 EUR. Refunds take 9{i} days.")
        for i in range(40)
    ]
    for client in ("langchain-aws", "function"):
        name = f"throttled-{share}-{client}"
        faulty.acts[name] = act
        attempts.clear()
        limits = Limits(retries=12, backoff=0.004)
        one = Checker("judge", judge=judge(faulty, client, name, limits=limits, timeout=PATIENCE))
        started = time.monotonic()
        outcomes = list(one.check_many(answers))
        seconds = time.monotonic() - started
        assert {outcome_of(outcome) for outcome in outcomes} == {RIGHTLY}
        assert all(outcome.hallucinated for outcome in outcomes)
        assert sum(attempts.values()) > 40 * (1 + share / 150)
        told(f"{share} % of calls throttled", client, RIGHTLY, seconds, note="40 answers, 12 retries")


def test_after_five_failures_another_detector_judges_and_says_so(faulty, keys, told):
    """Down, away, and back: MODEL_FAILED, then the embedded detector, then the judge again."""
    faulty.acts["breaker"] = breaks()
    one = Checker("judge", judge=judge(faulty, "langchain-aws", "breaker", breaker=Breaker(cooldown=2.0)))
    one.fallback.load()
    first = [one.check(FEE) for _ in range(5)]
    assert {outcome_of(outcome) for outcome in first} == {FAILED}
    asked = len(faulty.requests)
    (outcome, seconds), *_ = [checked(one) for _ in range(3)]
    assert isinstance(outcome, Verdict)
    assert outcome.hallucinated
    assert (outcome.detector.name, outcome.degraded.detector.name) == ("embedded", "judge")
    assert len(faulty.requests) == asked, "nothing was asked meanwhile"
    faulty.acts["breaker"] = says(RIGHT)
    time.sleep(2.0)
    assert one.check(FEE).detector.name == "judge"
    told("five failures in a row", "langchain-aws", "`embedded` judges, marked `degraded`", seconds)


HUGE = """
import json, resource, sys, time
from groundwire import Checker, Judge
from groundwire.langchain.models import from_string
from tests.faults.asked import FEE, outcome_of
one = Checker("judge", judge=Judge(from_string("bedrock:huge", max_retries=0), timeout=60))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.monotonic()
outcome = one.check(FEE)
seconds = time.monotonic() - started
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
held = int(open("/proc/self/statm").read().split()[1]) * 4096 // 1024
print(json.dumps([outcome_of(outcome), outcome.detail, seconds, before / 1024, after / 1024, held / 1024]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux tells it")
def test_200_megabytes_are_not_read_kept_or_asked_for_again(faulty, keys, told):
    """What a client holds while it reads is the client's; after the outcome nothing of it is held."""
    block = b"x" * 1_000_000
    asked = []

    def act(http, body):
        asked.append(body)
        usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
        message = {"role": "assistant", "content": [{"text": "HERE"}]}
        told = {"stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}
        told["output"] = {"message": message}
        head, _, tail = json.dumps(told).encode().partition(b"HERE")
        http.send_response(200)
        http.send_header("Content-Type", "application/json")
        http.send_header("Content-Length", str(len(head) + 200 * len(block) + len(tail)))
        http.end_headers()
        for part in (head, *[block] * 200, tail):
            http.wfile.write(part)

    faulty.acts["huge"] = act
    done = subprocess.run(
        [sys.executable, "-c", HUGE],
        capture_output=True,
        check=True,
        text=True,
        cwd=ROOT,
        timeout=100,
    )
    outcome, detail, seconds, before, peak, held = json.loads(done.stdout)
    assert outcome == UNREADABLE
    assert "200000000 characters" in detail
    assert len(asked) == 1
    assert held - before < 60, "megabytes that are still there"
    note = f"{before:.0f} MB before, {peak:.0f} at most, {held:.0f} after"
    told("200 MB in one reply", "langchain-aws", UNREADABLE, seconds, note=note)
