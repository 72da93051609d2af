"""Limits that processes share: calls and tokens a minute, and a budget for the whole job, in one SQLite file.

What was spent outlives the process, so that a job that is taken up again goes on within the same budget. On
Ray one actor has the file, and everybody asks it.
"""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from groundwire.core.budget import Budget
from groundwire.core.errors import ConfigurationError
from groundwire.core.fork import renew_after_fork
from groundwire.core.sqlite import write_ahead
from groundwire.core.verdict import Usage

_MINUTE = 60.0
_BUSY = 60.0  # seconds to wait for another process
_SCHEMA = """
CREATE TABLE IF NOT EXISTS taken (what TEXT, at REAL, amount INTEGER);
CREATE INDEX IF NOT EXISTS taken_by ON taken (what, at);
CREATE TABLE IF NOT EXISTS used (what TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS spent (only INTEGER PRIMARY KEY CHECK (only = 1), calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL, cost REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS clock (boot TEXT) STRICT;
INSERT OR IGNORE INTO spent VALUES (1, 0, 0, 0.0);
"""


class Ledger:
    """The file. Safe to use from any number of threads and processes of one machine; pickled, it is its path.

    ``clock`` must be one that all processes share, as the monotonic one is until the machine starts anew.
    Raises ConfigurationError where the file can't be used, for then nobody knows what was spent; what goes
    wrong with it later is an OSError.
    """

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = Path(path)
        self._clock = clock
        self.after_fork()
        renew_after_fork(self)
        try:
            self._begin()
        except (OSError, ValueError) as error:  # ValueError: no system has a file of that name
            raise ConfigurationError(
                f"what the job has spent, in {str(self.path)!r}, can't be told: {error}. Mend it, or delete "
                "it to count from nothing"
            ) from error

    def _begin(self) -> None:
        with self._open() as connection:
            # Another start of the machine has another clock: what was taken by the old one means nothing.
            boot = _boot()
            if connection.execute("SELECT boot FROM clock").fetchone() != (boot,):
                for table in ("taken", "used", "clock"):
                    connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours
                connection.execute("INSERT INTO clock VALUES (?)", (boot,))

    def after_fork(self) -> None:
        """Begin anew: a connection to SQLite must not be carried into a child."""
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def __reduce__(self) -> tuple[type[Ledger], tuple[str]]:
        return type(self), (str(self.path),)

    def take(self, what: str, amount: int, limit: int, within: float = math.inf) -> float:
        """The seconds to wait before using ``amount``: never more than ``limit`` within any minute.

        In the order in which room was asked for; more than a minute's worth waits for a minute of its own.
        Where they are not fewer than ``within``, nothing is used.
        """
        with self._open() as connection:
            ask = connection.execute
            now = self._clock()
            last = ask("SELECT max(at) FROM taken WHERE what = ?", (what,)).fetchone()[0]
            at = now if last is None else max(now, last)
            row = ask("SELECT amount FROM used WHERE what = ?", (what,)).fetchone()
            used = row[0] if row else 0
            past = []
            oldest = "SELECT rowid, at, amount FROM taken WHERE what = ? ORDER BY at, rowid"
            for number, freed, given in ask(oldest, (what,)):
                if freed > at - _MINUTE and used + amount <= limit:
                    break
                past.append((number,))
                used -= given
                at = max(at, freed + _MINUTE)
            if at - now < within:
                connection.executemany("DELETE FROM taken WHERE rowid = ?", past)
                ask("INSERT INTO taken VALUES (?, ?, ?)", (what, at, amount))
                ask("INSERT OR REPLACE INTO used VALUES (?, ?)", (what, used + amount))
            return at - now

    def claim(self, budget: Budget) -> str:
        """Room for one call, which counts from now on; or why there is none."""
        with self._open() as connection:
            shortage = budget.shortage(_spent(connection), calls=1)
            if not shortage:
                connection.execute("UPDATE spent SET calls = calls + 1")
            return shortage

    def add(self, *, calls: int = 0, tokens: int = 0, cost: float = 0.0) -> None:
        """Something was spent, or, below 0, was not."""
        with self._open() as connection:
            connection.execute(
                "UPDATE spent SET calls = calls + ?, tokens = tokens + ?, cost = cost + ?",
                (calls, tokens, cost),
            )

    def spent(self) -> Usage:
        """What the job has spent until now, over all runs; all tokens as input."""
        with self._open() as connection:
            return _spent(connection)

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one transaction that nobody writes beside."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = _connected(self.path)
                self._connection.execute("BEGIN IMMEDIATE")
                with self._connection:
                    yield self._connection
            except sqlite3.Error as error:
                raise OSError(str(error)) from error


class SharedPace:
    """Paced: so many a minute for everybody who asks the same ledger."""

    def __init__(self, ledger: Any, what: str, per_minute: int | None) -> None:
        self._ledger, self._what, self._limit = ledger, what, per_minute

    def take(self, amount: int = 1, *, within: float = math.inf) -> float:
        """The seconds to wait before using ``amount``; where they are not fewer than ``within``, none is."""
        if self._limit is None or not amount:
            return 0.0
        return float(self._ledger.take(self._what, amount, self._limit, within))


class SharedPurse:
    """Purse: a budget for everybody who asks the same ledger."""

    def __init__(self, ledger: Any, budget: Budget | None) -> None:
        self._ledger, self._budget = ledger, budget or Budget()

    def claim(self) -> str:
        """Room for one call, or why there is none."""
        return str(self._ledger.claim(self._budget))

    def give_back(self) -> None:
        """A call that was claimed is not made."""
        self._ledger.add(calls=-1)

    def settle(self, usage: Usage) -> None:
        """What a call that was claimed has used beside itself."""
        self._ledger.add(tokens=usage.input_tokens + usage.output_tokens, cost=usage.cost or 0.0)


def _spent(connection: sqlite3.Connection) -> Usage:
    calls, tokens, cost = connection.execute("SELECT calls, tokens, cost FROM spent").fetchone()
    return Usage(calls=calls, input_tokens=tokens, cost=cost)


def _connected(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=_BUSY, check_same_thread=False, isolation_level=None)
    write_ahead(connection, busy=_BUSY)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
    return connection


def _boot() -> str:
    """What tells one start of this machine from the next; where the system doesn't say, this process."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return f"process group {os.getpgid(0)}" if hasattr(os, "getpgid") else ""
