"""A connection to PostgreSQL that gives up on a server which says nothing.

The system notices that a server's machine is gone, but not that the server, or a pooler before it, has
stopped while its machine goes on taking what is sent. How long to wait is the database's business.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg


class Impatient(psycopg.Connection[Any]):
    """Raises psycopg's OperationalError, and is closed, once its server was silent for ``patience`` seconds.

    None waits for ever.
    """

    patience: float | None = None

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **options: Any) -> Any:
        """What psycopg waits for everything by; with its pauses it looks whether the server has spoken."""
        return super().wait(self._watched(gen), *args, **options)

    @contextmanager
    def at_leisure(self) -> Iterator[None]:
        """Wait for ever in here: a server may have much to do before it answers."""
        patience, self.patience = self.patience, None
        try:
            yield
        finally:
            self.patience = patience

    def _watched(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        heard, ready = time.monotonic(), None
        try:
            while True:
                wanted = gen.send(ready)
                ready = yield wanted
                if ready:
                    heard = time.monotonic()
                elif self.patience is not None and time.monotonic() - heard > self.patience:
                    gen.close()
                    self.close()
                    raise psycopg.OperationalError(f"the server said nothing for {self.patience:g} seconds")
        except StopIteration as done:
            return done.value
