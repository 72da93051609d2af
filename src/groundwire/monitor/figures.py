"""How often answers hallucinate, where, and at what cost.

Everything is counted by the database, and rates are reckoned from what chance chose to be kept, and from
nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import sqlalchemy as sa

from groundwire.core.errors import ConfigurationError
from groundwire.monitor.answer import moment
from groundwire.monitor.drawn import FLAGGED, SAMPLED, sorts
from groundwire.monitor.filters import Filter
from groundwire.monitor.quality import Quality, quality
from groundwire.monitor.schema import answers, tags
from groundwire.monitor.statistics import Rate, rate

_BINS = 20
MOST_GROUPS = 100
EVERY = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}
_MONDAY = 4 * 86_400_000_000  # 1970 began on a Thursday


@dataclass(frozen=True, kw_only=True)
class Group:
    """The answers of one time, or of one value of a tag.

    ``begins`` is the time's begin, or None. ``detection`` is the share of hallucinated answers among the
    judged, ``abstained`` that of answers which could not be judged; None of none.
    """

    name: str
    answers: int
    detection: Rate | None
    abstained: Rate | None
    begins: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What the kept answers say.

    ``sampled`` of the ``answers`` were kept by chance alone; ``detection`` and ``abstained`` are theirs.
    ``levels``, ``abstentions``, ``kinds`` and ``scores`` (20 bins of .05) count the sampled ones, and
    ``median`` and ``p95`` are their seconds of judging. ``calls``, ``tokens`` and ``cost`` are of all kept;
    ``cost`` is None where no price is known, and ``priced`` counts the answers where one is.
    """

    answers: int
    sampled: int
    detection: Rate | None
    abstained: Rate | None
    levels: Mapping[str, int] = field(default_factory=dict)
    abstentions: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    scores: tuple[int, ...] = ()
    median: float | None = None
    p95: float | None = None
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    priced: int = 0
    first: datetime | None = None
    last: datetime | None = None
    quality: Quality


def figures(connection: sa.Connection, wanted: Filter) -> Figures:
    """All figures of the answers that meet the filter."""
    conditions = wanted.conditions()
    whole, counts = _counts(connection, conditions)
    judged = sum(counts["level"].values())
    sampled = judged + sum(counts["abstention"].values())
    scores, middle, high = _spread(connection, conditions)
    return Figures(
        answers=whole["answers"],
        sampled=sampled,
        detection=rate(counts["hallucinated"][True], judged),
        abstained=rate(sampled - judged, sampled),
        levels=dict(counts["level"]),
        abstentions=dict(counts["abstention"].most_common()),
        kinds=dict(counts["kind"].most_common()),
        scores=scores,
        median=middle,
        p95=high,
        calls=whole["calls"],
        tokens=whole["tokens"],
        cost=whole["cost"] if whole["priced"] else None,
        priced=whole["priced"],
        first=moment(whole["first"]) if whole["answers"] else None,
        last=moment(whole["last"]) if whole["answers"] else None,
        quality=quality(connection, wanted),
    )


def over_time(connection: sa.Connection, wanted: Filter, every: str) -> tuple[Group, ...]:
    """The figures of each hour, day or week (from Monday, UTC) that has an answer, in order."""
    if every not in EVERY:
        raise ConfigurationError(f"every must be one of {', '.join(map(repr, EVERY))}, not {every!r}")
    width = EVERY[every] // timedelta(microseconds=1)
    shift = _MONDAY if every == "week" else 0
    # As a literal: PostgreSQL does not see that two parameters of a query are the same.
    bucket = (answers.c.at - sa.literal_column(str(shift))) // sa.literal_column(str(width))
    found = connection.execute(_grouped(bucket, wanted).order_by(bucket)).all()
    groups = []
    for row in found:
        begins = moment(int(row.name) * width + shift)
        shown = f"{begins:%Y-%m-%d %H:%M}" if every == "hour" else f"{begins:%Y-%m-%d}"
        groups.append(_group(shown, row, begins))
    return tuple(groups)


