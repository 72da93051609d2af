"""Where a memory keeps its entries: in this process, or in a SQLite file. Bounded; bytes by key.

What the bytes mean is none of this module's business. Whatever goes wrong with a file is an OSError.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from groundwire.core.errors import ConfigurationError
from groundwire.core.fork import renew_after_fork
from groundwire.core.sqlite import write_ahead

_SCHEMA = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT"
_BUSY = 10.0  # seconds to wait for another process


class Store(Protocol):
    """Keeps entries. ``get`` is None for what it doesn't hold; ``put`` makes room by itself."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, entries: Mapping[str, bytes]) -> None: ...

    def __len__(self) -> int: ...


class InMemory:
    """Entries of this process; the one that was not used for longest goes first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[str, bytes] = OrderedDict()
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: whoever held the lock is not in the child."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> bytes | None:
        with self._lock:
            value = self._entries.get(key)
            if value is not None:
                self._entries.move_to_end(key)
            return value

    def put(self, entries: Mapping[str, bytes]) -> None:
        with self._lock:
            for key, value in entries.items():
                self._entries[key] = value
                self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)


class Since:
    """What is put into another store from now on. What that held before is as if it were not there."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._put: set[str] = set()

    def __len__(self) -> int:
        return len(self._put)

    def get(self, key: str) -> bytes | None:
        return self._store.get(key) if key in self._put else None

    def put(self, entries: Mapping[str, bytes]) -> None:
        self._store.put(entries)
        self._put.update(entries)


class InFile:
    """Entries of a SQLite file that nobody else on the machine may read; the oldest goes first.

    Raises ConfigurationError when the file can't be opened or is none of ours.
    """

    def __init__(self, path: Path, size: int, *, read_only: bool) -> None:
        self._path, self._size, self._read_only = path, size, read_only
        self.after_fork()
        renew_after_fork(self)
        try:
            with self._open() as connection:
                if not read_only:
                    connection.execute(_SCHEMA)
                connection.execute("SELECT key, value FROM replies LIMIT 1")
        except (OSError, ValueError) as error:  # ValueError: no system has a file of that name
            raise ConfigurationError(f"memory {str(path)!r} can't be used: {error}") from error

    def after_fork(self) -> None:
        """Begin anew: a connection to SQLite must not be carried into a child."""
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def __len__(self) -> int:
        with self._open() as connection:
            return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])

    def get(self, key: str) -> bytes | None:
        with self._open() as connection:
            row = connection.execute("SELECT value FROM replies WHERE key = ?", (key,)).fetchone()
            return None if row is None else bytes(row[0])

    def put(self, entries: Mapping[str, bytes]) -> None:
        with self._open() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO replies (key, value) VALUES (?, ?)", entries.items()
            )
            connection.execute(
                # Numbers only grow, so this keeps at most as many without walking through all of them.
                "DELETE FROM replies WHERE rowid <= (SELECT max(rowid) FROM replies) - ?",
                (self._size,),
            )

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one transaction of one thread."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._connected()
                with self._connection:
                    yield self._connection
            except sqlite3.Error as error:
                raise OSError(str(error)) from error

    def _connected(self) -> sqlite3.Connection:
        mode = "ro" if self._read_only else "rw"
        if not self._read_only:
            # It holds what models said of other people's documents.
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        uri = f"{self._path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=_BUSY, check_same_thread=False)
        if not self._read_only:
            write_ahead(connection, busy=_BUSY)
            # A loss of power loses replies, and not the file.
            connection.execute("PRAGMA synchronous = NORMAL")
        return connection
