"""The error of a file that is no table of answers. What is wrong with one row is no error: see rows."""

from __future__ import annotations

from groundwire.core.errors import GroundwireError


class TableError(GroundwireError, ValueError):
    """A file can't be read as a table, or lacks the columns that a check needs."""
