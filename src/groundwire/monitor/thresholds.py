"""What any threshold would do, by the answers that people decided on.

Scores of different detectors mean different things, so each has its own. From what chance drew for review,
precision and recall can be reckoned at every threshold; from flagged answers alone only what is flagged at a
higher one; from answers that people chose, nothing about the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import sqlalchemy as sa

from groundwire.monitor.drawn import FLAGGED, PICKED, SAMPLED, sorts
from groundwire.monitor.filters import Filter
from groundwire.monitor.reviews import truth
from groundwire.monitor.schema import answers, feedback
from groundwire.monitor.statistics import Floats, Rate, rate


class Basis(StrEnum):
    """Where reviewed answers come from: a FAIR sample of all, one of FLAGGED answers, or as people CHOSE."""

    FAIR = "fair"
    FLAGGED = "flagged"
    CHOSEN = "chosen"


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a threshold does to the reviewed answers, and would do to all.

    Of the hallucinated ones ``hit`` are flagged and ``missed`` are not, of the others ``false`` and
    ``passed``. Precision, recall and F1 are None where these answers can't tell (see ``Basis``). ``flagged``
    is the share of everything judged that it would flag.
    """

    threshold: float
    hit: int
    missed: int
    false: int
    passed: int
    precision: Rate | None
    recall: Rate | None
    f1: Rate | None
    flagged: Rate | None


@dataclass(frozen=True, kw_only=True)
class Reviewed:
    """A detector's scores of reviewed answers, and whether each is hallucinated by most of its reviewers.

    ``threshold`` is the one that the detector used last, ``known_from`` the lowest of which precision can be
    told. ``judged`` are its scores of everything that chance
    kept, in rising order, by which a threshold's share of flagged answers is known. ``clipped`` says that
    there are more reviewed answers than were asked for.
    """

    detector: str
    fingerprint: str
    threshold: float
    known_from: float
    basis: Basis
    scores: Floats
    hallucinated: tuple[bool, ...]
    judged: Floats
    clipped: bool

    def at(self, threshold: float) -> Effect:
        """What this threshold does."""
        real = np.array(self.hallucinated, dtype=bool)
        over = self.scores >= threshold
        hit, false = int((over & real).sum()), int((over & ~real).sum())
        missed, passed = int(real.sum()) - hit, int((~real).sum()) - false
        fair = self.basis is Basis.FAIR
        flagged = len(self.judged) - int(np.searchsorted(self.judged, threshold))
        return Effect(
            threshold=threshold,
            hit=hit,
            missed=missed,
            false=false,
            passed=passed,
            precision=rate(hit, hit + false) if threshold >= self.known_from else None,
            recall=rate(hit, hit + missed) if fair else None,
            f1=_f1(hit, false, missed) if fair else None,
            flagged=rate(flagged, len(self.judged)),
        )


def thresholds(connection: sa.Connection, wanted: Filter, most: int) -> tuple[Reviewed, ...]:
    """Each detector's reviewed scores, the detector with most of them first."""
    wanted = wanted.for_reviews
    rows = _rows(connection, wanted, most)
    clipped = len(rows) > most
    whole = _whole(connection, wanted) if rows else (False, False)
    by_detector: dict[str, list[Any]] = defaultdict(list)
    for row in rows[:most]:
        by_detector[row.fingerprint or ""].append(row)
    judged = _judged(connection, wanted, list(by_detector))
    found = []
    for fingerprint, its in by_detector.items():
        basis, chosen = _fairest(its, wanted, *whole)
        found.append(
            Reviewed(
                detector=its[0].detector or "",
                fingerprint=fingerprint,
                threshold=its[0].threshold,
                known_from=max(row.threshold for row in chosen) if basis is Basis.FLAGGED else 0.0,
                basis=basis,
                scores=np.array([row.score for row in chosen]),
                hallucinated=tuple(bool(row.real) for row in chosen),
                judged=judged[fingerprint],
                clipped=clipped,
            )
        )
    return tuple(sorted(found, key=lambda one: (-len(one.scores), one.detector, one.fingerprint)))


def _rows(connection: sa.Connection, wanted: Filter, most: int) -> Sequence[sa.Row[Any]]:
    """Every judged answer on which people decided, the latest first."""
    c, seen = answers.c, truth()
    query = (
        sa.select(
            c.detector,
            c.fingerprint,
            c.score,
            c.threshold,
            seen.c.real,
            *sorts("sampled", "picked", "flagged", "drawn", "drawn_flagged"),
        )
        .select_from(answers.join(seen, seen.c.answer_id == c.id))
        .where(c.judged.is_(sa.true()), c.score.is_not(None), seen.c.real.is_not(None), *wanted.conditions())
        .order_by(c.id.desc())
        .limit(most + 1)
    )
    return connection.execute(query).all()


def _whole(connection: sa.Connection, wanted: Filter) -> tuple[bool, bool]:
    """Whether all that chance kept was reviewed, and all that is flagged."""
    c = answers.c
    said = sa.exists().where(feedback.c.answer_id == c.id)
    left = sa.select(c.id).where(c.judged.is_(sa.true()), ~said, *wanted.conditions()).limit(1)
    sampled, flagged = (connection.execute(left.where(one)).first() for one in (SAMPLED, FLAGGED & ~PICKED))
    return sampled is None, flagged is None


def _fairest(
    rows: Sequence[Any], wanted: Filter, all_sampled: bool, all_flagged: bool
) -> tuple[Basis, Sequence[Any]]:
    """The rows that tell most, and of what; as precision and recall are reckoned (see ``figures``)."""
    fair = [row for row in rows if row.sampled and (all_sampled or row.drawn)] if wanted.fair else []
    if fair:
        return Basis.FAIR, fair
    flagged = [row for row in rows if row.flagged and not row.picked]
    drawn = flagged if all_flagged else [row for row in flagged if row.drawn or row.drawn_flagged]
    return (Basis.FLAGGED, drawn) if drawn else (Basis.CHOSEN, rows)


def _judged(connection: sa.Connection, wanted: Filter, fingerprints: list[str]) -> dict[str, Floats]:
    c = answers.c
    scores: dict[str, list[float]] = {one: [] for one in fingerprints}
    query = sa.select(c.fingerprint, c.score).where(
        SAMPLED,
        c.score.is_not(None),
        sa.func.coalesce(c.fingerprint, "").in_(fingerprints),
        *wanted.conditions(),
    )
    for fingerprint, score in connection.execute(query):
        scores[fingerprint or ""].append(score)
    return {one: np.sort(np.array(some, dtype=float)) for one, some in scores.items()}


def _f1(hit: int, false: int, missed: int) -> Rate | None:
    """F1 with the interval of hits among all that is flagged or hallucinated, of which it is a function."""
    share = rate(hit, hit + false + missed)
    if share is None:
        return None
    value, low, high = (2 * part / (1 + part) for part in (share.value, share.low, share.high))
    return Rate(value=value, low=low, high=high, count=2 * hit, of=2 * hit + false + missed)
