"""Judging on behalf of a host: a detector that breaks is an abstention, and the answer goes on its way.

Who calls a Checker directly sees its errors; who has one watch an application has an application to run.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from groundwire.checker import Checker
from groundwire.core.errors import GroundwireError
from groundwire.core.interaction import Interaction
from groundwire.core.secrets import Traced, brief
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome
from groundwire.policy import AbstainedError, OnAbstention

_LOG = logging.getLogger(__name__)


def judged(checker: Checker, interaction: Interaction) -> Outcome:
    """The checker's outcome. Raises AbstainedError alone, where its policy asks for it."""
    try:
        return checker.check(interaction)
    except GroundwireError:
        raise
    except Exception as error:  # rule 5: the answer that was judged is already paid for
        return _abstained(checker, interaction, error)


async def ajudged(checker: Checker, interaction: Interaction) -> Outcome:
    """``judged`` for callers on an event loop."""
    try:
        return await checker.acheck(interaction)
    except GroundwireError:
        raise
    except Exception as error:  # as above
        return _abstained(checker, interaction, error)


def failure(error: Exception) -> Abstention:
    """What an outcome says of a detector that raised."""
    return Abstention(why=AbstentionReason.MODEL_FAILED, detail=brief(error))


def _abstained(checker: Checker, interaction: Interaction, error: Exception) -> Abstention:
    # The error's own words may hold what was judged, so they stay at DEBUG.
    _LOG.warning("the %s detector failed (%s)", checker.detector.name, type(error).__name__)
    _LOG.debug("the detector failed\n%s", Traced(error))
    outcome = replace(failure(error), detector=checker.detector.spec, id=interaction.id)
    checker.tell(interaction, outcome)
    if checker.policy.on_abstention is OnAbstention.RAISE:
        raise AbstainedError(outcome) from error
    return outcome
