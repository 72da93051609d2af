"""In which order answers are looked at, page by page, and who reviews which of them.

A random queue hands answers out by the number that chance gave each when it was kept, and marks every answer
up to there as drawn, reviewed elsewhere or not. What is drawn is therefore a fair sample, whatever else
people review; precision and recall are reckoned from it. What was handed out of a part, narrowed by a filter,
is a sample of that part alone, and is not marked.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from groundwire.core.errors import ConfigurationError, InputError
from groundwire.monitor.answer import Line, line
from groundwire.monitor.database import Database
from groundwire.monitor.drawn import FLAGGED, SAMPLED
from groundwire.monitor.filters import Filter
from groundwire.monitor.schema import answers, bodies, feedback, reservations

_SNIPPET = 300
_FARTHEST = 2**63  # beyond which a database can't look


class Queue(StrEnum):
    """An order to look at answers in.

    UNCERTAIN: nearest to the threshold first. FLAGGED: hallucinations, by chance. RANDOM: everything that
    chance chose to be kept, by chance. NEWEST: latest first. DISAGREEING: latest first, those about whose
    very words two detectors differ.
    """

    UNCERTAIN = "uncertain"
    FLAGGED = "flagged"
    RANDOM = "random"
    NEWEST = "newest"
    DISAGREEING = "disagreeing"


@dataclass(frozen=True, kw_only=True)
class Page:
    """Some kept answers in brief. ``after`` asks for the next page; None says that there is none."""

    lines: tuple[Line, ...]
    after: str | None


def page(connection: sa.Connection, wanted: Filter, queue: Queue, *, limit: int, after: str | None) -> Page:
    """One page, as fast from the middle of a hundred thousand as from their start."""
    key, descending = _order(queue)
    query = sa.select(answers.c.id, key.label("key")).where(*wanted.conditions(), *_members(queue))
    if after is not None:
        last, place = _read_place(after), sa.tuple_(key, answers.c.id)
        query = query.where(place < last if descending else place > last)
    # The texts are joined to what is shown, and not to all that would have to be sorted.
    some = query.order_by(*_by(key, answers.c.id, descending=descending)).limit(limit + 1).subquery()
    reviews = sa.select(sa.func.count()).where(feedback.c.answer_id == answers.c.id).scalar_subquery()
    query = (
        sa.select(
            answers,
            some.c.key,
            sa.func.substr(bodies.c.question, 1, _SNIPPET).label("question"),
            sa.func.substr(bodies.c.answer, 1, _SNIPPET).label("answer"),
            reviews.label("reviews"),
        )
        .join(some, some.c.id == answers.c.id)
        .join(bodies, bodies.c.answer_id == answers.c.id)
        .order_by(*_by(some.c.key, some.c.id, descending=descending))
    )
    rows = connection.execute(query).mappings().all()
    more = len(rows) > limit
    shown = rows[:limit]
    return Page(
        lines=tuple(line(dict(row)) for row in shown),
        after=_place(shown[-1]["key"], shown[-1]["id"]) if more else None,
    )


def hand_out(
    database: Database,
    wanted: Filter,
    queue: Queue,
    *,
    reviewer: str,
    limit: int,
    seconds: float,
    reviewers: int,
    without: Collection[str],
) -> list[str]:
    """The ids of the next answers for a reviewer, reserved for so many seconds; none of those in ``without``.

    None that the reviewer has reviewed, or that as many others as ``reviewers`` have reviewed or reserved.
    """
    if queue is Queue.RANDOM and not wanted.fair:
        raise ConfigurationError(
            "the random queue draws a fair sample, so its filter may ask for times, tags and a detector, and "
            "for nothing that depends on the outcome"
        )
    key, descending = _order(queue)
    members = [*wanted.conditions(), *_members(queue)]
    skipped = [answers.c.id.not_in(list(without))] if without else []
    with database.writing() as connection:
        database.one_at_a_time(connection)
        now = time.time_ns() // 1000
        connection.execute(sa.delete(reservations).where(reservations.c.until <= now))
        found = connection.execute(
            sa.select(answers.c.id, answers.c.chance)
            .where(*members, *_open_to(reviewer, reviewers, now), *skipped)
            .order_by(*_by(key, answers.c.id, descending=descending))
            .limit(limit)
        ).all()
        if found:
            insert, until = database.insert(reservations), now + round(seconds * 1e6)
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=["answer_id", "reviewer"], set_={"until": insert.excluded.until}
                ),
                [{"answer_id": row.id, "reviewer": reviewer, "until": until} for row in found],
            )
        drawn = {Queue.RANDOM: answers.c.drawn, Queue.FLAGGED: answers.c.drawn_flagged}.get(queue)
        if found and drawn is not None and wanted.fair and not wanted.narrow:
            fresh = [*members, answers.c.chance <= found[-1].chance, drawn.is_(None)]
            connection.execute(sa.update(answers).where(*fresh).values({drawn.name: now}))
    return [row.id for row in found]


def left(
    connection: sa.Connection, wanted: Filter, queue: Queue, *, reviewer: str, reviewers: int, most: int
) -> int:
    """How many answers of a queue are left for a reviewer; beyond ``most`` they are not counted."""
    now = time.time_ns() // 1000
    some = (
        sa.select(answers.c.id)
        .where(*wanted.conditions(), *_members(queue), *_open_to(reviewer, reviewers, now))
        .limit(most)
        .subquery()
    )
    return connection.execute(sa.select(sa.func.count()).select_from(some)).scalar_one()


def _open_to(reviewer: str, reviewers: int, now: int) -> Iterator[sa.ColumnElement[bool]]:
    """What makes an answer one that a reviewer may be given, at a time in microseconds."""
    own, said, held = feedback.alias(), feedback.alias(), reservations.alias()
    yield ~sa.exists().where(own.c.answer_id == answers.c.id, own.c.reviewer == reviewer)
    given = sa.select(sa.func.count()).where(said.c.answer_id == answers.c.id).scalar_subquery()
    kept = (
        sa.select(sa.func.count())
        .where(held.c.answer_id == answers.c.id, held.c.reviewer != reviewer, held.c.until > now)
        .scalar_subquery()
    )
    yield given + kept < reviewers


def _order(queue: Queue) -> tuple[sa.ColumnElement[Any], bool]:
    """What a queue is ordered by, and whether from the highest on."""
    if queue is Queue.UNCERTAIN:
        return answers.c.margin, False
    if queue in {Queue.RANDOM, Queue.FLAGGED}:
        return answers.c.chance, False
    return answers.c.at, True


def _by(*columns: sa.ColumnElement[Any], descending: bool) -> Iterator[sa.ColumnElement[Any]]:
    return (column.desc() if descending else column.asc() for column in columns)


def _members(queue: Queue) -> list[sa.ColumnElement[bool]]:
    if queue is Queue.UNCERTAIN:
        return [answers.c.margin.is_not(None)]
    if queue is Queue.FLAGGED:
        return [FLAGGED]
    if queue is Queue.RANDOM:
        return [SAMPLED]
    if queue is Queue.DISAGREEING:
        # Read off an index alone, of however many twins.
        flag = sa.cast(answers.c.hallucinated, sa.Integer)
        both = (
            sa.select(answers.c.twin)
            .where(answers.c.twin.is_not(None))
            .group_by(answers.c.twin)
            .having(sa.func.min(flag) < sa.func.max(flag))
        )
        # One detector may say both by itself, of what stood beside other passages.
        by = sa.func.count(sa.func.coalesce(answers.c.fingerprint, "").distinct())
        several = (
            sa.select(answers.c.twin).where(answers.c.twin.in_(both)).group_by(answers.c.twin).having(by > 1)
        )
        return [answers.c.hallucinated.is_not(None), answers.c.twin.in_(several)]
    return []


def _place(key: Any, answer: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([key, answer]).encode()).decode()


def _read_place(text: str) -> tuple[Any, str]:
    try:
        place = json.loads(base64.urlsafe_b64decode(text.encode()))
    except (ValueError, RecursionError):
        place = None
    if isinstance(place, list) and [*map(type, place)] in ([int, str], [float, str]):
        key, answer = place
        if abs(key) < _FARTHEST:
            return key, answer
    raise InputError(f"no page begins after {text!r:.60}: give the ``after`` of an earlier page")
