"""The monitor: what is given to handlers, wrappers and checkers, and what answers questions afterwards.

It only joins the parts; each of them is a module of its own.
"""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO
from uuid import UUID

import sqlalchemy as sa

from groundwire.core.claim import Kind
from groundwire.core.errors import ConfigurationError, InputError
from groundwire.core.interaction import Interaction
from groundwire.core.redaction import Redact, masked
from groundwire.core.span import Span
from groundwire.core.verdict import Outcome
from groundwire.monitor import (
    comparison,
    export,
    figures,
    history,
    labels,
    patterns,
    queues,
    reviews,
    thresholds,
)
from groundwire.monitor.alerts import Alert, Alerts, log_alert
from groundwire.monitor.answer import LONGEST_TAG_NAME, Heard, Ids, Kept, Row, moment, row, tag_text
from groundwire.monitor.comparison import Comparison
from groundwire.monitor.database import Database, Durability, StoreError
from groundwire.monitor.drift import Alarm, Drift, Standing, Watch, standing
from groundwire.monitor.export import Form
from groundwire.monitor.figures import Figures, Group
from groundwire.monitor.filters import Filter
from groundwire.monitor.labels import Labels
from groundwire.monitor.patterns import Embed, Pattern
from groundwire.monitor.queues import Page, Queue
from groundwire.monitor.retention import Retention, forget, prune
from groundwire.monitor.reviews import Agreement, Feedback, Opinion
from groundwire.monitor.sampling import Sampling, Why
from groundwire.monitor.schema import answers, feedback, reservations, tags
from groundwire.monitor.shelf import Shelf
from groundwire.monitor.thresholds import Reviewed
from groundwire.monitor.writer import Stats, Writer

_LOG = logging.getLogger(__name__)
DEFAULT_URL = "sqlite:///groundwire.db"
_ALL = Filter()
_DRAFT = "retry"  # what is done about an answer that nobody is given
_PRUNE_EVERY = 300.0  # seconds


