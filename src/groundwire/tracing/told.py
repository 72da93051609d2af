"""What every trace is told of an outcome, in whatever form: no text of the answer unless asked for."""

from __future__ import annotations

from typing import Any

from groundwire.core.verdict import Abstention, Outcome

KEY = "hallucination"


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
    """An outcome in a sentence; with ``include_text``, the reason and the unsupported statements after it."""
    by = f" ({outcome.detector.name})" if outcome.detector else ""
    if isinstance(outcome, Abstention):
        neutral, told = f"Could not be judged{by}", [outcome.detail]
    else:
        unsupported = [f"- {claim.shown}" for claim in outcome.claims if claim.support.flagged]
        neutral, told = f"{outcome.wording.title}{by}", [outcome.reason, *unsupported]
    return "\n".join([neutral, *filter(None, told)]) if include_text else neutral
