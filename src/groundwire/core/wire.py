"""The one JSON form of an outcome: plain, versioned, safe to put on any answer, trace or store.

Every text is valid Unicode (a lone surrogate becomes U+FFFD, so offsets still hold) and every number finite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from operator import index
from typing import Any

from groundwire.core.claim import Claim, Evidence, Kind, Support, Vote
from groundwire.core.grading import Level, Wording
from groundwire.core.plain import plain, valid
from groundwire.core.score import is_number
from groundwire.core.span import Span
from groundwire.core.verdict import (
    Abstention,
    AbstentionReason,
    Degraded,
    DetectorSpec,
    Outcome,
    Recommendation,
    Route,
    StageReport,
    Step,
    Usage,
    Verdict,
)

VERSION = 1


def encode(outcome: Outcome) -> dict[str, Any]:
    """The dict form. Every key is always there; what an abstention has no value for is None."""
    checked = outcome if isinstance(outcome, Verdict) else None
    return {
        "version": VERSION,
        "status": "checked" if checked else "abstained",
        "score": outcome.score,
        "raw": _number(outcome.raw),
        "threshold": outcome.threshold,
        "hallucinated": outcome.hallucinated,
        "level": checked and str(checked.level),
        "label": checked and valid(checked.wording.label),
        "title": checked and valid(checked.wording.title),
        "warning": checked and valid(checked.wording.warning),
        "kind": outcome.kind and str(outcome.kind),
        "reason": valid(outcome.detail if isinstance(outcome, Abstention) else outcome.reason),
        "abstention": str(outcome.why) if isinstance(outcome, Abstention) else None,
        "claims": [_claim(claim) for claim in outcome.claims],
        "spans": [_span(span) for span in outcome.spans],
        "detector": outcome.detector and _detector(outcome.detector),
        "usage": plain(asdict(outcome.usage)),
        "id": outcome.id and valid(outcome.id),
        "recommendation": outcome.recommendation and str(outcome.recommendation),
        "route": outcome.route and _route(outcome.route),
        "degraded": outcome.degraded and _degraded(outcome.degraded),
    }


def pending(identity: str) -> dict[str, Any]:
    """What stands in an outcome's place until there is one, such as while a stream is read: the same keys."""
    unknown = encode(Abstention(why=AbstentionReason.PARTIAL_ANSWER, id=identity))
    return {**unknown, "status": "pending", "abstention": None, "reason": "not judged yet"}


def decode(data: Mapping[str, Any]) -> Outcome:
    """The outcome that ``encode`` was given.

    ValueError for another version, an unfinished check, and whatever else is no outcome.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"an outcome is a dict, not {type(data).__name__}")  # noqa: TRY004 - as the rest
    if data.get("version") != VERSION:
        raise ValueError(
            f"this groundwire reads outcomes of version {VERSION}, not {data.get('version')!r:.60}"
        )
    try:
        return _decoded(data)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        told = f"it has no {error}" if isinstance(error, KeyError) else "a part of it is of another kind"
        raise ValueError(f"this is no outcome that groundwire wrote: {told}") from error


def _decoded(data: Mapping[str, Any]) -> Outcome:
    if data["status"] not in ("checked", "abstained"):
        raise ValueError(f"an outcome with status {data['status']!r} has nothing to read yet")
    identity = None if data["id"] is None else valid(data["id"])
    usage = _read_usage(data["usage"])
    if data["status"] == "abstained":
        return Abstention(
            why=AbstentionReason(data["abstention"]),
            detail=valid(data["reason"]),
            detector=_read_detector(data["detector"]) if data["detector"] else None,
            usage=usage,
            id=identity,
            **_advice(data),
        )
    return Verdict(
        score=data["score"],
        raw=_number(data["raw"]),
        threshold=data["threshold"],
        level=Level(data["level"]),
        wording=Wording(
            label=valid(data["label"]), title=valid(data["title"]), warning=valid(data["warning"])
        ),
        kind=Kind(data["kind"]) if data.get("kind") else None,
        reason=valid(data["reason"]),
        claims=tuple(_read_claim(claim) for claim in data["claims"]),
        detector=_read_detector(data["detector"]),
        usage=usage,
        id=identity,
        degraded=_read_degraded(data["degraded"]) if data.get("degraded") else None,
        **_advice(data),
    )


def _advice(data: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that outcomes of the first releases don't have."""
    return {
        "recommendation": Recommendation(data["recommendation"]) if data.get("recommendation") else None,
        "route": _read_route(data["route"]) if data.get("route") else None,
    }