class Monitor:
    """Keeps outcomes, and tells how often answers hallucinate, where, and how right the detector is.

    ``url`` is a SQLite file's or a PostgreSQL database's. ``tags`` are put on everything, such as an
    application's name; plain values of an interaction's metadata are tags as well. ``sampling`` says what is
    kept, ``retention`` for how long, and ``redact`` masks texts before they are stored. With ``durable``
    every outcome is committed before whoever hands it over goes on, which SQLite does in a fraction of a
    millisecond; otherwise a thread writes them, at most ``capacity`` wait, and what is beyond that is dropped
    and counted. While the database is away, up to ``spool_megabytes`` wait in the folder ``spool``. ``drift``
    is watched for in what this process keeps, and each alarm goes to every one of ``alerts``; None watches
    for nothing. Raises ConfigurationError, naming what can't work.

    >>> monitor = Monitor("sqlite:///groundwire.db", tags={"application": "handbook"})
    >>> checker = gw.Checker(monitor=monitor)
    >>> outcome = checker.check(gw.Interaction(contexts="A bag costs 25 EUR.", answer="A bag costs 75 EUR."))
    >>> monitor.flush()
    True
    >>> monitor.figures().detection.count
    1
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        tags: Mapping[str, str] | None = None,
        sampling: Sampling | None = None,
        retention: Retention | None = None,
        redact: Redact | None = None,
        durable: bool = False,
        durability: Durability | str = Durability.PROCESS,
        capacity: int = 10_000,
        spool: str | Path | None = None,
        spool_megabytes: float = 100,
        timeout: float = 10.0,
        drift: Drift | None = Drift(),  # noqa: B008 - frozen
        alerts: Iterable[Alert] = (log_alert,),
    ) -> None:
        _require(
            {"sampling": (sampling, Sampling), "retention": (retention, Retention), "drift": (drift, Drift)},
            tags=tags,
            redact=redact,
            durability=durability,
            numbers={"capacity": capacity, "timeout": timeout, "spool_megabytes": spool_megabytes},
        )
        self._database = Database(url, durability=Durability(durability), busy=timeout)
        self._shelf = Shelf(self._database)
        self._tags = {str(name): tag_text(value) for name, value in (tags or {}).items()}
        self._sampling = sampling or Sampling()
        self._retention = retention
        self._pruned = time.monotonic()
        self._redact = redact
        self._durable = durable
        self._timeout = timeout
        self._ids = Ids()
        self._random = random.SystemRandom()  # a forked child must not repeat its parent's numbers
        self._drift = drift
        self._watch: Watch | None = None
        self._alerts = Alerts(alerts)
        self._writer = Writer(
            self._database,
            lambda heard: row(heard, self._redact, self._tags),
            self._written,
            capacity=capacity,
            spool=Path(spool) if spool is not None else self._beside(),
            spool_bytes=round(spool_megabytes * 1e6),
        )
        self._open()

    def __repr__(self) -> str:
        return f"Monitor({self._database.name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave once everything is written."""
        self.close()

    # -- keeping -----------------------------------------------------------------------------------------

    def keep(
        self,
        interaction: Interaction | None,
        outcome: Outcome,
        *,
        run_id: UUID | str | None = None,
        action: str | None = None,
        attempt: int = 1,
        durable: bool | None = None,
    ) -> str | None:
        """Keep one outcome; its id, or None when it is not sampled, or dropped.

        Handlers, wrappers and checkers that are given this monitor call it. ``run_id`` is the host's own run,
        ``action`` what was done about the answer, and ``attempt`` counts the answers to one question.
        ``durable`` overrides the monitor's own; then StoreError is raised for what was not committed in time.
        """
        chance = self._random.random()
        why = self._sampling.why(chance, interaction, outcome)
        if why is None:
            return None
        key, at = self._ids()
        heard = Heard(
            id=key,
            at=at,
            interaction=interaction,
            outcome=outcome,
            why=why,
            chance=chance,
            run_id=None if run_id is None else str(run_id),
            action=None if action is None else str(action),
            attempt=attempt,
            draft=action == _DRAFT,
        )
        if self._durable if durable is None else durable:
            self._writer.put_and_wait(heard, self._timeout)
            return key
        return key if self._writer.put(heard) else None

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all is committed, and alarms are told. False when time ran out."""
        deadline = None if timeout is None else time.monotonic() + timeout
        written = self._writer.flush(timeout)
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        return self._alerts.flush(left) and written

    def close(self, timeout: float | None = 10.0) -> bool:
        """Keep no more, and flush; what is not written in time is put on disk for the next process."""
        done = self._writer.close(timeout)
        done = self._alerts.flush(timeout) and done
        self._database.close()
        return done

    @property
    def stats(self) -> Stats:
        """How many outcomes wait in memory and on disk, and were written, dropped, and refused."""
        return self._writer.stats

    # -- reading -----------------------------------------------------------------------------------------

    def get(self, key: str) -> Kept:
        """The answer with this id, outcome's id or run's id. Raises InputError if none is kept."""
        return next(self._shelf.whole([self._find(key)]))

    def rows(self, wanted: Filter = _ALL) -> Iterator[Kept]:
        """Every kept answer that meets the filter, in order, in bounded memory."""
        return self._shelf.rows(wanted)

    def page(
        self,
        wanted: Filter = _ALL,
        *,
        queue: Queue | str = Queue.NEWEST,
        limit: int = 50,
        after: str | None = None,
    ) -> Page:
        """Some kept answers in brief, in the order of a queue; ``after`` is that of the page before."""
        with self._database.reading() as connection:
            return queues.page(connection, wanted, _queue(queue), limit=_count("limit", limit), after=after)

    def count(self, wanted: Filter = _ALL) -> int:
        """How many kept answers meet the filter."""
        with self._database.reading() as connection:
            query = sa.select(sa.func.count()).select_from(answers).where(*wanted.conditions())
            return connection.execute(query).scalar_one()

    def tags(self) -> dict[str, int]:
        """Every name of a tag, and how many values it has."""
        with self._database.reading() as connection:
            return figures.tag_names(connection)

    # -- reviewing ---------------------------------------------------------------------------------------

    def next(
        self,
        reviewer: str,
        *,
        queue: Queue | str = Queue.RANDOM,
        limit: int = 1,
        wanted: Filter = _ALL,
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
            _queue(queue),
            reviewer=reviewer,
            limit=_count("limit", limit),
            seconds=reserve,
            reviewers=_count("reviewers", reviewers),
            without=without,
        )
        return list(self._shelf.whole(ids))

    def left(
        self,
        reviewer: str,
        *,
        queue: Queue | str = Queue.RANDOM,
        wanted: Filter = _ALL,
        reviewers: int = 1,
        most: int = 10_000,
    ) -> int:
        """How many answers ``next`` could still give a reviewer; ``most`` where they are as many or more."""
        with self._database.reading() as connection:
            return queues.left(
                connection,
                wanted,
                _queue(queue),
                reviewer=reviewer,
                reviewers=_count("reviewers", reviewers),
                most=_count("most", most),
            )

    def release(self, key: str, reviewer: str) -> None:
        """Let others have an answer that is reserved for this reviewer."""
        own = _reservation(self._find(key), reviewer)
        with self._database.writing() as connection:
            connection.execute(own)

    def review(
        self,
        key: str,
        opinion: Opinion | str,
        *,
        reviewer: str,
        hallucinated: bool | None = None,
        spans: Iterable[Span | tuple[int, int]] | None = None,
        kind: Kind | str | None = None,
        note: str = "",
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
            answer=None if known.interaction is None else known.interaction.answer,
        )
        values |= {
            "answer_id": known.id,
            "at": self._ids()[1],
            "note": note if self._redact is None else masked(self._redact, note),
            "source": source,
        }
        insert = self._database.insert(feedback)
        changed = {name: insert.excluded[name] for name in values if name not in {"answer_id", "reviewer"}}
        with self._database.writing() as connection:
            connection.execute(
                insert.on_conflict_do_update(index_elements=["answer_id", "reviewer"], set_=changed), values
            )
            connection.execute(_reservation(known.id, reviewer))
        return reviews.read(values)

    def retract(self, key: str, reviewer: str) -> bool:
        """Take back what a reviewer said of an answer; whether anything was."""
        own = (feedback.c.answer_id == self._find(key)) & (feedback.c.reviewer == reviewer)
        with self._database.writing() as connection:
            return bool(connection.execute(sa.delete(feedback).where(own)).rowcount)

    def feedback(self, key: str, *, seen_by: str | None = None, blind: bool = False) -> tuple[Feedback, ...]:
        """What was said about one answer, oldest first.

        ``blind`` shows ``seen_by`` what others said only once they have said something themselves.
        """
        with self._database.reading() as connection:
            query = sa.select(feedback).where(feedback.c.answer_id == self._find(key))
            found = connection.execute(query.order_by(feedback.c.at)).mappings()
            said = tuple(reviews.read(dict(one)) for one in found)
        hidden = blind and all(one.reviewer != seen_by for one in said)
        return () if hidden else said

    def reviewed(self, wanted: Filter = _ALL) -> Iterator[tuple[Kept, tuple[Feedback, ...]]]:
        """Every reviewed answer with what was said about it, in order, in bounded memory."""
        if wanted.reviewed is not False:
            # The database leaves the others out: of a hundred thousand answers few are reviewed.
            yield from self._shelf.with_feedback(replace(wanted, reviewed=True))

    def labels(self, wanted: Filter = _ALL, *, alike: bool = False) -> Labels:
        """Every answer on which reviewers decided, and for how many of production it stands.

        With ``alike`` all that have a weight weigh 1: what only the flagged queue drew has none.
        """
        reviewed = list(self.reviewed(wanted))
        with self._database.reading() as connection:
            return labels.labels(connection, wanted, reviewed, alike=alike)

    def tag(self, key: str, name: str, value: object) -> None:
        """Put a further tag on a kept answer. Raises InputError if it is not kept, or for no name."""
        if not 0 < len(name) <= LONGEST_TAG_NAME:
            raise InputError(f"a tag's name has 1 to {LONGEST_TAG_NAME} characters, not {len(name)}")
        row = {"answer_id": self._find(key), "name": name, "value": tag_text(value)}
        with self._database.writing() as connection:
            connection.execute(self._database.insert(tags).on_conflict_do_nothing(), row)

    def agreement(self, wanted: Filter = _ALL) -> tuple[Agreement, ...]:
        """How each two reviewers agree."""
        with self._database.reading() as connection:
            return reviews.agreements(connection, wanted)

    # -- figures -----------------------------------------------------------------------------------------

    def figures(self, wanted: Filter = _ALL) -> Figures:
        """How often answers hallucinate, at what cost, and how right the detector is."""
        with self._database.reading() as connection:
            return figures.figures(connection, wanted)

    def over_time(self, wanted: Filter = _ALL, *, every: str = "day") -> tuple[Group, ...]:
        """The figures of each "hour", "day" or "week" (UTC) that has an answer."""
        with self._database.reading() as connection:
            return figures.over_time(connection, wanted, every)

    def by(self, tag: str, wanted: Filter = _ALL) -> tuple[Group, ...]:
        """The figures of each value of a tag, or of "detector", "kind" or "action"."""
        with self._database.reading() as connection:
            return figures.by_tag(connection, wanted, tag)

    def patterns(self, wanted: Filter = _ALL, *, embed: Embed | None = None) -> tuple[Pattern, ...]:
        """Where the detector errs more often than elsewhere, by reviewed answers; the surest first.

        ``embed`` makes vectors of texts, for topics; words are counted where it is left out.
        """
        return patterns.patterns(self.reviewed(wanted), embed)

    def compare(self, before: Filter, after: Filter) -> Comparison:
        """Two sets of answers on the questions that both answered, such as before and after a change."""
        with self._database.reading() as connection:
            return comparison.compare(connection, before, after)

    def drift(self, wanted: Filter = _ALL, settings: Drift | None = None) -> tuple[list[Alarm], bool]:
        """Every alarm since the reference began, and whether there are enough answers for a reference."""
        found = self.standing(wanted, settings)
        return list(found.alarms), found.has_reference

    def standing(
        self, wanted: Filter = _ALL, settings: Drift | None = None, *, last: int | None = None
    ) -> Standing:
        """The latest answers beside the first ones, with every alarm since the reference began.

        ``last`` looks for alarms among so many of the latest answers alone.
        """
        drift = settings or self._drift or Drift()
        if last is not None:
            last = max(_count("last", last), drift.window)
        return standing(drift, *history.told(self._database, wanted, drift, last))

    def thresholds(self, wanted: Filter = _ALL, *, most: int = 5000) -> tuple[Reviewed, ...]:
        """What reviewers decided about each detector's scores, from which any threshold can be reckoned.

        At most the ``most`` latest reviewed answers; the detector with most of them first.
        """
        with self._database.reading() as connection:
            return thresholds.thresholds(connection, wanted, _count("most", most))

    def rebase(self) -> None:
        """Take the answers from now on for the reference that drift is measured from."""
        history.rebase(self._database, self._ids()[1])
        self._watch = None

    # -- leaving -----------------------------------------------------------------------------------------

    def export(self, stream: TextIO, wanted: Filter = _ALL, *, form: Form | str = Form.JSONL) -> int:
        """Write answers with their feedback as "csv" or "jsonl"; how many there were."""
        return export.write(self._shelf.with_feedback(wanted), stream, Form(form))

    def exported(self, wanted: Filter = _ALL, *, form: Form | str = Form.JSONL) -> Iterator[str]:
        """What ``export`` writes, piece by piece as it is read."""
        return export.pieces(self._shelf.with_feedback(wanted), Form(form))

    def export_one(self, stream: TextIO, key: str) -> None:
        """Write one answer with its feedback, as a line of "jsonl"."""
        one = self.get(key)
        export.write([(one, self.feedback(one.id))], stream, Form.JSONL)

    def prune(self, retention: Retention | None = None) -> int:
        """Delete what a retention, the monitor's own if left out, does not allow; how many answers went."""
        allowed = retention or self._retention
        return 0 if allowed is None else prune(self._database, allowed)

    def forget(self, name: str, value: object) -> int:
        """Delete a person's data: every answer with this tag, and its feedback; how many answers went.

        What still waits to be written is written first. Raises StoreError if that takes too long.
        """
        if not self._writer.flush(self._timeout):
            raise StoreError(
                "some outcomes wait to be written, and may be of whom is to be forgotten: try again"
            )
        return forget(self._database, name, value)

    # -- inside ------------------------------------------------------------------------------------------

    def _open(self) -> None:
        try:
            with self._database.reading():
                pass
        except (StoreError, OSError) as error:
            # Rule 5: an application must start without its monitor's database.
            _LOG.warning("%s: outcomes are kept on disk until it can be opened", error)

    def _beside(self) -> Path:
        path = self._database.path
        if path is not None:
            return path.with_name(path.name + ".spool")
        where = re.sub(r"\W+", "-", f"{self._database.url.host}-{self._database.url.database}")
        return Path.cwd() / f"groundwire-{where}.spool"

    def _find(self, key: str) -> str:
        found = self._shelf.find(key)
        if found is None:  # it may not be written yet
            self._writer.flush(self._timeout)
            found = self._shelf.find(key)
        if found is None:
            raise InputError(
                f"no answer with the id {key!r:.80} is kept: sampling may have left it out, or it was deleted"
            )
        return found

    def _written(self, rows: Sequence[Row]) -> None:
        """What follows from a commit, on the writer's thread."""
        if self._drift is not None:
            self._look_for_drift(rows)
        now = time.monotonic()
        if self._retention is not None and now - self._pruned > _PRUNE_EVERY:
            self._pruned = now
            self.prune()

    def _look_for_drift(self, rows: Sequence[Row]) -> None:
        assert self._drift is not None
        if self._watch is None:
            self._watch = history.resumed(self._database, self._drift, before=rows[0].answer["id"])
        for one in rows:
            if one.answer["why"] == Why.SAMPLE and not one.answer["draft"]:
                for alarm in self._watch.hear(one.answer["score"], moment(one.answer["at"])):
                    self._alerts.raise_alarm(alarm)


