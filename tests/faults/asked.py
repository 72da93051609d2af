"""What every test of faults asks: one answer with two wrong claims, and the reply that says so."""

import json
import time

from groundwire import Abstention, Interaction

DEADLINE = 0.7
"""Seconds for a call that gets no reply."""
PATIENCE = 30.0
"""Seconds for one that gets some reply, so that a busy machine changes no outcome."""
MARGIN = 6.0
"""Seconds that a busy machine may add to a deadline."""

FEE = Interaction(
    question="What does it cost?",
    contexts="A bag costs 25 EUR. Refunds take 14 days.",
    answer="A bag costs 75 EUR. Refunds take 90 days.",
)

FAILED, LATE, UNREADABLE, RIGHTLY = (
    "abstains: MODEL_FAILED",
    "abstains: TIMEOUT",
    "abstains: UNREADABLE_REPLY",
    "judged",
)


def claim(id_, **fields):
    quote = ("A bag costs 25 EUR", "Refunds take 14 days")[id_ % 2 - 1]
    return {"id": id_, "support": "contradicted", "score": 0.9, "quote": quote, "words": [], **fields}


def replies(*claims):
    return json.dumps({"claims": claims})


RIGHT = replies(claim(1), claim(2))


def outcome_of(outcome):
    return f"abstains: {outcome.why}" if isinstance(outcome, Abstention) else "judged"


def checked(one, interaction=FEE):
    """The outcome, and the seconds that it took."""
    started = time.monotonic()
    outcome = one.check(interaction)
    return outcome, time.monotonic() - started
