"""A record: one row of a file as it stands there, whatever kind of file that is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groundwire.tables.errors import TableError

UNDECODED = re.compile("[\udc80-\udcff]")  # what errors="surrogateescape" leaves of a byte that isn't UTF-8


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One row of a file; ``cells`` is None when it can't be read, and ``problem`` says why.

    ``line`` counts from 1. Parquet has no lines, and a JSON array may be all in one, so there it is the row;
    ``counted`` says which it is.
    """

    line: int
    cells: Mapping[str, Any] | None = None
    problem: str = ""
    counted: str = "line"

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{self.counted} {self.line}"


@dataclass(frozen=True)
class Unheld:
    """A cell whose value Python can't hold, such as text that is no UTF-8. No part of a row is made of it."""

    why: str

    def __repr__(self) -> str:
        return f"({self.why})"


def require_one_of_each(columns: Sequence[str]) -> None:
    """Raises TableError where two columns have one name: nobody can tell which is meant."""
    if repeated := sorted(name for name, count in Counter(columns).items() if count > 1):
        raise TableError(f"two columns have one name, {repeated[0]!r}: rename one of them")
