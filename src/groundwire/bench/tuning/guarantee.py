"""Thresholds with a promise: shares of false alarms or misses that hold in answers to come.

The threshold is moved for as long as an exact upper bound on the share, from labels that nothing else was
fitted to, stays below what is promised: risk-controlling prediction sets (Bates, Angelopoulos, Lei, Malik and
Jordan, 2021, J. ACM 68(6), arXiv:2101.02703), a form of split conformal prediction. The bound is the binomial
tail (Clopper and Pearson, 1934) where each source has one answer of the kind, and the Hoeffding-Bentkus bound
of that paper for the mean over sources where some have several: answers about one source are not independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from groundwire.bench.tuning.errors import PromiseError
from groundwire.bench.tuning.rows import Groups
from groundwire.bench.tuning.sweep import Flags, Floats, halfway
from groundwire.bench.tuning.targets import Measure, Target


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A threshold, and the share of false alarms or misses that it had on so many sources."""

    cut: float
    share: float
    sources: int


def needed(bound: float, confidence: float) -> int:
    """How many sources it takes at least, even if none of them shows a single mistake."""
    return math.ceil(math.log(1 - confidence) / math.log(1 - bound) - 1e-9)


def enough(target: Target, labels: Flags, groups: Groups) -> bool:
    """Whether so many sources could vouch for a flawless detector."""
    sources, least = _sources(target, labels, groups)
    return sources >= least


def require_enough(target: Target, labels: Flags, groups: Groups) -> None:
    """Raises PromiseError where so few sources could not vouch even for a flawless detector."""
    sources, least = _sources(target, labels, groups)
    if sources < least:
        kind, wrong = _words(target)
        raise PromiseError(
            f"target {target}: {sources} sources with {kind} answers can't promise that: it takes {least} at "
            f"least, and more where some of them are {wrong}. Label more, or promise less"
        )


def guarantee(target: Target, figures: Floats, labels: Flags, groups: Groups) -> Guarantee:
    """The threshold that flags most (of false alarms) or least (of misses) and keeps what is promised.

    The promise is of the mean over sources of the share of a source's grounded answers that are flagged, or
    of its hallucinated ones that are not, for sources drawn like these. Any threshold up to the next answer
    of that kind makes the same mistakes on these labels, so that the bound vouches for all of them: which is
    taken goes by the next answer of either kind. Raises PromiseError, with the number of labels that are
    needed, where no threshold keeps it.
    """
    require_enough(target, labels, groups)
    alarms = target.measure is Measure.FALSE_ALARMS
    kind = labels != alarms
    sources, which = np.unique(groups[kind], return_inverse=True)
    shares = 1 / np.bincount(which)[which] / len(sources)
    # Misses are false alarms in a mirror.
    mirrored = figures[kind] if alarms else -figures[kind]
    edge, share = _edge(mirrored, shares, len(sources), target, exact=len(sources) == kind.sum())
    if edge == (1 if alarms else 0):
        said, _ = _words(target)
        raise PromiseError(
            f"target {target}: no threshold keeps that: too many {said} answers have the "
            f"{'highest' if alarms else 'lowest'} score there is"
        )
    low = edge if alarms else figures[figures < -edge].max(initial=0.0)
    high = figures[figures > edge].min(initial=1.0) if alarms else -edge
    return Guarantee(cut=float(halfway(np.array(low), np.array(high))), share=share, sources=len(sources))


def p_value(share: float, sources: int, bound: float, *, exact: bool) -> float:
    """How likely so low a mean share is at most, if the true one were above ``bound``.

    ``exact`` where each source has one answer, so that its share is 0 or 1.
    """
    mistakes = math.ceil(share * sources - 1e-9)
    tail = binomial(mistakes, sources, bound)
    if exact:
        return tail
    return min(math.exp(-sources * divergence(min(share, bound), bound)), math.e * tail, 1.0)


def binomial(most: int, of: int, chance: float) -> float:
    """How likely ``most`` or fewer successes in ``of`` trials are."""
    if most >= of:
        return 1.0
    logs = [
        math.lgamma(of + 1)
        - math.lgamma(k + 1)
        - math.lgamma(of - k + 1)
        + k * math.log(chance)
        + (of - k) * math.log1p(-chance)
        for k in range(most + 1)
    ]
    return min(1.0, math.fsum(map(math.exp, logs)))


def divergence(low: float, bound: float) -> float:
    """The divergence of a coin that shows ``low`` from one that shows ``bound``: Hoeffding's exponent."""
    first = low * math.log(low / bound) if low > 0 else 0.0
    second = (1 - low) * math.log((1 - low) / (1 - bound)) if low < 1 else 0.0
    return first + second


def _edge(
    figures: Floats, shares: Floats, sources: int, target: Target, *, exact: bool
) -> tuple[float, float]:
    """The lowest figure above which flagging is safe from any threshold on, and the share that it flags."""
    assert target.bound is not None
    assert target.confidence is not None
    values, place = np.unique(figures, return_inverse=True)
    above = np.bincount(place, weights=shares, minlength=len(values))[::-1].cumsum()[::-1]
    edge, share = float(values[-1]), 0.0
    for below, more in zip(values[-2::-1].tolist(), above[:0:-1].tolist(), strict=True):
        if p_value(more, sources, target.bound, exact=exact) > 1 - target.confidence:
            break
        edge, share = below, more
    return edge, share


def _sources(target: Target, labels: Flags, groups: Groups) -> tuple[int, int]:
    """How many sources there are for the promise, and how many it takes."""
    assert target.bound is not None
    assert target.confidence is not None
    sources = len(np.unique(groups[labels != (target.measure is Measure.FALSE_ALARMS)]))
    return sources, needed(target.bound, target.confidence)


def _words(target: Target) -> tuple[str, str]:
    return ("grounded", "flagged") if target.measure is Measure.FALSE_ALARMS else ("hallucinated", "missed")
