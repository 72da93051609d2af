"""Where outcomes are kept, as everything that judges sees it: something that is told of each.

What keeps them, and how, is ``groundwire.monitor``'s to know.
"""

from __future__ import annotations

import logging
from typing import Any, Protocol
from uuid import UUID

from groundwire.core.interaction import Interaction
from groundwire.core.secrets import Traced
from groundwire.core.verdict import Outcome

_LOG = logging.getLogger(__name__)


class Keeper(Protocol):
    """Keeps what it is told of; groundwire.monitor.Monitor is one."""

    def keep(
        self,
        interaction: Interaction | None,
        outcome: Outcome,
        *,
        run_id: UUID | str | None = None,
        action: str | None = None,
        attempt: int = 1,
    ) -> object:
        """Keep one outcome.

        ``interaction`` is None when it could not be read. ``run_id`` is the host's own run. ``action`` is
        what was done about the answer, and ``attempt`` counts the answers to one question from 1.
        """
        ...


def keeper_problems(keeper: object) -> list[str]:
    """What is wrong with what was given to keep outcomes."""
    if keeper is None or hasattr(keeper, "keep"):
        return []
    return [f"monitor must be a Monitor, not {type(keeper).__qualname__}: Monitor(url)"]


def keep(keeper: Keeper | None, interaction: Interaction | None, outcome: Outcome, **told: Any) -> None:
    """Tell the keeper, if there is one. Never raises: the answer goes on its way, kept or not."""
    if keeper is None:
        return
    try:
        keeper.keep(interaction, outcome, **told)
    except Exception as error:  # rule 5: what keeps outcomes must not cost one
        _LOG.warning("an outcome could not be kept (%s)", type(error).__name__)
        _LOG.debug("an outcome could not be kept\n%s", Traced(error))
