"""What an observer keeps of one judged run of the host application."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from groundwire.core.interaction import Interaction
from groundwire.core.verdict import Outcome


@dataclass(frozen=True, kw_only=True)
class Record:
    """A run of the host, what was captured of it, and how that was judged.

    ``interaction`` is None when the run could not be read at all; the outcome then says why.
    """

    run_id: UUID
    interaction: Interaction | None
    outcome: Outcome