def _number(value: Any) -> float | None:
    """A number of a detector's own making; None for what JSON has no number for."""
    told = plain(value)
    return told if isinstance(told, int | float) else None


def _span(span: Span) -> dict[str, int]:
    return {"start": int(span.start), "end": int(span.end)}  # numpy's numbers are not JSON


def _route(route: Route) -> dict[str, Any]:
    return {
        "decided": valid(route.decided),
        "stages": [
            {
                "stage": valid(one.stage),
                "step": str(one.step),
                "score": _number(one.score),
                "detail": valid(one.detail),
            }
            for one in route.stages
        ],
        "spared": plain(asdict(route.spared)),
    }


def _read_route(data: Mapping[str, Any]) -> Route:
    return Route(
        decided=valid(data["decided"]),
        stages=tuple(
            StageReport(
                stage=valid(one["stage"]),
                step=Step(one["step"]),
                score=_number(one.get("score")),
                detail=valid(one.get("detail", "")),
            )
            for one in data["stages"]
        ),
        spared=_read_usage(data["spared"]),
    )


def _read_usage(data: Mapping[str, Any]) -> Usage:
    if not all(value is None or is_number(value) for value in data.values()):
        raise TypeError("what was used is told in numbers")
    return Usage(**data)


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "text": valid(claim.text),
        **_span(claim.span),
        "support": str(claim.support),
        "score": claim.score,
        "reason": valid(claim.reason),
        "words": [_span(word) for word in claim.words],
        "evidence": [
            {
                "passage": int(evidence.passage),
                **_span(evidence.span),
                "quote": valid(evidence.quote),
            }
            for evidence in claim.evidence
        ],
        "statement": valid(claim.statement),
        "votes": [
            {"oracle": valid(vote.oracle), "support": str(vote.support), "confidence": vote.confidence}
            for vote in claim.votes
        ],
        "disagreement": claim.disagreement,
    }


def _read_claim(data: Mapping[str, Any]) -> Claim:
    return Claim(
        text=valid(data["text"]),
        span=_read_span(data),
        support=Support(data["support"]),
        score=data["score"],
        reason=valid(data["reason"]),
        words=tuple(_read_span(word) for word in data["words"]),
        evidence=tuple(
            Evidence(
                passage=index(evidence["passage"]),
                span=_read_span(evidence),
                quote=valid(evidence["quote"]),
            )
            for evidence in data["evidence"]
        ),
        statement=valid(data.get("statement", "")),
        votes=tuple(
            Vote(
                oracle=valid(vote["oracle"]), support=Support(vote["support"]), confidence=vote["confidence"]
            )
            for vote in data.get("votes", ())
        ),
    )


def _read_span(data: Mapping[str, Any]) -> Span:
    return Span(index(data["start"]), index(data["end"]))


def _detector(spec: DetectorSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "version": spec.version,
        "parameters": plain(spec.parameters),
        "fingerprint": spec.fingerprint,
    }


def _read_detector(data: Mapping[str, Any]) -> DetectorSpec:
    return DetectorSpec(
        name=valid(data["name"]), version=valid(data["version"]), parameters=dict(data["parameters"])
    )


def _degraded(degraded: Degraded) -> dict[str, Any]:
    return {"detector": _detector(degraded.detector), "reason": valid(degraded.reason)}


def _read_degraded(data: Mapping[str, Any]) -> Degraded:
    return Degraded(detector=_read_detector(data["detector"]), reason=valid(data["reason"]))
