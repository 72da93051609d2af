"""What is not kept for ever, and what a person asks to be forgotten."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from groundwire.core.errors import ConfigurationError
from groundwire.core.redaction import MASK, may_be
from groundwire.monitor.answer import MOST_TAGS, tag, tags_of
from groundwire.monitor.database import Database
from groundwire.monitor.filters import tagged
from groundwire.monitor.schema import answers, bodies, tags

_AT_ONCE = 1000
_DAY = 86_400_000_000
_MEGABYTE = 1_000_000
_PAGES = 1000  # of 4 KB, that are given back in one transaction


@dataclass(frozen=True, kw_only=True)
class Retention:
    """How long answers are kept, and how many megabytes of their text; the oldest go first. None is no limit.

    Feedback goes with its answer. Raises ConfigurationError, naming every mistake at once.
    """

    days: float | None = None
    megabytes: float | None = None

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be a number above 0 and below a million, or None, not {value!r}"
            for name, value in (("days", self.days), ("megabytes", self.megabytes))
            if value is not None
            and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6)
        ]
        if problems:
            raise ConfigurationError(*problems)


def prune(database: Database, retention: Retention) -> Iterator[int]:
    """Delete what is too old, and the oldest of what is too much; how many answers went, time and again."""
    gone = 0
    if retention.days is not None:
        oldest = time.time_ns() // 1000 - round(retention.days * _DAY)
        for some in _deleted(database, answers.c.at < oldest):
            gone += some
            yield some
    if retention.megabytes is not None and (last := _beyond(database, retention.megabytes)) is not None:
        for some in _deleted(database, answers.c.id <= last):
            gone += some
            yield some
    if gone:
        for _ in _shrinking(database):
            yield 0


def forget(database: Database, name: str, value: object) -> int:
    """Delete every answer with a tag, and all that was said about it; how many answers went.

    Also those that have it among their metadata, where there were more tags than are kept.
    """
    gone = sum(_deleted(database, tagged(name, value)))
    crowded = list(_crowded(database, name, value))
    for start in range(0, len(crowded), _AT_ONCE):
        gone += sum(_deleted(database, answers.c.id.in_(crowded[start : start + _AT_ONCE])))
    shrink(database)
    return gone


def _crowded(database: Database, name: str, value: object) -> Iterator[str]:
    wanted, c = tag(name, value), tags.c
    full = sa.select(c.answer_id).group_by(c.answer_id).having(sa.func.count() >= MOST_TAGS)
    query = sa.select(bodies.c.answer_id, bodies.c.rest).where(bodies.c.answer_id.in_(full))
    with database.reading() as connection:
        for key, rest in connection.execute(query.execution_options(yield_per=_AT_ONCE)):
            if wanted in tags_of(json.loads(rest).get("metadata") or {}):
                yield key


def masked_alike(database: Database, name: str, value: object) -> dict[str, int]:
    """Masked values of a tag that may stand for this one, each with how many answers have it."""
    (name, text), c = tag(name, value), tags.c
    query = (
        sa.select(c.value, sa.func.count())
        .where(c.name == name, c.value.contains(MASK), sa.func.length(c.value) == len(text), c.value != text)
        .group_by(c.value)
    )
    with database.reading() as connection:
        found = connection.execute(query).all()
    return {one: count for one, count in found if may_be(one, text)}


def shrink(database: Database) -> None:
    """Give the room of what was deleted back to the disk, and leave nothing of it in SQLite's journal.

    What a reader still has open stays until the next time.
    """
    for _ in _shrinking(database):
        pass


def _shrinking(database: Database) -> Iterator[None]:
    """The same in portions, so that whoever writes is not kept waiting."""
    if database.is_sqlite:
        free = _free(database)
        while free > 0:
            with database.bare() as cursor:
                # As a script, for a statement without columns would be left after its first page.
                cursor.executescript(f"PRAGMA incremental_vacuum({_PAGES})")
            free -= _PAGES
            yield
        with database.bare() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _free(database: Database) -> int:
    """How many pages of a SQLite file are of nothing."""
    with database.bare() as cursor:
        return int(cursor.execute("PRAGMA freelist_count").fetchone()[0])


def _beyond(database: Database, megabytes: float) -> str | None:
    """The newest answer that no longer fits, counted from the newest of all; None when all fit."""
    total = 0
    with database.reading() as connection:
        if (
            connection.execute(sa.select(sa.func.sum(answers.c.size))).scalar() or 0
        ) <= megabytes * _MEGABYTE:
            return None
        for key, size in connection.execute(
            sa.select(answers.c.id, answers.c.size).order_by(answers.c.id.desc())
        ):
            total += size
            if total > megabytes * _MEGABYTE:
                return str(key)
    return None


def _deleted(database: Database, which: sa.ColumnElement[bool]) -> Iterator[int]:
    """Delete in small transactions, so that whoever writes is not kept waiting; how many went in each."""
    done = _AT_ONCE
    while done == _AT_ONCE:
        with database.writing() as connection:
            some = sa.select(answers.c.id).where(which).limit(_AT_ONCE).scalar_subquery()
            done = connection.execute(sa.delete(answers).where(answers.c.id.in_(some))).rowcount
        yield done