def by_tag(connection: sa.Connection, wanted: Filter, name: str) -> tuple[Group, ...]:
    """The figures of the values of a tag, or of detector, kind or action; the most frequent, and first.

    A tag of that name goes before what every answer has, where each of them has one.
    """
    count = sa.func.count().desc()
    has = sa.exists().where(tags.c.answer_id == answers.c.id, tags.c.name == name)
    without = sa.select(answers.c.id).where(~has, *wanted.conditions()).limit(1)
    if name in {"detector", "kind", "action"} and connection.execute(without).first():
        query = _grouped(answers.c[name], wanted)
    else:
        query = _grouped(tags.c.value, wanted).join(
            tags, (tags.c.answer_id == answers.c.id) & (tags.c.name == name)
        )
    found = connection.execute(query.order_by(count).limit(MOST_GROUPS)).all()
    return tuple(_group("" if row.name is None else str(row.name), row, None) for row in found)


def tag_names(connection: sa.Connection) -> dict[str, int]:
    """Every name of a tag, and how many values it has; those with few values first."""
    values = sa.func.count(tags.c.value.distinct())
    found = connection.execute(sa.select(tags.c.name, values).group_by(tags.c.name)).all()
    return dict(sorted(((name, count) for name, count in found), key=lambda one: (one[1], one[0])))


def _grouped(name: sa.ColumnElement[Any], wanted: Filter) -> sa.Select[Any]:
    return (
        sa.select(
            name.label("name"),
            sa.func.count().label("answers"),
            sa.func.count(sa.case((answers.c.judged.is_(sa.true()), 1))).label("judged"),
            sa.func.count(sa.case((FLAGGED, 1))).label("flagged"),
        )
        .select_from(answers)
        .where(SAMPLED, *wanted.conditions())
        .group_by(name)
    )


def _group(name: str, row: Any, begins: datetime | None) -> Group:
    return Group(
        name=name,
        answers=row.answers,
        detection=rate(row.flagged, row.judged),
        abstained=rate(row.answers - row.judged, row.answers),
        begins=begins,
    )


def _counts(
    connection: sa.Connection, conditions: list[sa.ColumnElement[bool]]
) -> tuple[dict[str, Any], dict[str, Counter[Any]]]:
    """What all answers amount to, and how many that chance chose have which level, kind and so on."""
    c = answers.c
    names = ("level", "kind", "abstention", "hallucinated")
    (sampled,) = sorts("sampled")
    query = (
        sa.select(
            sampled,
            *(c[name] for name in names),
            sa.func.count().label("answers"),
            sa.func.sum(c.calls).label("calls"),
            sa.func.sum(c.tokens).label("tokens"),
            sa.func.coalesce(sa.func.sum(c.cost), 0.0).label("cost"),
            sa.func.count(c.cost).label("priced"),
            sa.func.min(c.at).label("first"),
            sa.func.max(c.at).label("last"),
        )
        .where(*conditions)
        .group_by(sampled, *(c[name] for name in names))
    )
    rows = connection.execute(query).mappings().all()
    counts: dict[str, Counter[Any]] = {name: Counter() for name in names}
    for row in rows:
        for name in names:
            if row["sampled"] and row[name] is not None:
                counts[name][row[name]] += row["answers"]
    whole: dict[str, Any] = {name: sum(int(row[name]) for row in rows) for name in _SUMS}
    whole["cost"] = sum(row["cost"] for row in rows)
    whole["first"] = min((row["first"] for row in rows), default=None)
    whole["last"] = max((row["last"] for row in rows), default=None)
    return whole, counts


_SUMS = ("answers", "calls", "tokens", "priced")


def _spread(
    connection: sa.Connection, conditions: list[sa.ColumnElement[bool]]
) -> tuple[tuple[int, ...], float | None, float | None]:
    """Of what chance chose: the histogram of scores, and the middle and 95th percentile of seconds."""
    query = sa.select(answers.c.score, answers.c.seconds).where(SAMPLED, *conditions)
    found = connection.execute(query).all()
    if not found:
        return (0,) * _BINS, None, None
    # By columns: numpy takes rows of a database for sequences of their own, thirty times as slowly.
    scores, seconds = (np.array(column, dtype=float) for column in zip(*found, strict=True))
    counts, _ = np.histogram(scores[~np.isnan(scores)], bins=_BINS, range=(0.0, 1.0))
    histogram = tuple(int(count) for count in counts)
    middle, high = np.percentile(seconds, [50, 95])
    return histogram, float(middle), float(high)
