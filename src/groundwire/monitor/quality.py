"""How right the detector is by human judgement: precision, recall, and from what each is reckoned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from groundwire.monitor.drawn import sorts
from groundwire.monitor.filters import Filter
from groundwire.monitor.reviews import truth
from groundwire.monitor.schema import answers
from groundwire.monitor.statistics import Rate, rate


@dataclass(frozen=True, kw_only=True)
class Quality:
    """How right the detector is by human judgement.

    ``precision`` is the share of flagged answers that are hallucinated, ``recall`` the share of hallucinated
    ones that are flagged; each is None where it can't be had, and its ``_basis`` says from what it was
    reckoned, or why not. ``reviewed`` counts answers with feedback, ``undecided`` those of them on which
    nobody, or as many as not, decided. ``waiting`` were drawn for the random sample and are not reviewed yet.
    """

    reviewed: int
    undecided: int
    waiting: int
    precision: Rate | None
    precision_basis: str
    recall: Rate | None
    recall_basis: str


def quality(connection: sa.Connection, wanted: Filter) -> Quality:
    """How right the detector is about the answers that meet the filter."""
    wanted = wanted.for_reviews
    cells = _cells(connection, wanted)
    reviewed = _sum(cells, reviewed=True)
    precision, precision_basis = _precision(cells)
    recall, recall_basis = _recall(cells) if wanted.fair else (None, "the filter depends on the outcome")
    return Quality(
        reviewed=reviewed,
        undecided=reviewed - _sum(cells, real=True) - _sum(cells, real=False),
        waiting=_sum(cells, handed_out=True, reviewed=False),
        precision=precision,
        precision_basis=precision_basis,
        recall=recall,
        recall_basis=recall_basis,
    )


def _cells(connection: sa.Connection, wanted: Filter) -> list[dict[str, Any]]:
    """How many judged answers there are of each sort that precision and recall tell apart.

    What was drawn matters of reviewed answers alone, which are few: the others are all that there are, less
    those.
    """
    told, seen = ("sampled", "picked", "flagged", "handed_out"), truth()
    left = {tuple(sort): count for *sort, count in connection.execute(_counted(wanted, sorts(*told)))}
    columns = [*sorts(*told, "drawn", "drawn_flagged"), seen.c.real]
    found = connection.execute(_counted(wanted, columns).join(seen, seen.c.answer_id == answers.c.id))
    cells: list[dict[str, Any]] = []
    for row in found.mappings():
        left[tuple(row[name] for name in told)] -= row["count"]
        cells.append({**row, "reviewed": True})
    unknown = {"drawn": False, "drawn_flagged": False, "real": None, "reviewed": False}
    for sort, count in left.items():
        cells.append({**dict(zip(told, sort, strict=True)), **unknown, "count": count})
    return cells


def _counted(wanted: Filter, columns: list[Any]) -> sa.Select[Any]:
    query: sa.Select[Any] = sa.select(*columns, sa.func.count().label("count")).select_from(answers)
    return query.where(*wanted.conditions(), answers.c.judged.is_(sa.true())).group_by(*columns)


def _precision(cells: list[dict[str, Any]]) -> tuple[Rate | None, str]:
    flagged = [cell for cell in cells if cell["flagged"] and not cell["picked"]]
    if not _sum(flagged):
        other = "what is flagged was all kept by a rule or for its level, and is no sample of flagged answers"
        return None, other if _sum(cells, flagged=True) else "nothing was flagged"
    if not _sum(flagged, reviewed=True):
        return None, "no flagged answer was reviewed"
    drawn = [cell for cell in flagged if cell["drawn"] or cell["drawn_flagged"]]
    if not _sum(flagged, reviewed=False):
        basis, chosen = "all flagged answers", flagged
    elif _sum(drawn, reviewed=True):
        basis, chosen = "flagged answers drawn by chance", drawn
    else:
        basis, chosen = "the flagged answers that people chose to review, which chance did not draw", flagged
    right = _sum(chosen, real=True)
    return _rate_of(right, right + _sum(chosen, real=False), chosen, basis)


def _recall(cells: list[dict[str, Any]]) -> tuple[Rate | None, str]:
    sampled = [cell for cell in cells if cell["sampled"]]
    if not _sum(sampled):
        return None, "no answer was kept by chance alone: Sampling(rate=...) above 0 provides them"
    drawn = [cell for cell in sampled if cell["drawn"]]
    if not _sum(sampled, reviewed=False):
        basis, chosen = "all answers kept by chance", sampled
    elif _sum(drawn, reviewed=True):
        basis, chosen = "answers drawn by chance", drawn
    else:
        return None, "no answer of the random sample was reviewed: review the random queue, with no filter"
    found, real = _sum(chosen, real=True, flagged=True), _sum(chosen, real=True)
    return _rate_of(found, real, chosen, basis)


def _rate_of(part: int, whole: int, chosen: list[dict[str, Any]], basis: str) -> tuple[Rate | None, str]:
    """The rate and what it was reckoned from; of nothing, what is missing among what was reviewed."""
    if whole:
        return rate(part, whole), basis
    missing = "hallucination" if _sum(chosen, real=False) else "decision"
    return None, f"no {missing} among the {_sum(chosen, reviewed=True)} reviewed of {basis}"


def _sum(cells: list[dict[str, Any]], **wanted: bool) -> int:
    """How many answers have these properties; None is neither true nor false."""
    return sum(cell["count"] for cell in cells if all(cell[name] is wanted[name] for name in wanted))
