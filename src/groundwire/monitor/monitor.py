"""The monitor: what is given to handlers, wrappers and checkers, and what answers questions afterwards.

It only joins the parts: what is kept is here, what can be asked in ``reading``, what reviewers do in
``reviewing``.
"""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import UUID

from groundwire.core.errors import ConfigurationError, InputError
from groundwire.core.interaction import Interaction
from groundwire.core.one_process import OfOneProcess
from groundwire.core.redaction import Redact
from groundwire.core.sink import DRAFT
from groundwire.core.verdict import Outcome
from groundwire.monitor import history
from groundwire.monitor.alerts import Alert, Alerts, log_alert
from groundwire.monitor.answer import Heard, Ids, Row, moment, row, tag
from groundwire.monitor.database import Database, Durability, StoreError, database_url
from groundwire.monitor.drift import Alarm, Drift, Standing, Watch, standing
from groundwire.monitor.filters import Filter
from groundwire.monitor.reading import ALL, count_of
from groundwire.monitor.retention import Retention, forget, masked_alike, prune
from groundwire.monitor.reviewing import Reviewing
from groundwire.monitor.sampling import Sampling, Why
from groundwire.monitor.shelf import Shelf
from groundwire.monitor.spool import Spool
from groundwire.monitor.telling import Telling
from groundwire.monitor.writer import Stats, Writer

_LOG = logging.getLogger(__name__)
DEFAULT_URL = "sqlite:///groundwire.db"
_PRUNE_EVERY = 300.0  # seconds
_PRUNE_FOR = 0.5  # seconds, after which it is the turn of what waits to be written
_MOST_NAME = 100  # characters of a folder's name that are for people
_LOOK_EVERY = 10.0  # seconds until it is noticed that another process has rebased


