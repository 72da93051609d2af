"""What people do with kept answers: take the next, say what they think, and decide together."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

import sqlalchemy as sa

from groundwire.core.claim import Kind
from groundwire.core.errors import InputError
from groundwire.core.redaction import Redact, masked
from groundwire.core.span import Span
from groundwire.monitor import labels, queues, reviews
from groundwire.monitor.answer import LONGEST_TAG_NAME, Ids, Kept, kept_text, tag
from groundwire.monitor.filters import Filter
from groundwire.monitor.labels import Labels
from groundwire.monitor.queues import Queue
from groundwire.monitor.reading import ALL, Reading, count_of, queue_of, seconds_of
from groundwire.monitor.retention import shrink
from groundwire.monitor.reviews import Feedback, Opinion
from groundwire.monitor.schema import feedback, reservations, tags


class Reviewing(Reading):
    """The part of a monitor that reviewers use."""

    _redact: Redact | None
    _ids: Ids

    def next(
        self,
        reviewer: str,
        *,
        queue: Queue | str = Queue.RANDOM,
        limit: int = 1,
        wanted: Filter = ALL,
        reserve: float = 600.0,
        reviewers: int = 1,
        without: Collection[str] = (),
    ) -> list[Kept]:
        """The next answers for a reviewer, reserved for so many seconds.

        Nobody is given what they have reviewed, nor what ``reviewers`` others have reviewed or reserved. The
        random queue takes filters of times, tags and detectors alone, for what it hands out is a fair sample.
        ``without`` are ids of answers to pass over, such as those that the reviewer puts off.
        """
        ids = queues.hand_out(
            self._database,
            wanted,
            queue_of(queue),
            reviewer=reviews.reviewer_of(reviewer),
            limit=count_of("limit", limit),
            seconds=seconds_of("reserve", reserve),
            reviewers=count_of("reviewers", reviewers),
            without=[without] if isinstance(without, str) else without,
        )
        return list(self._shelf.whole(ids))

    def left(
        self,
        reviewer: str,
        *,
        queue: Queue | str = Queue.RANDOM,
        wanted: Filter = ALL,
        reviewers: int = 1,
        most: int = 10_000,
    ) -> int:
        """How many answers ``next`` could still give a reviewer; ``most`` where they are as many or more."""
        with self._database.reading() as connection:
            return queues.left(
                connection,
                wanted,
                queue_of(queue),
                reviewer=reviewer,
                reviewers=count_of("reviewers", reviewers),
                most=count_of("most", most),
            )

    def release(self, key: str | UUID, reviewer: str) -> None:
        """Let others have an answer that is reserved for this reviewer."""
        own = _reservation(self._find(key), reviewer)
        with self._database.writing() as connection:
            connection.execute(own)

    def review(
        self,
        key: str | UUID,
        opinion: Opinion | str,
        *,
        reviewer: str,
        hallucinated: bool | None = None,
        spans: Iterable[Span | tuple[int, int]] | None = None,
        kind: Kind | str | None = None,
        note: str | None = "",
        source: str = "api",
    ) -> Feedback:
        """Keep what a reviewer thinks of an outcome, in place of what the same one thought before.

        ``key`` is the answer's id, its outcome's, or its run's. To agree or disagree with a verdict says
        whether the answer is hallucinated; of an abstention only ``hallucinated`` does. ``spans`` are the
        unsupported words as they should be. Raises InputError, naming what is wrong.
        """
        known = self.get(key)
        values = reviews.checked(
            opinion,
            known.outcome.hallucinated,
            reviewer=reviewer,
            hallucinated=hallucinated,
            kind=kind,
            spans=spans,
            source=source,
            answer=None if known.interaction is None else known.interaction.answer,
        )
        values |= {
            "answer_id": known.id,
            "at": self._ids()[1],
            "note": _note(note, self._redact),
        }
        insert = self._database.insert(feedback)
        changed = {name: insert.excluded[name] for name in values if name not in {"answer_id", "reviewer"}}
        with self._database.writing() as connection:
            connection.execute(
                insert.on_conflict_do_update(index_elements=["answer_id", "reviewer"], set_=changed), values
            )
            connection.execute(_reservation(known.id, reviewer))
        return reviews.read(values)

    def retract(self, key: str | UUID, reviewer: str) -> bool:
        """Take back what a reviewer said of an answer; whether anything was."""
        own = (feedback.c.answer_id == self._find(key)) & (feedback.c.reviewer == reviewer)
        with self._database.writing() as connection:
            return bool(connection.execute(sa.delete(feedback).where(own)).rowcount)

    def forget_reviewer(self, reviewer: str) -> int:
        """Delete all that somebody said of answers, and what is reserved for them; how many reviews went."""
        with self._database.writing() as connection:
            connection.execute(sa.delete(reservations).where(reservations.c.reviewer == reviewer))
            gone = connection.execute(sa.delete(feedback).where(feedback.c.reviewer == reviewer)).rowcount
        shrink(self._database)
        return gone

    def labels(self, wanted: Filter = ALL, *, alike: bool = False) -> Labels:
        """Every answer on which reviewers decided, and for how many of production it stands.

        With ``alike`` all that have a weight weigh 1: what only the flagged queue drew has none.
        """
        reviewed = list(self.reviewed(wanted))
        with self._database.reading() as connection:
            return labels.labels(connection, wanted, reviewed, alike=alike)

    def tag(self, key: str | UUID, name: str, value: object) -> None:
        """Put a further tag on a kept answer. Raises InputError if it is not kept, or for no name."""
        if not 0 < len(name) <= LONGEST_TAG_NAME:
            raise InputError(f"a tag's name has 1 to {LONGEST_TAG_NAME} characters, not {len(name)}")
        name, text = tag(name, value)
        row = {"answer_id": self._find(key), "name": name, "value": text}
        with self._database.writing() as connection:
            connection.execute(self._database.insert(tags).on_conflict_do_nothing(), row)


def _note(note: str | None, redact: Redact | None) -> str:
    """A note as it is kept; one that nobody wrote, as a form of an application may have it, is empty."""
    if note is not None and not isinstance(note, str):
        raise InputError(f"note must be a text, not {note!r:.60}")
    return kept_text(note if redact is None else masked(redact, note)) if note else ""


def _reservation(answer_id: str, reviewer: str) -> sa.Delete:
    own = (reservations.c.answer_id == answer_id) & (reservations.c.reviewer == reviewer)
    return sa.delete(reservations).where(own)
