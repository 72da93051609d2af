"""What a threshold is to reach: how people write it, and which threshold reaches it best."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from groundwire.bench.tuning.errors import TuningError
from groundwire.bench.tuning.sweep import Floats, Sweep

CONFIDENCE = 0.95
_SLACK = 1e-12  # so that 0.95 of 20 is 19, whatever floats make of it


class Measure(StrEnum):
    """What targets are made of."""

    F1 = "f1"
    ACCURACY = "accuracy"
    BALANCED_ACCURACY = "balanced_accuracy"
    PRECISION = "precision"
    RECALL = "recall"
    COST = "cost"
    FALSE_ALARMS = "false_alarms"
    MISSES = "misses"


_BEST = (Measure.F1, Measure.ACCURACY, Measure.BALANCED_ACCURACY)
_AT_LEAST = (Measure.PRECISION, Measure.RECALL)
_GUARANTEED = (Measure.FALSE_ALARMS, Measure.MISSES)
_FORMS = (
    "f1, accuracy, balanced_accuracy, precision>=0.95, recall>=0.9, cost<=0.2 calls, "
    "false_alarms<=0.05 with 0.95, misses<=0.1 with 0.95"
)
_WRITTEN = re.compile(
    r"(?P<measure>[a-z_0-9]+)"
    r"(?:(?P<sign>>=|<=)(?P<bound>[0-9.]+%?)(?P<calls>calls?)?(?:with(?P<confidence>[0-9.]+%?))?)?"
)


@dataclass(frozen=True, kw_only=True)
class Target:
    """One target.

    The best of a measure; the best that keeps ``bound``, where precision and recall have to be as high and
    cost, in calls an answer, as low; or a share of false alarms or misses that is as low in all answers to
    come, with ``confidence``.
    """

    measure: Measure
    bound: float | None = None
    confidence: float | None = None

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read ``f1``, ``precision>=0.95``, ``cost<=0.2 calls``, ``false_alarms<=0.05 with 0.9`` and so on.

        Raises TuningError naming what was wrong and the forms there are.
        """
        plain = re.sub(
            r"\s+", "", text.strip().lower().replace("-", "_").replace("≥", ">=").replace("≤", "<=")
        )
        found = _WRITTEN.fullmatch(plain)
        name = found["measure"] if found else re.split(r"[<>=]", plain)[0]
        if name not in list(Measure):
            close = difflib.get_close_matches(name, [str(one) for one in Measure], n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"expected one of: {_FORMS}"
            raise TuningError(f"target {text!r}: unknown measure {name!r}; {hint}")
        if not found:
            raise TuningError(f"target {text!r} can't be read; expected one of: {_FORMS}")
        measure = Measure(name)
        wanted = None if measure in _BEST else ">=" if measure in _AT_LEAST else "<="
        if found["sign"] != wanted:
            form = (
                f"{measure}{wanted}..." if wanted else f"{measure} alone, which is made as high as it can be"
            )
            raise TuningError(f"target {text!r}: expected {form}")
        if measure in _BEST:
            return cls(measure=measure)
        if found["calls"] and measure is not Measure.COST:
            raise TuningError(f"target {text!r}: only cost is in calls")
        if found["confidence"] and measure not in _GUARANTEED:
            raise TuningError(
                f"target {text!r}: only false_alarms and misses can be promised 'with' a confidence"
            )
        bound = _number(text, found["bound"], most=None if measure is Measure.COST else 1.0)
        if measure not in _GUARANTEED:
            return cls(measure=measure, bound=bound)
        confidence = CONFIDENCE
        if found["confidence"]:
            confidence = _number(text, found["confidence"], most=None)
        if not (0 < bound < 1 and 0 < confidence < 1):
            raise TuningError(
                f"target {text!r}: expected shares between 0 and 1, such as {measure}<=0.05 with 0.95"
            )
        return cls(measure=measure, bound=bound, confidence=confidence)

    def __str__(self) -> str:
        if self.bound is None:
            return str(self.measure)
        sign = ">=" if self.measure in _AT_LEAST else "<="
        calls = " calls" if self.measure is Measure.COST else ""
        confidence = f" with {self.confidence:g}" if self.confidence else ""
        return f"{self.measure}{sign}{self.bound:g}{calls}{confidence}"

    @property
    def guaranteed(self) -> bool:
        """Whether it speaks of all answers to come, and not of these."""
        return self.measure in _GUARANTEED

    def best(self, sweep: Sweep) -> float:
        """The threshold that reaches it best on these answers.

        Where nothing reaches it, the one that comes nearest: ``reached`` tells. A guarantee is read as a
        share of these very answers here; ``guarantee`` is what can be promised.
        """
        return float(sweep.cuts[self._best(sweep)])

    def value(self, sweep: Sweep) -> float:
        """What the best threshold makes of what is to be high; 0 where it can't keep the bound."""
        best = self._best(sweep)
        if self._kept(sweep)[best]:
            return float(np.nan_to_num(self._wanted(sweep)[best]))
        return 0.0

    def reached(self, sweep: Sweep) -> bool:
        """Whether any threshold reaches it on these answers."""
        return bool(self._kept(sweep).any())

    def _best(self, sweep: Sweep) -> int:
        wanted, kept = np.nan_to_num(self._wanted(sweep), nan=-1.0), self._kept(sweep)
        if not kept.any():
            # All are NaN where a resample has no answer of the kind that the bound is about.
            return int(np.nan_to_num(self._bounded(sweep), nan=-np.inf).argmax())
        # Of equal ones the highest threshold: it flags least.
        wanted = np.where(kept, wanted, -np.inf)
        return len(wanted) - 1 - int(wanted[::-1].argmax())

    def _wanted(self, sweep: Sweep) -> Floats:
        """What is to be as high as possible."""
        if self.measure in (Measure.PRECISION, Measure.FALSE_ALARMS):
            return sweep.recall
        if self.measure is Measure.RECALL:
            return sweep.precision
        if self.measure is Measure.MISSES:
            return 1 - sweep.false_alarms
        found: Floats = getattr(sweep, "f1" if self.measure is Measure.COST else self.measure)
        return found

    def _bounded(self, sweep: Sweep) -> Floats:
        """What the bound is about, higher for better."""
        if self.measure is Measure.FALSE_ALARMS:
            return -sweep.false_alarms
        if self.measure is Measure.MISSES:
            return sweep.recall - 1
        found: Floats = getattr(sweep, self.measure)
        return found

    def _kept(self, sweep: Sweep) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        if self.bound is None or self.measure is Measure.COST:
            return np.ones(len(sweep.cuts), dtype=np.bool_)
        least = -self.bound if self.measure in _GUARANTEED else self.bound
        with np.errstate(invalid="ignore"):
            return np.asarray(self._bounded(sweep) >= least - _SLACK)


def _number(text: str, given: str, *, most: float | None) -> float:
    try:
        value = float(given.removesuffix("%")) / (100 if given.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if value < 0 or (most is not None and value > most):
        raise TuningError(
            f"target {text!r}: expected a number from 0{f' to {most:g}' if most else ' on'}, not {given!r}"
        )
    return value
