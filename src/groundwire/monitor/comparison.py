"""Before and after a change, on the same questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from groundwire.monitor.answer import NO_QUESTION
from groundwire.monitor.drawn import SAMPLED
from groundwire.monitor.filters import Filter
from groundwire.monitor.schema import answers
from groundwire.monitor.statistics import Rate, flipped, mcnemar, rate


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The latest judged answer to each question on both sides, of those that chance chose to be kept.

    ``pairs`` questions were answered on both sides. ``better`` were flagged before and no longer are,
    ``worse`` the other way round; ``p`` is the chance that as many change one way only by chance (McNemar's
    exact test). ``score`` is the mean change of the score, below 0 for the better, and ``score_p`` its chance
    (paired permutation). Figures are None without pairs.
    """

    pairs: int
    before: Rate | None
    after: Rate | None
    better: int
    worse: int
    p: float | None
    score: float | None
    score_p: float | None


def compare(connection: sa.Connection, before: Filter, after: Filter) -> Comparison:
    """Compare two sets of answers on the questions that both answered."""
    first, second = (_latest(connection, side) for side in (before, after))
    shared = [pair for pair in first if pair in second]
    flags = np.array([(first[pair][0], second[pair][0]) for pair in shared], dtype=bool).reshape(-1, 2)
    change = np.array([second[pair][1] - first[pair][1] for pair in shared], dtype=float)
    better, worse = int((flags[:, 0] & ~flags[:, 1]).sum()), int((~flags[:, 0] & flags[:, 1]).sum())
    return Comparison(
        pairs=len(shared),
        before=rate(int(flags[:, 0].sum()), len(shared)),
        after=rate(int(flags[:, 1].sum()), len(shared)),
        better=better,
        worse=worse,
        p=mcnemar(better, worse) if shared else None,
        score=float(change.mean()) if shared else None,
        score_p=flipped(change) if shared else None,
    )


def _latest(connection: sa.Connection, side: Filter) -> dict[str, tuple[bool, float]]:
    c = answers.c
    query = (
        sa.select(c.pair, c.hallucinated, c.score)
        .where(
            SAMPLED,
            c.pair.is_not(None),
            c.pair != NO_QUESTION,
            c.judged.is_(sa.true()),
            *side.conditions(),
        )
        .order_by(c.at)
    )
    return {pair: (flagged, score) for pair, flagged, score in connection.execute(query)}
