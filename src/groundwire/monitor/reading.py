"""What a store can be asked: single answers, lists of them, figures, and tables for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TextIO
from uuid import UUID

import sqlalchemy as sa

from groundwire.core.errors import InputError
from groundwire.monitor import comparison, export, figures, patterns, queues, reviews, thresholds
from groundwire.monitor.answer import Kept
from groundwire.monitor.comparison import Comparison
from groundwire.monitor.database import Database
from groundwire.monitor.export import Form
from groundwire.monitor.figures import Figures, Group
from groundwire.monitor.filters import Filter
from groundwire.monitor.patterns import Embed, Pattern
from groundwire.monitor.queues import Page, Queue
from groundwire.monitor.reviews import Agreement, Feedback
from groundwire.monitor.schema import answers, feedback
from groundwire.monitor.shelf import Shelf
from groundwire.monitor.thresholds import Reviewed
from groundwire.monitor.writer import Writer

ALL = Filter()
_LONGEST = 1e9  # seconds
_FARTHEST = 2**62  # where a database begins to count no further


class Reading:
    """The part of a monitor that reads. Its filter, where one is taken, says which answers are meant."""

    _database: Database
    _shelf: Shelf
    _writer: Writer
    _timeout: float

    def get(self, key: str | UUID) -> Kept:
        """The answer with this id, outcome's id or run's id. Raises InputError if none is kept."""
        for kept in self._shelf.whole([self._find(key)]):
            return kept
        raise _not_kept(key)  # deleted meanwhile

    def rows(self, wanted: Filter = ALL) -> Iterator[Kept]:
        """Every kept answer that meets the filter, in order, in bounded memory."""
        return self._shelf.rows(wanted)

    def page(
        self,
        wanted: Filter = ALL,
        *,
        queue: Queue | str = Queue.NEWEST,
        limit: int = 50,
        after: str | None = None,
    ) -> Page:
        """Some kept answers in brief, in the order of a queue; ``after`` is that of the page before."""
        with self._database.reading() as connection:
            return queues.page(
                connection, wanted, queue_of(queue), limit=count_of("limit", limit), after=after
            )

    def count(self, wanted: Filter = ALL) -> int:
        """How many kept answers meet the filter."""
        with self._database.reading() as connection:
            query = sa.select(sa.func.count()).select_from(answers).where(*wanted.conditions())
            return connection.execute(query).scalar_one()

    def tags(self) -> dict[str, int]:
        """Every name of a tag, and how many values it has."""
        with self._database.reading() as connection:
            return figures.tag_names(connection)

    def feedback(
        self, key: str | UUID, *, seen_by: str | None = None, blind: bool = False
    ) -> tuple[Feedback, ...]:
        """What was said about one answer, oldest first.

        ``blind`` shows ``seen_by`` what others said only once they have said something themselves.
        """
        query = sa.select(feedback).where(feedback.c.answer_id == self._find(key))
        with self._database.reading() as connection:
            found = connection.execute(query.order_by(feedback.c.at)).mappings()
            said = tuple(reviews.read(dict(one)) for one in found)
        hidden = blind and all(one.reviewer != seen_by for one in said)
        return () if hidden else said

    def reviewed(self, wanted: Filter = ALL) -> Iterator[tuple[Kept, tuple[Feedback, ...]]]:
        """Every reviewed answer with what was said about it, in order, in bounded memory."""
        if wanted.reviewed is not False:
            # The database leaves the others out: of a hundred thousand answers few are reviewed.
            yield from self._shelf.with_feedback(replace(wanted, reviewed=True))

    # -- figures -----------------------------------------------------------------------------------------

    def figures(self, wanted: Filter = ALL) -> Figures:
        """How often answers hallucinate, at what cost, and how right the detector is."""
        with self._database.reading() as connection:
            return figures.figures(connection, wanted)

    def over_time(self, wanted: Filter = ALL, *, every: str = "day") -> tuple[Group, ...]:
        """The figures of each "hour", "day" or "week" (UTC) that has an answer."""
        with self._database.reading() as connection:
            return figures.over_time(connection, wanted, every)

    def by(self, tag: str, wanted: Filter = ALL) -> tuple[Group, ...]:
        """The figures of the 100 most frequent values of a tag, or of "detector", "kind" or "action"."""
        with self._database.reading() as connection:
            return figures.by_tag(connection, wanted, tag)

    def agreement(self, wanted: Filter = ALL) -> tuple[Agreement, ...]:
        """How each two reviewers agree."""
        with self._database.reading() as connection:
            return reviews.agreements(connection, wanted)

    def thresholds(self, wanted: Filter = ALL, *, most: int = 5000) -> tuple[Reviewed, ...]:
        """What reviewers decided about each detector's scores, from which any threshold can be reckoned.

        At most the ``most`` latest reviewed answers; the detector with most of them first.
        """
        with self._database.reading() as connection:
            return thresholds.thresholds(connection, wanted, count_of("most", most))

    def patterns(self, wanted: Filter = ALL, *, embed: Embed | None = None) -> tuple[Pattern, ...]:
        """Where the detector errs more often than elsewhere, by reviewed answers; the surest first.

        ``embed`` makes vectors of texts, for topics; words are counted where it is left out.
        """
        return patterns.patterns(self.reviewed(wanted), embed)

    def compare(self, before: Filter, after: Filter) -> Comparison:
        """Two sets of answers on the questions that both answered, such as before and after a change."""
        with self._database.reading() as connection:
            return comparison.compare(connection, before, after)

    # -- leaving -----------------------------------------------------------------------------------------

    def export(self, stream: TextIO, wanted: Filter = ALL, *, form: Form | str = Form.JSONL) -> int:
        """Write answers with their feedback as "csv" or "jsonl"; how many there were."""
        return export.write(self._shelf.with_feedback(wanted), stream, form_of(form))

    def exported(self, wanted: Filter = ALL, *, form: Form | str = Form.JSONL) -> Iterator[str]:
        """What ``export`` writes, piece by piece as it is read."""
        return export.pieces(self._shelf.with_feedback(wanted), form_of(form))

    def export_one(self, stream: TextIO, key: str | UUID) -> None:
        """Write one answer with its feedback, as a line of "jsonl"."""
        one = self.get(key)
        export.write([(one, self.feedback(one.id))], stream, Form.JSONL)

    def _find(self, key: str | UUID) -> str:
        if not isinstance(key, str | UUID):  # None would be found: it is what an answer without a run has
            raise InputError(
                f"an answer is named by its id, its outcome's or its run's, not by {key!r:.80}: what was not "
                "sampled, or dropped, has none"
            )
        found = self._shelf.find(str(key))
        if found is None:  # it may not be written yet
            self._writer.flush(self._timeout)
            found = self._shelf.find(str(key))
        if found is None:
            raise _not_kept(key)
        return found


def _not_kept(key: str | UUID) -> InputError:
    return InputError(
        f"no answer with the id {str(key)!r:.80} is kept: sampling may have left it out, or it was deleted"
    )


def queue_of(queue: Queue | str) -> Queue:
    """The queue of that name. Raises InputError for another."""
    if queue not in list(Queue):
        raise InputError(f"queue must be one of {', '.join(repr(str(q)) for q in Queue)}, not {queue!r}")
    return Queue(queue)


def form_of(form: Form | str) -> Form:
    """The form of that name. Raises InputError for another."""
    if form not in list(Form):
        raise InputError(f"form must be one of {', '.join(repr(str(one)) for one in Form)}, not {form!r:.60}")
    return Form(form)


def count_of(name: str, value: int) -> int:
    """The number, from 1 on. Raises InputError for anything else.

    One that is too large for a database, such as ``sys.maxsize`` and one more, is as good as any above.
    """
    if not isinstance(value, int) or value < 1:
        raise InputError(f"{name} must be a whole number from 1 on, not {value!r}")
    return min(value, _FARTHEST)


def seconds_of(name: str, value: float) -> float:
    """A time to wait. Raises InputError for what is none, or is longer than somebody could."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _LONGEST:
        raise InputError(f"{name} must be a number of seconds above 0 and below a billion, not {value!r:.60}")
    return value
