"""What judges where the judge's model is unavailable: another plan, whose verdict says that it stands in."""

from __future__ import annotations

from dataclasses import replace

from groundwire.core.detector import Detector
from groundwire.core.errors import GroundwireError
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Plan
from groundwire.core.verdict import Abstention, AbstentionReason, Degraded, Outcome, Step, Verdict


def with_fallback(
    detector: Detector, fallback: Detector, interaction: Interaction, *, part: bool = False
) -> Plan[Outcome]:
    """The plan of ``detector``; where that abstains as UNAVAILABLE, the outcome is that of ``fallback``.

    Its verdict is read by its own grading, and ``degraded`` says whose place it takes. Where it can't judge
    either, the outcome stays the abstention that it was, and says so. So it does where ``fallback`` is a
    ``part`` of the detector, and no part was sure: what was too little for a verdict is no more by a failure.
    """
    first = yield from detector.detect(interaction)
    if not isinstance(first, Abstention) or first.why is not AbstentionReason.UNAVAILABLE:
        return first
    if part and _unsure(first):
        return _neither(first, fallback, "it has, and was not sure")
    try:
        fallback.load()
    except GroundwireError as error:
        return _neither(first, fallback, str(error))
    second = yield from fallback.detect(interaction)
    if isinstance(second, Abstention):
        return _neither(first, fallback, second.reason)
    return _standing_in(second, first, detector)


def _unsure(abstention: Abstention) -> bool:
    """Whether a part of the detector judged, and left it undecided."""
    route = abstention.route
    return route is not None and any(one.step is Step.UNDECIDED for one in route.stages)


def _standing_in(verdict: Verdict, abstention: Abstention, detector: Detector) -> Verdict:
    """The verdict, with what is known of the detector whose place it takes."""
    note = f"Judged by {verdict.detector.name!r} in place of {detector.name!r}, whose model is unavailable."
    return replace(
        verdict,
        degraded=Degraded(detector=detector.spec, reason=abstention.detail),
        reason=f"{verdict.reason} {note}".lstrip(),
        recommendation=verdict.recommendation or abstention.recommendation,
        route=verdict.route or abstention.route,
    )


def _neither(abstention: Abstention, fallback: Detector, why: str) -> Abstention:
    detail = f"{abstention.detail}; {fallback.name!r} could not judge in its place: {why}"
    return replace(abstention, detail=detail)
