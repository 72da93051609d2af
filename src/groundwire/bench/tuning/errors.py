"""What stands in the way of tuning."""

from __future__ import annotations

from groundwire.core.errors import GroundwireError


class TuningError(GroundwireError, ValueError):
    """These labels can't do what was asked of them. The message says what would be needed."""


class PromiseError(TuningError):
    """These labels can't promise what was asked of them."""
