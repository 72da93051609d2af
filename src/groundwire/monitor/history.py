"""The scores of kept answers in their order, as drift is looked for in them."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import sqlalchemy as sa

from groundwire.monitor.database import Database
from groundwire.monitor.drawn import SAMPLED
from groundwire.monitor.drift import Drift, Watch
from groundwire.monitor.filters import Filter
from groundwire.monitor.schema import answers, settings
from groundwire.monitor.statistics import Floats
from groundwire.monitor.telling import PREFIX

_AT_ONCE = 5000
_BASELINE = "drift.baseline"
_WATCHED = "drift.settings"


def told(
    database: Database, wanted: Filter, drift: Drift, last: int | None
) -> tuple[Floats, Sequence[int], int]:
    """Since the reference began: each answer's score, NaN if it could not be judged, and its microsecond.

    Of many, the reference and the ``last`` alone, and how many between them are left out.
    """
    scores, times, skipped = array("d"), array("q"), 0
    with database.reading() as connection:
        query = _scores(connection, wanted)
        parts = [query.order_by(answers.c.id)]
        if last is not None:
            count = connection.execute(sa.select(sa.func.count()).select_from(query.subquery())).scalar_one()
            skipped = max(0, count - drift.reference - last) // drift.step * drift.step
        if skipped:
            latest = query.order_by(answers.c.id.desc()).limit(count - drift.reference - skipped).subquery()
            in_order = sa.select(latest.c.score, latest.c.at).order_by(latest.c.id)
            parts = [parts[0].limit(drift.reference), in_order]
        for part in parts:
            found = connection.execute(part.execution_options(yield_per=_AT_ONCE))
            for rows in found.partitions():
                some, at, *_ = zip(*rows, strict=True)
                scores.extend(math.nan if score is None else score for score in some)
                times.extend(at)
    return np.array(scores), times, skipped


def resumed(database: Database, drift: Drift, *, before: str) -> Watch:
    """A watch that has heard all that was kept before an id; alarms of that were told in their time."""
    with database.reading() as connection:
        query = _scores(connection, Filter()).where(answers.c.id < before)
        rows = connection.execute(sa.select(sa.func.count()).select_from(query.subquery())).scalar_one()
        first = connection.execute(query.order_by(answers.c.id).limit(drift.reference)).scalars().all()
        later = query.order_by(answers.c.id.desc()).limit(min(drift.window, max(0, rows - drift.reference)))
        last = connection.execute(later).scalars().all()
    return Watch(drift, rows=rows, first=list(first), last=last[::-1])


def rebase(database: Database, now: int) -> None:
    """Let the reference begin now; what was told of is of the one before."""
    _set(database, _BASELINE, now)
    with database.writing() as connection:
        connection.execute(sa.delete(settings).where(settings.c.name.startswith(PREFIX)))


def baseline(database: Database) -> int:
    """The microsecond at which the reference begins; 0 where nobody has said."""
    with database.reading() as connection:
        return _baseline(connection)


def remember(database: Database, drift: Drift) -> None:
    """Keep how drift is watched for, so that whoever looks at it afterwards sees what was watched."""
    _set(database, _WATCHED, json.dumps(asdict(drift)))


def remembered(database: Database) -> Drift:
    """How drift was watched for last; by default where it never was."""
    with database.reading() as connection:
        return Drift(**json.loads(_get(connection, _WATCHED) or "{}"))


def _baseline(connection: sa.Connection) -> int:
    return int(_get(connection, _BASELINE) or 0)


def _get(connection: sa.Connection, name: str) -> str | None:
    return connection.execute(sa.select(settings.c.value).where(settings.c.name == name)).scalar()


def _set(database: Database, name: str, value: object) -> None:
    insert = database.insert(settings)
    changed = {"value": insert.excluded.value}
    with database.writing() as connection:
        connection.execute(
            insert.on_conflict_do_update(index_elements=["name"], set_=changed),
            {"name": name, "value": str(value)},
        )


def _scores(connection: sa.Connection, wanted: Filter) -> sa.Select[Any]:
    c = answers.c
    return sa.select(c.score, c.at, c.id).where(SAMPLED, c.at >= _baseline(connection), *wanted.conditions())
