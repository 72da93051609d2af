"""The one JSON form of an outcome: plain, versioned, safe to put on any answer, trace or store.

Every text is valid Unicode (a lone surrogate becomes U+FFFD, so offsets still hold) and every number finite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from groundwire.core.claim import Claim, Evidence, Kind, Support, Vote
from groundwire.core.grading import Level, Wording
from groundwire.core.plain import plain, valid
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
    except (KeyError, TypeError, AttributeError) as error:
        told = f"it has no {error}" if isinstance(error, KeyError) else "a part of it is of another kind"
        raise ValueError(f"this is no outcome that groundwire wrote: {told}") from error


def _decoded(data: Mapping[str, Any]) -> Outcome:
    spec = data["detector"] and _read_detector(data["detector"])
    usage = Usage(**data["usage"])
    if data["status"] == "abstained":
        return Abstention(
            why=AbstentionReason(data["abstention"]),
            detail=data["reason"],
            detector=spec,
            usage=usage,
            id=data["id"],
            **_advice(data),
        )
    if data["status"] != "checked":
        raise ValueError(f"an outcome with status {data['status']!r} has nothing to read yet")
    return Verdict(
        score=data["score"],
        raw=data["raw"],
        threshold=data["threshold"],
        level=Level(data["level"]),
        wording=Wording(label=data["label"], title=data["title"], warning=data["warning"]),
        kind=Kind(data["kind"]) if data.get("kind") else None,
        reason=data["reason"],
        claims=tuple(_read_claim(claim) for claim in data["claims"]),
        detector=spec,
        usage=usage,
        id=data["id"],
        degraded=_read_degraded(data.get("degraded")),
        **_advice(data),
    )


def _advice(data: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that outcomes of the first releases don't have."""
    route = data.get("route")
    return {
        "recommendation": Recommendation(data["recommendation"]) if data.get("recommendation") else None,
        "route": route
        and Route(
            decided=route["decided"],
            stages=tuple(StageReport(**{**one, "step": Step(one["step"])}) for one in route["stages"]),
            spared=Usage(**route["spared"]),
        ),
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
        text=data["text"],
        span=Span(data["start"], data["end"]),
        support=Support(data["support"]),
        score=data["score"],
        reason=data["reason"],
        words=tuple(Span(word["start"], word["end"]) for word in data["words"]),
        evidence=tuple(
            Evidence(
                passage=evidence["passage"],
                span=Span(evidence["start"], evidence["end"]),
                quote=evidence["quote"],
            )
            for evidence in data["evidence"]
        ),
        statement=data.get("statement", ""),
        votes=tuple(
            Vote(oracle=vote["oracle"], support=Support(vote["support"]), confidence=vote["confidence"])
            for vote in data.get("votes", ())
        ),
    )


def _detector(spec: DetectorSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "version": spec.version,
        "parameters": plain(spec.parameters),
        "fingerprint": spec.fingerprint,
    }


def _read_detector(data: Mapping[str, Any]) -> DetectorSpec:
    return DetectorSpec(name=data["name"], version=data["version"], parameters=data["parameters"])


def _degraded(degraded: Degraded) -> dict[str, Any]:
    return {"detector": _detector(degraded.detector), "reason": valid(degraded.reason)}


def _read_degraded(data: Mapping[str, Any] | None) -> Degraded | None:
    return data and Degraded(detector=_read_detector(data["detector"]), reason=data["reason"])  # type: ignore[return-value]
