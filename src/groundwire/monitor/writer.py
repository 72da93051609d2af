"""Writes what is kept, in batches, on a thread of its own.

Whoever hands something over never waits, unless it wants to know that it is committed. While the database is
away, rows go to disk and follow in their order when it is back. What is lost is counted, and the log says so.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from groundwire.core.errors import ConfigurationError
from groundwire.core.fork import renew_after_fork
from groundwire.core.leaving import before_exit, is_past_farewell, no_farewell
from groundwire.core.secrets import Traced
from groundwire.monitor import schema
from groundwire.monitor.answer import Heard, Row
from groundwire.monitor.causes import cause, is_away
from groundwire.monitor.database import Database, StoreError
from groundwire.monitor.spool import Spool

_LOG = logging.getLogger(__name__)
_BATCH = 500
_GATHER = 0.02  # seconds that rows are gathered for one commit, when nobody waits for it
_LINGER = 1.0  # seconds that an idle thread waits for more before it ends
_AGAIN = 1.0  # seconds until a database that was away is tried again
_FAREWELL = 10.0  # seconds that a normal exit of the process waits for what is still to be written
_COMPLAIN_EVERY = 60.0


@dataclass(frozen=True, kw_only=True)
class Stats:
    """What became of what was kept.

    ``queued`` wait in memory, ``spooled`` on disk; ``written`` are committed; ``dropped`` found no room, and
    ``failed`` were refused by the database.
    """

    queued: int
    spooled: int
    written: int
    dropped: int
    failed: int


class Writer:
    """Takes outcomes and writes them. ``encode`` makes a row of one; ``written`` is told of each commit.

    At most ``capacity`` wait in memory: the newest beyond that are dropped and counted. A normal exit of the
    process waits up to 10 seconds for what is pending, and puts on disk what is still not written then. In
    the child of a fork the writer is empty: what was pending belongs to the parent.
    """

    def __init__(
        self,
        database: Database,
        encode: Callable[[Heard], Row],
        written: Callable[[Sequence[Row]], None],
        *,
        capacity: int,
        spool: Path,
        spool_bytes: int,
    ) -> None:
        self._database = database
        self._encode = encode
        self._told = written
        self._capacity = capacity
        self._folder, self._spool_bytes = spool, spool_bytes
        self._written = self._dropped = self._failed = 0
        self._complaints: dict[str, float] = {}
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin empty, with a lock, a thread and a file of its own."""
        self._changed = threading.Condition()
        self._queue: deque[Heard] = deque()
        self._waiters: dict[str, bool | None] = {}
        self._in_hand: list[Heard] = []
        self._thread: threading.Thread | None = None
        self._spool = Spool(self._folder, limit=self._spool_bytes)
        self._adopting = self._closed = self._over = self._gave_up = False

    # -- handing over ------------------------------------------------------------------------------------

    def put(self, heard: Heard) -> bool:
        """Have it written soon; False, and counted, if there is no room."""
        with self._changed:
            taken = self._put(heard)
        if is_past_farewell() and threading.current_thread() is not self._thread:
            self._farewell()
        return taken

    def put_and_wait(self, heard: Heard, timeout: float) -> None:
        """Have it written, and come back once it is committed. Raises StoreError if it is not."""
        with self._changed:
            if not self._put(heard):
                raise StoreError("the outcome could not be kept: too many wait, or the monitor is closed")
            self._waiters[heard.id] = None
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiters.get(heard.id) is not None, timeout)
            done = self._waiters.pop(heard.id)
        if done is None:
            raise StoreError(
                f"the outcome was not committed within {timeout:g} seconds: {self._database.name} is away or "
                "slow; it is written once that is over"
            )
        if not done:
            raise StoreError("the outcome could not be kept: the log says why")

    def _put(self, heard: Heard) -> bool:
        if self._closed or len(self._queue) >= self._capacity:
            self._lose(1, "too many wait to be written, or the monitor is closed")
            return False
        self._queue.append(heard)
        self._ensure_thread()
        if len(self._queue) == 1 or len(self._queue) >= _BATCH:
            self._changed.notify_all()
        return True

    def take_over(self) -> None:
        """Begin to write what ended processes have left on disk, if there is something."""
        with self._changed:
            if self._spool.waits_elsewhere and not self._closed:
                self._adopting = True
                self._ensure_thread()
                self._changed.notify_all()

    def flush(self, timeout: float | None = None, *, left_behind: bool = False) -> bool:
        """Wait until nothing is pending in memory or on disk. False when time ran out.

        With ``left_behind`` also what ended processes have left on disk, and False while another process
        that runs has something there.
        """
        with self._changed:
            if left_behind and not self._over:
                self._adopting = True
            if not self._idle():
                self._ensure_thread()
            self._changed.notify_all()
            done = self._changed.wait_for(self._idle, timeout)
        return done and not (left_behind and self._spool.waits_elsewhere)

    def close(self, timeout: float | None = None) -> bool:
        """Take no more, and flush; what is not written then is put on disk for the next process."""
        with self._changed:
            self._closed = True
        done = self.flush(timeout)
        if not done:
            self._put_aside()
        with self._changed:
            self._over, thread = True, self._thread
            self._changed.notify_all()
        if thread is not None:
            thread.join(_AGAIN + _LINGER)
        if thread is None or not thread.is_alive():
            self._spool.close()  # another monitor, of this process or the next, may take it over
        return done

    @property
    def stats(self) -> Stats:
        with self._changed:
            return Stats(
                queued=len(self._queue) + len(self._in_hand),
                spooled=self._spool.rows,
                written=self._written,
                dropped=self._dropped,
                failed=self._failed,
            )

    def _idle(self) -> bool:
        return not self._queue and not self._in_hand and not self._adopting and self._spool.empty

    # -- the thread --------------------------------------------------------------------------------------

    def _ensure_thread(self) -> None:
        if self._thread is not None:
            return
        # A thread lives only while there is work, so that a monitor nobody uses can be collected.
        self._thread = threading.Thread(target=self._work, name="groundwire-monitor", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the interpreter is on its way out: the farewell puts it on disk
            self._thread = None
        before_exit(self._farewell)

    def _farewell(self) -> None:
        with self._changed:
            alive = self._thread is not None
        if alive and not self._gave_up:
            if self.flush(_FAREWELL):
                return
            self._gave_up = True  # no exit waits for every one of what still comes
        self._put_aside()

    def _put_aside(self) -> None:
        """Put what waits in memory on disk, where another process finds it.

        In a file of its own, for the thread may be busy with the other; what it has in hand is put there too,
        since nobody knows whether it will get to an end.
        """
        with self._changed:
            left = [*self._in_hand, *self._queue]
            self._queue.clear()
        if left:
            aside = Spool(self._folder, limit=self._spool_bytes)
            self._store_later([row for heard in left if (row := self._encoded(heard))], aside)
            aside.close()

    def _work(self) -> None:
        while (batch := self._take()) is not None:
            try:
                self._adopt()
                self._write(batch)
            except Exception as error:  # rule 5: whatever one batch met, the next one must be written
                self._lose(len(batch), f"{type(error).__name__} while they were written")
                _LOG.debug("a batch could not be written\n%s", Traced(error))
            finally:
                with self._changed:
                    self._in_hand = []
                    self._changed.notify_all()

    def _adopt(self) -> None:
        """Take over the files of ended processes, if that is asked for."""
        if self._adopting:
            try:
                self._spool.adopt()
            finally:
                self._adopting = False

    def _take(self) -> list[Heard] | None:
        """The next batch; empty when only the disk has something; None when there was nothing for a while."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._over or self._adopting, self._patience())
            if not self._queue:
                if self._adopting and not self._over:
                    return []
                if self._spool.empty or self._over:
                    self._thread = None
                    no_farewell(self._farewell)
                    return None
                return []
            if not self._waiters and not self._closed and len(self._queue) < _BATCH:
                self._changed.wait_for(lambda: self._waiters or len(self._queue) >= _BATCH, _GATHER)
            batch = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
            self._in_hand = batch
            return batch

    def _patience(self) -> float:
        return _LINGER if self._spool.empty else _AGAIN

    def _write(self, batch: Sequence[Heard]) -> None:
        rows = [row for heard in batch if (row := self._encoded(heard))]
        if self._catch_up():
            try:
                self._commit(rows)
            except Exception as error:
                if not _passes(error):
                    raise
                self._complain("away", "%s is away (%s): outcomes are kept on disk until it is back", error)
            else:
                return
        self._store_later(rows)

    def _encoded(self, heard: Heard) -> Row | None:
        try:
            return self._encode(heard)
        except Exception as error:  # one that can't be encoded must not cost its batch
            self._lose(1, f"an outcome could not be encoded: {type(error).__name__}", ids=[heard.id])
            _LOG.debug("an outcome could not be encoded\n%s", Traced(error))
            return None

    def _catch_up(self) -> bool:
        """Write what waits on disk; whether all of it is written."""
        if self._spool.empty:
            return True
        try:
            for rows in self._spool.batches():
                self._commit(rows)
        except Exception as error:
            if not _passes(error):
                raise
            self._complain("away", "%s is still away (%s): outcomes are kept on disk", error)
            return False
        return True

    def _store_later(self, rows: Sequence[Row], spool: Spool | None = None) -> None:
        taken, why = 0, f"the database is away, and {self._folder} has all that spool_megabytes allows"
        try:
            taken = (spool or self._spool).append(rows)
        except OSError as error:
            why = "the database is away, and the disk takes nothing"
            self._complain("disk", "what can't be written to %s can't be put on disk either (%s)", error)
        if taken < len(rows):
            ids = [row.answer["id"] for row in rows[taken:]]
            self._lose(len(ids), why, ids=ids)

    # -- writing -----------------------------------------------------------------------------------------

    def _commit(self, rows: Sequence[Row]) -> None:
        """Commit rows together; where the database refuses them for what they hold, each alone."""
        if not rows:
            return
        try:
            self._insert(rows)
        except SQLAlchemyError as error:
            if is_away(error):
                raise
            if len(rows) > 1:
                for row in rows:
                    self._commit([row])
                return
            self._lose(1, f"the database refused one: {cause(error)}", ids=[rows[0].answer["id"]])
            return
        with self._changed:
            self._written += len(rows)
            self._settle([row.answer["id"] for row in rows], done=True)
        try:
            self._told(rows)
        except Exception as error:  # they are committed, whatever follows from it
            self._complain("told", "what follows from writing to %s failed (%s)", error)

    def _insert(self, rows: Sequence[Row]) -> None:
        insert = self._database.insert
        tags = [
            {"answer_id": row.answer["id"], "name": name, "value": value}
            for row in rows
            for name, value in row.tags
        ]
        with self._database.transaction() as connection:
            for table, values in (
                (schema.answers, [row.answer for row in rows]),
                (schema.bodies, [row.body for row in rows]),
                (schema.tags, tags),
            ):
                if values:  # what was replayed before is there already
                    connection.execute(insert(table).on_conflict_do_nothing(), values)

    def _settle(self, ids: Iterable[str], *, done: bool) -> None:
        """Tell those who wait for a commit. Called with the lock held."""
        if self._waiters:
            for key in ids:
                if key in self._waiters:
                    self._waiters[key] = done
            self._changed.notify_all()

    def _lose(self, count: int, why: str, ids: Sequence[str] = ()) -> None:
        with self._changed:
            if ids:
                self._failed += count
                self._settle(ids, done=False)
            else:
                self._dropped += count
            dropped, failed = self._dropped, self._failed
        lost = "outcomes are lost: %s; so far %d were dropped and %d failed"
        self._warn("lost", lost, why, dropped, failed)

    def _complain(self, kind: str, message: str, error: BaseException) -> None:
        self._warn(kind, message, self._database.name, cause(error))
        _LOG.debug("the store could not be written\n%s", Traced(error))

    def _warn(self, kind: str, message: str, *told: object) -> None:
        """Write to the log, at most once a minute of each kind."""
        now = time.monotonic()
        if now - self._complaints.get(kind, -_COMPLAIN_EVERY) >= _COMPLAIN_EVERY:
            self._complaints[kind] = now
            _LOG.warning(message, *told)


def _passes(error: BaseException) -> bool:
    # A store that a newer groundwire has migrated meanwhile may be readable again after an upgrade; one that
    # could not be opened has refused no row.
    return is_away(error) or isinstance(error, ConfigurationError | StoreError)
