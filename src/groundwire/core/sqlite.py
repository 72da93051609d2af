"""SQLite's write-ahead log, in which readers and a writer don't wait for each other."""

from __future__ import annotations

import sqlite3
import time

_PAUSE = 0.005  # seconds between tries; turning the log on takes about as long


def write_ahead(connection: sqlite3.Connection, *, busy: float) -> None:
    """Turn the log on, waiting up to ``busy`` seconds for others who do it to the same new file.

    The connection's own timeout isn't heard here: of two who have read the file and want it for themselves
    SQLite refuses one at once. Raises sqlite3.OperationalError when the file stays locked.
    """
    end = time.monotonic() + busy
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            locked = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if not locked or time.monotonic() >= end:
                raise
        else:
            return
        time.sleep(_PAUSE)
