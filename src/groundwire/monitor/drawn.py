"""Which kept answers are a fair sample, and of what: conditions for queries, in one place.

Chance keeps answers, and chance draws some of those for review. What was kept for what it says, or reviewed
because somebody chose it, tells nothing of the others (decision 20).
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from groundwire.monitor.sampling import Why
from groundwire.monitor.schema import answers, feedback

SAMPLED = answers.c.why == str(Why.SAMPLE)
"""Kept by chance alone."""
FLAGGED = answers.c.hallucinated.is_(sa.true())
PICKED = answers.c.why.in_([str(Why.RULE), str(Why.LEVEL)])
"""Kept by a rule or for the level: what is flagged among these is not as all that is flagged."""


def sorts(*names: str) -> list[sa.Label[bool]]:
    """Columns that tell of what sort an answer is.

    ``sampled``, ``flagged`` and ``picked`` are the conditions above. ``handed_out`` was drawn for the random
    sample; ``drawn`` was so among answers that are all reviewed, ``drawn_flagged`` the same of flagged ones.
    """
    c = answers.c
    known = {
        "sampled": SAMPLED,
        "flagged": FLAGGED,
        "picked": PICKED,
        "handed_out": c.drawn.is_not(None),
        "drawn": _drawn_whole(c.drawn),
        "drawn_flagged": _drawn_whole(c.drawn_flagged),
    }
    return [sa.type_coerce(known[name], sa.Boolean).label(name) for name in names]


def _drawn_whole(when: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Whether an answer was drawn, by chance, among answers that are all reviewed.

    What was drawn together counts together: those of it that people had reviewed before are flagged more
    often than those that still wait. What could not be judged is neither, and keeps nothing waiting.
    """
    other = answers.alias("other")
    own = other.c[when.name]
    waits = other.c.judged.is_(sa.true()) & ~sa.exists().where(feedback.c.answer_id == other.c.id)
    return when.is_not(None) & when.not_in(sa.select(own).where(own.is_not(None), waits))