class Monitor(OfOneProcess, Reviewing):
    """Keeps outcomes, and tells how often answers hallucinate, where, and how right the detector is.

    ``url`` is a SQLite file's or a PostgreSQL database's. ``tags`` are put on everything, such as an
    application's name; plain values of an interaction's metadata are tags as well. ``sampling`` says what is
    kept, ``retention`` for how long, and ``redact`` masks texts before they are stored. With ``durable``
    every outcome is committed before whoever hands it over goes on, which SQLite does in a fraction of a
    millisecond; otherwise a thread writes them, at most ``capacity`` wait, and what is beyond that is dropped
    and counted. While the database is away, up to ``spool_megabytes`` wait in the folder ``spool``. ``drift``
    is watched for in what this process keeps, and each alarm that no other process has told goes to every one
    of ``alerts``; None watches for nothing. Raises ConfigurationError, naming what can't work.

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
        self._tags = dict(tag(*one) for one in (tags or {}).items())
        self._sampling = sampling or Sampling()
        self._retention = retention
        self._pruned = -_PRUNE_EVERY  # at the first commit: many a process does not live for long
        self._pruning: Iterator[int] = iter(())
        self._redact = redact
        self._durable = durable
        self._timeout = timeout
        self._ids = Ids()
        self._random = random.SystemRandom()  # a forked child must not repeat its parent's numbers
        self._drift = drift
        self._watch: Watch | None = None
        self._baseline, self._looked = 0, -_LOOK_EVERY
        self._telling = Telling(self._database, self._tags)
        self._alerts = Alerts(alerts, self._telling.give_back)
        self._writer = Writer(
            self._database,
            lambda heard: row(heard, self._redact, self._tags),
            self._written,
            capacity=capacity,
            spool=Path(spool) if spool is not None else self._beside(),
            spool_bytes=round(spool_megabytes * 1e6),
        )
        self._open()

    @staticmethod
    def require_url(url: str) -> None:
        """Raises ConfigurationError for what is no URL of a monitor's database. Nothing is opened."""
        database_url(url)

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
        Raises InputError for what is no interaction, or no outcome.
        """
        if not isinstance(interaction, Interaction | None) or not isinstance(outcome, Outcome):
            given = " and ".join(type(one).__name__ for one in (interaction, outcome))
            raise InputError(
                f"keep takes an Interaction, or None for what could not be read, and its outcome, not {given}"
            )
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
            draft=action == DRAFT,
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

    # -- watching ------------------------------------------------------------------------------------------

    def drift(self, wanted: Filter = ALL, settings: Drift | None = None) -> tuple[list[Alarm], bool]:
        """Every alarm since the reference began, and whether there are enough answers for a reference."""
        found = self.standing(wanted, settings)
        return list(found.alarms), found.has_reference

    def standing(
        self, wanted: Filter = ALL, settings: Drift | None = None, *, last: int | None = None
    ) -> Standing:
        """The latest answers beside the first ones, with every alarm since the reference began.

        Compared as ``settings`` say, by default as this monitor watches, or as the last one did that watched.
        ``last`` looks for alarms among so many of the latest answers alone.
        """
        drift = settings or self._drift or history.remembered(self._database)
        if last is not None:
            last = max(count_of("last", last), drift.window)
        return standing(drift, *history.told(self._database, wanted, drift, last))

    def rebase(self) -> None:
        """Take the answers from now on for the reference that drift is measured from."""
        history.rebase(self._database, self._ids()[1])
        self._looked = -_LOOK_EVERY  # the watch is the writer's alone, which now looks for itself

    # -- leaving -----------------------------------------------------------------------------------------

    def prune(self, retention: Retention | None = None) -> int:
        """Delete what a retention, the monitor's own if left out, does not allow; how many answers went."""
        allowed = retention or self._retention
        return 0 if allowed is None else sum(prune(self._database, allowed))

    def forget(self, name: str, value: object) -> int:
        """Delete a person's data: every answer with this tag, and its feedback; how many answers went.

        What still waits to be written, also what ended processes have left on disk, is written first. Raises
        StoreError if that takes too long, or while another process has something there; InputError where
        masked values of the tag may be this one, which nobody can tell.
        """
        if not self._writer.flush(self._timeout, left_behind=True):
            raise StoreError(
                "some outcomes wait to be written, here or in another process, and may be of whom is to be "
                "forgotten: try again"
            )
        gone = forget(self._database, name, value)
        alike = masked_alike(self._database, name, value)
        if alike:
            total = sum(alike.values())
            raise InputError(
                f"{gone:,} answers deleted; {total:,} more have a masked value of {name!r} that may be this "
                f"one, or another of as many characters: forget {next(iter(alike))!r} deletes those of all "
                "such, and a tag that says nothing of a person, which need not be masked, tells them apart"
            )
        return gone

    # -- inside ------------------------------------------------------------------------------------------

    def _open(self) -> None:
        try:
            with self._database.reading():
                pass
        except StoreError as error:
            # Rule 5: an application must start without its monitor's database.
            _LOG.warning("%s: outcomes are kept on disk until it can be opened", error)
        self._writer.take_over()

    def _beside(self) -> Path:
        path = self._database.path
        if path is not None:
            return path.with_name(path.name + ".spool")
        where = re.sub(r"\W+", "-", f"{self._database.url.host}-{self._database.url.database}")
        folder = Path.cwd() / f"groundwire-{where[:_MOST_NAME]}-{self._database.target}.spool"
        # Its name was the host's and the database's alone once, and those are of several.
        old = folder.with_name(f"groundwire-{where}.spool")
        if Spool(old, limit=0).waits_elsewhere:
            _LOG.warning(
                "%s holds outcomes of this database, or of another one of this host and name; nobody writes "
                "them: move its files to %s if they are of %s",
                old,
                folder,
                self._database.name,
            )
        return folder

    def _written(self, rows: Sequence[Row]) -> None:
        """What follows from a commit, on the writer's thread."""
        if self._drift is not None:
            self._look_for_drift(rows)
        now = time.monotonic()
        if self._retention is not None and now - self._pruned > _PRUNE_EVERY:
            self._pruned = now
            self._pruning = prune(self._database, self._retention)
        # Where a retention is new there may be millions to delete, and nothing is written meanwhile.
        while next(self._pruning, None) is not None and time.monotonic() - now < _PRUNE_FOR:
            pass

    def _look_for_drift(self, rows: Sequence[Row]) -> None:
        assert self._drift is not None
        now = time.monotonic()
        if self._watch is None or now - self._looked >= _LOOK_EVERY:
            self._looked, known = now, self._baseline
            self._baseline = history.baseline(self._database)
            self._telling.look(self._baseline)
            if self._baseline != known:
                self._watch = None
                self._alerts.forget()
            self._alerts.again(self._telling.is_ours_again)
        if self._watch is None:
            history.remember(self._database, self._drift)
            self._watch = history.resumed(self._database, self._drift, before=rows[0].answer["id"])
        for one in rows:
            if one.answer["why"] == Why.SAMPLE and not one.answer["draft"]:
                for alarm in self._watch.hear(one.answer["score"], moment(one.answer["at"])):
                    if self._telling.is_first(alarm):
                        self._alerts.raise_alarm(replace(alarm, tags=self._tags))
                self._telling.end(self._watch)


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
        f"{name} must be a number above 0 and below a billion, not {value!r}"
        for name, value in numbers.items()
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9
    ]
    if problems:
        raise ConfigurationError(*problems)
