"""The scores of kept answers in their order, as drift is looked for in them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from groundwire.monitor.answer import moment
from groundwire.monitor.database import Database
from groundwire.monitor.drift import Drift, Watch
from groundwire.monitor.filters import Filter
from groundwire.monitor.sampling import Why
from groundwire.monitor.schema import answers, settings

_BASELINE = "drift.baseline"


def told(database: Database, wanted: Filter) -> Iterator[tuple[float | None, datetime]]:
    """Each answer's score, None if it could not be judged, and its time, since the reference began."""
    with database.reading() as connection:
        query = _scores(connection, wanted).order_by(answers.c.id)
        for score, at in connection.execution_options(yield_per=1000).execute(query):
            yield score, moment(at)


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
    """Let the reference begin now."""
    insert = database.insert(settings)
    changed = {"value": insert.excluded.value}
    with database.writing() as connection:
        connection.execute(
            insert.on_conflict_do_update(index_elements=["name"], set_=changed),
            {"name": _BASELINE, "value": str(now)},
        )


def _scores(connection: sa.Connection, wanted: Filter) -> sa.Select[Any]:
    baseline = connection.execute(sa.select(settings.c.value).where(settings.c.name == _BASELINE)).scalar()
    c = answers.c
    return sa.select(c.score, c.at).where(
        c.why == str(Why.SAMPLE), c.at >= int(baseline or 0), *wanted.conditions()
    )
