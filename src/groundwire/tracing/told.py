"""What every trace is told of an outcome, in whatever form: no text of the answer unless asked for."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID, uuid5

from groundwire.core.plain import valid
from groundwire.core.sink import Told
from groundwire.core.verdict import Abstention, Outcome

KEY = "hallucination"
_NAMESPACE = UUID("5b0f7a0c-8d0e-4b43-9d55-2f3c6f0b1c11")  # of what has no run, or one whose id is no UUID


def flat_metadata(outcome: Outcome) -> dict[str, Any]:
    """An outcome as flat metadata, without any text of the answer; what it has no value for is left out."""
    flat = {
        "hallucination_status": "abstained" if isinstance(outcome, Abstention) else "checked",
        "hallucination_score": outcome.score,
        "hallucination_threshold": outcome.threshold,
        "hallucination_level": outcome.level and str(outcome.level),
        "hallucination_abstention": str(outcome.why) if isinstance(outcome, Abstention) else None,
        "hallucination_detector": outcome.detector and f"{outcome.detector.name} {outcome.detector.version}",
        "hallucination_detector_fingerprint": outcome.detector and outcome.detector.fingerprint,
    }
    return {key: value for key, value in flat.items() if value is not None}


def comment(outcome: Outcome, *, include_text: bool) -> str:
    """An outcome in a sentence; with ``include_text``, the reason and the unsupported statements after it.

    In valid Unicode: clients refuse half a character, which an answer may hold, and all that goes with it.
    """
    by = f" ({outcome.detector.name})" if outcome.detector else ""
    if isinstance(outcome, Abstention):
        neutral, told = f"Could not be judged{by}", [outcome.detail]
    else:
        unsupported = [f"- {claim.shown}" for claim in outcome.claims if claim.support.flagged]
        neutral, told = f"{outcome.wording.title}{by}", [outcome.reason, *unsupported]
    return valid("\n".join([neutral, *filter(None, told)]) if include_text else neutral)


def annotator(outcome: Outcome) -> Literal["LLM", "CODE"]:
    """Who judged: a language model, or code. A reply that a judge remembered has used no model."""
    return "LLM" if outcome.usage.calls else "CODE"


def feedback_id(run_id: UUID, outcome: Outcome) -> UUID:
    """The same run judged again by the same detector replaces what was said of it instead of adding to it."""
    fingerprint = outcome.detector.fingerprint if outcome.detector else ""
    return uuid5(run_id, f"{KEY}/{fingerprint}")


def told_id(told: Told, trace_id: str) -> UUID:
    """``feedback_id`` of whatever was judged: by its run's id, else by its own in the trace it is judged in.

    An id of the caller's own, such as a row's number, may come again elsewhere, and is then another answer's.
    """
    try:
        run_id = told.run_id if isinstance(told.run_id, UUID) else UUID(told.run_id or "")
    except ValueError:
        run_id = uuid5(_NAMESPACE, f"{told.run_id or told.outcome.id}/{trace_id}")
    return feedback_id(run_id, told.outcome)
