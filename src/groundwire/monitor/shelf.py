"""Kept answers, read back whole and in order, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlalchemy as sa

from groundwire.monitor import reviews
from groundwire.monitor.answer import Kept, kept
from groundwire.monitor.database import Database
from groundwire.monitor.filters import Filter
from groundwire.monitor.reviews import Feedback
from groundwire.monitor.schema import answers, bodies, feedback, tags

_AT_ONCE = 200


class Shelf:
    """Reads answers. Each batch is a transaction of its own, so that no reader keeps a writer waiting."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, key: str) -> str | None:
        """The id of the latest answer with this id, outcome's id or run's id; None if there is none."""
        c = answers.c
        rank = sa.case((c.id == key, 0), (c.outcome_id == key, 1), else_=2)
        query = sa.select(c.id).where((c.id == key) | (c.outcome_id == key) | (c.run_id == key))
        with self._database.reading() as connection:
            return connection.execute(query.order_by(rank, c.at.desc()).limit(1)).scalar()

    def rows(self, wanted: Filter) -> Iterator[Kept]:
        """Every answer that meets the filter, oldest first."""
        last = ""
        while True:
            with self._database.reading() as connection:
                query = sa.select(answers.c.id).where(answers.c.id > last, *wanted.conditions())
                ids = list(connection.execute(query.order_by(answers.c.id).limit(_AT_ONCE)).scalars())
            if not ids:
                return
            yield from self.whole(ids)
            last = ids[-1]

    def whole(self, ids: Sequence[str]) -> Iterator[Kept]:
        """The answers with these ids, in their order; one that was deleted meanwhile is left out."""
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            with self._database.reading() as connection:
                heads, texts, named = (
                    connection.execute(sa.select(table).where(column.in_(some))).mappings().all()
                    for table, column in (
                        (answers, answers.c.id),
                        (bodies, bodies.c.answer_id),
                        (tags, tags.c.answer_id),
                    )
                )
            head = {one["id"]: one for one in heads}
            text = {one["answer_id"]: one for one in texts}
            own: dict[str, list[tuple[str, str]]] = {key: [] for key in some}
            for tag in named:
                own[tag["answer_id"]].append((tag["name"], tag["value"]))
            for key in some:
                if key in head and key in text:
                    yield kept(dict(head[key]), dict(text[key]), tuple(sorted(own[key])))

    def with_feedback(self, wanted: Filter) -> Iterator[tuple[Kept, tuple[Feedback, ...]]]:
        """Every answer that meets the filter, with what was said about it."""
        group: list[Kept] = []
        for one in self.rows(wanted):
            group.append(one)
            if len(group) == _AT_ONCE:
                yield from self._joined(group)
                group = []
        yield from self._joined(group)

    def _joined(self, group: Sequence[Kept]) -> Iterator[tuple[Kept, tuple[Feedback, ...]]]:
        if not group:
            return
        query = sa.select(feedback).where(feedback.c.answer_id.in_([one.id for one in group]))
        said: dict[str, list[Feedback]] = {one.id: [] for one in group}
        with self._database.reading() as connection:
            for found in connection.execute(query.order_by(feedback.c.at)).mappings():
                said[found["answer_id"]].append(reviews.read(dict(found)))
        for one in group:
            yield one, tuple(said[one.id])
