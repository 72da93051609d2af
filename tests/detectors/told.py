"""What tests of kinds of answers share: a verdict, what it is flagged for, and how pairs are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks import probes
from groundwire import Checker, Interaction, Verdict

PROBES = Path(__file__).resolve().parents[1] / "probes"


def verdict_of(detector: str, documents: Sequence[str], answer: str, question: str = "") -> Verdict:
    verdict = Checker(detector).check(Interaction(question=question, contexts=documents, answer=answer))
    assert isinstance(verdict, Verdict)
    return verdict


def reasons(verdict: Verdict) -> list[str]:
    return [claim.reason for claim in verdict.claims if claim.support.flagged]


def require_told_apart(pairs: Path, detector: str, floor: tuple[int, int]) -> None:
    """Of 40 pairs, so many wrong answers are flagged at least, and so many right ones at most."""
    rates = probes.Rates.of(probes.judge(Checker(detector), probes.pairs(pairs)))
    caught, alarms = floor
    assert rates.caught.of == 40
    assert rates.caught.hits >= caught
    assert rates.alarms.hits <= alarms
