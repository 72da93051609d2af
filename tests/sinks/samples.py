"""Outcomes as sinks are told of them, and a sink that remembers what it was told."""

from groundwire import Abstention, AbstentionReason, Claim, Grading, Span, Support, Usage, Verdict
from groundwire.core.sink import Sink, Told
from groundwire.core.verdict import DetectorSpec
from groundwire.tracing.otel import SpanIds

SPEC = DetectorSpec(name="novel-words", version="1")
CLAIM = Claim(text="secret words", span=Span(0, 12), support=Support.UNSUPPORTED, score=1.0)
WRONG = Verdict.graded(
    0.9, Grading(), detector=SPEC, claims=(CLAIM,), reason="secret reason", usage=Usage(seconds=0.2)
)
FINE = Verdict.graded(0.12, Grading(), detector=SPEC, usage=Usage(seconds=0.003))
ABSTAINED = Abstention(why=AbstentionReason.NO_CONTEXT, detail="secret detail", detector=SPEC)
JUDGED = Verdict.graded(0.7, Grading(), detector=SPEC, usage=Usage(calls=2, seconds=1.5))
HERE = SpanIds(trace_id="a" * 32, span_id="b" * 16)


def told(outcome, **about):
    return Told(interaction=None, outcome=outcome, **about)


class Remembers(Sink):
    """Keeps what it is told, and where that was traced."""

    def __init__(self, locate=lambda run_id, started: None):
        self.told, self.places = [], []
        self._locate = locate

    def locate(self, run_id=None, started=None):
        return self._locate(run_id, started)

    def send(self, told, where):
        self.told.append(told)
        self.places.append(where)


class Fails(Sink):
    """Breaks in every way that a sink can."""

    def locate(self, run_id=None, started=None):
        raise ValueError("secret")

    def asked(self, replies):
        raise ValueError("secret")

    send = watch = flush = locate
