"""What reviewers decided about answers, and for how many answers of production each of them stands.

People review what is flagged more often than what is not. Of what chance drew for review, the share that was
drawn is known for flagged answers and for others, and its inverse weighs the sample back to what production
gives (Horvitz and Thompson, 1952). What nobody drew by chance has no weight: whatever made people choose it
is unknown (decision 20).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from groundwire.monitor.answer import Kept
from groundwire.monitor.drawn import SAMPLED, sorts
from groundwire.monitor.export import label
from groundwire.monitor.filters import Filter
from groundwire.monitor.reviews import Feedback, truth
from groundwire.monitor.schema import answers


@dataclass(frozen=True, kw_only=True)
class Label:
    """One reviewed answer, and whether most of its reviewers hold it to be hallucinated.

    ``weight`` is how many answers of production it stands for, 1 on the mean; None where chance did not draw
    it.
    """

    kept: Kept
    hallucinated: bool
    feedback: tuple[Feedback, ...]
    weight: float | None


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The reviewed answers. ``undecided`` more were reviewed, and nobody, or as many as not, decided.

    ``basis`` says what ``weight`` was reckoned from, or why no answer has one.
    """

    labels: tuple[Label, ...]
    undecided: int
    basis: str

    @property
    def drawn(self) -> tuple[Label, ...]:
        """Those that chance drew."""
        return tuple(one for one in self.labels if one.weight is not None)


def labels(
    connection: sa.Connection,
    wanted: Filter,
    reviewed: Iterable[tuple[Kept, tuple[Feedback, ...]]],
    *,
    alike: bool,
) -> Labels:
    """The labels of reviewed answers, those of chance weighed; with ``alike`` only what all weigh 1."""
    wanted = wanted.for_reviews
    decided: list[tuple[Kept, tuple[Feedback, ...], bool]] = []
    undecided = 0
    for kept, said in reviewed:
        real = label(said)
        if real is None:
            undecided += 1
        else:
            decided.append((kept, said, bool(real)))
    ids = [kept.id for kept, _, _ in decided]
    weights, basis = _weights(connection, wanted, ids, alike=alike) if wanted.fair else ({}, _UNFAIR)
    return Labels(
        labels=tuple(
            Label(kept=kept, hallucinated=real, feedback=said, weight=weights.get(kept.id))
            for kept, said, real in decided
        ),
        undecided=undecided,
        basis=basis,
    )


_UNFAIR = "the filter depends on the outcome, so that no answer was drawn by chance for it"
_NOT_SAMPLED = "no answer was kept by chance alone: Sampling(rate=...) above 0 provides them"
_NOT_DRAWN = (
    "no answer of the random sample was reviewed: review the random queue (groundwire monitor next, with "
    "no filter), all of what it hands out"
)


def _weights(
    connection: sa.Connection, wanted: Filter, ids: Sequence[str], *, alike: bool
) -> tuple[dict[str, float], str]:
    c, seen = answers.c, truth()
    query = (
        sa.select(c.id, c.hallucinated, seen.c.reviews, *sorts("flagged", "drawn", "drawn_flagged"))
        .select_from(answers.outerjoin(seen, seen.c.answer_id == c.id))
        .where(SAMPLED, *wanted.conditions())
    )
    rows = connection.execute(query).all()
    if not rows:
        return {}, _NOT_SAMPLED
    known = set(ids)
    if all(row.reviews for row in rows):
        return {row.id: 1.0 for row in rows if row.id in known}, "all answers kept by chance"
    random = [row for row in rows if row.drawn and row.id in known]
    if not random:
        return {}, _NOT_DRAWN
    more = [row for row in rows if row.flagged and row.drawn_flagged and not row.drawn and row.id in known]
    if alike or not more:
        return {row.id: 1.0 for row in random}, "answers drawn by chance"
    chosen = [*random, *more]
    # What could not be judged is a kind of its own: people seldom decide what it is.
    there, drawn = (Counter(row.hallucinated for row in some) for some in (rows, chosen))
    # Weights that are 1 on the mean keep what counts answers meaning what it says.
    whole = sum(there[kind] for kind in drawn)
    weights = {
        row.id: there[row.hallucinated] / drawn[row.hallucinated] * len(chosen) / whole for row in chosen
    }
    return weights, "answers drawn by chance, with further flagged ones that weigh less for it"