def _reservation(answer_id: str, reviewer: str) -> sa.Delete:
    own = (reservations.c.answer_id == answer_id) & (reservations.c.reviewer == reviewer)
    return sa.delete(reservations).where(own)


def _require(
    settings: Mapping[str, tuple[object, type]],
    *,
    tags: object,
    redact: object,
    durability: object,
    numbers: Mapping[str, object],
) -> None:
    problems = [
        f"{name} must be a {kind.__name__}, not {type(value).__name__}"
        for name, (value, kind) in settings.items()
        if value is not None and not isinstance(value, kind)
    ]
    if tags is not None and not isinstance(tags, Mapping):
        problems.append(f"tags must be a dict of names and values, not {tags!r:.60}")
    if redact is not None and not callable(redact):
        problems.append(
            f"redact must be callable with a text, such as Redaction('emails'), not {redact!r:.60}"
        )
    if durability not in list(Durability):
        problems.append(f"durability must be 'process' or 'power', not {durability!r}")
    problems += [
        f"{name} must be a number above 0, not {value!r}"
        for name, value in numbers.items()
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0
    ]
    if problems:
        raise ConfigurationError(*problems)


def _queue(queue: Queue | str) -> Queue:
    if queue not in list(Queue):
        raise InputError(f"queue must be one of {', '.join(repr(str(q)) for q in Queue)}, not {queue!r}")
    return Queue(queue)


def _count(name: str, value: int) -> int:
    if not isinstance(value, int) or value < 1:
        raise InputError(f"{name} must be a whole number from 1 on, not {value!r}")
    return value
