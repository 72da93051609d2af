"""What people say about kept answers, and what follows from several of them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
import sqlalchemy as sa

from groundwire.core.claim import Kind
from groundwire.core.errors import InputError
from groundwire.core.span import Span
from groundwire.monitor.answer import kept_text, moment
from groundwire.monitor.filters import Filter
from groundwire.monitor.schema import answers, feedback
from groundwire.monitor.statistics import kappa

_LONGEST_NAME = 200
_LONGEST_SOURCE = 40


class Opinion(StrEnum):
    """What a reviewer thinks of an outcome. UNSURE counts as reviewed, and neither for nor against."""

    AGREE = "agree"
    DISAGREE = "disagree"
    UNSURE = "unsure"


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """One reviewer's word on one answer.

    ``hallucinated`` is the answer's truth as the reviewer sees it, None where that is not known. ``spans``
    are the unsupported words as the reviewer marks them, None when nobody marked any.
    """

    answer_id: str
    reviewer: str
    at: datetime
    opinion: Opinion
    hallucinated: bool | None
    kind: Kind | None = None
    spans: tuple[Span, ...] | None = None
    note: str = ""
    source: str = "api"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How two reviewers agree about the ``answers`` that both decided; see ``statistics.kappa``."""

    first: str
    second: str
    answers: int
    agreed: int
    kappa: float | None


def checked(
    opinion: Opinion | str,
    verdict: bool | None,
    *,
    reviewer: str,
    hallucinated: bool | None,
    kind: Kind | str | None,
    spans: Iterable[Span | tuple[int, int]] | None,
    source: str,
    answer: str | None,
) -> dict[str, Any]:
    """The columns of a feedback. Raises InputError, naming what is wrong."""
    if opinion not in list(Opinion):
        raise InputError(
            f"opinion must be one of {', '.join(repr(str(o)) for o in Opinion)}, not {opinion!r}"
        )
    reviewer_of(reviewer)
    _named("source", source, _LONGEST_SOURCE)
    implied = _implied(Opinion(opinion), verdict)
    hallucinated = _truth(hallucinated)
    if implied is not None and hallucinated is not None and implied is not hallucinated:
        raise InputError(
            f"to {opinion} with this verdict says hallucinated={implied}, and {hallucinated} was given: "
            "leave it out, or change the opinion"
        )
    marked = None if spans is None else [_span(span, answer) for span in _listed(spans)]
    return {
        "reviewer": reviewer,
        "opinion": str(Opinion(opinion)),
        "hallucinated": implied if hallucinated is None else hallucinated,
        "kind": None if kind is None else str(_kind(kind)),
        "spans": None if marked is None else json.dumps(marked),
        "source": source,
    }


def reviewer_of(reviewer: str) -> str:
    """A reviewer's name. Raises InputError for what is none."""
    return _named("reviewer", reviewer, _LONGEST_NAME)


def read(row: Mapping[str, Any]) -> Feedback:
    """The feedback of a row."""
    return Feedback(
        answer_id=row["answer_id"],
        reviewer=row["reviewer"],
        at=moment(row["at"]),
        opinion=Opinion(row["opinion"]),
        hallucinated=row["hallucinated"],
        kind=Kind(row["kind"]) if row["kind"] else None,
        spans=None if row["spans"] is None else tuple(Span(s, e) for s, e in json.loads(row["spans"])),
        note=row["note"],
        source=row["source"],
    )


def truth() -> sa.Subquery:
    """For each reviewed answer: how many reviewed it, and what most hold; null where they are even."""
    lean = sa.func.sum(
        sa.case(
            (feedback.c.hallucinated.is_(sa.true()), 1),
            (feedback.c.hallucinated.is_(sa.false()), -1),
            else_=0,
        )
    )
    real = sa.case((lean > 0, sa.true()), (lean < 0, sa.false()), else_=sa.null())
    return (
        sa.select(
            feedback.c.answer_id,
            sa.func.count().label("reviews"),
            sa.type_coerce(real, sa.Boolean).label("real"),
        )
        .group_by(feedback.c.answer_id)
        .subquery("truth")
    )


def agreements(connection: sa.Connection, wanted: Filter) -> tuple[Agreement, ...]:
    """How each two reviewers agree, those with most in common first."""
    query = (
        sa.select(feedback.c.answer_id, feedback.c.reviewer, feedback.c.hallucinated)
        .join(answers, answers.c.id == feedback.c.answer_id)
        .where(feedback.c.hallucinated.is_not(None), *wanted.conditions())
    )
    said: dict[str, dict[str, bool]] = defaultdict(dict)
    for answer, reviewer, real in connection.execute(query):
        said[answer][reviewer] = real
    both: dict[tuple[str, str], list[tuple[bool, bool]]] = defaultdict(list)
    for opinions in said.values():
        for first, second in combinations(sorted(opinions), 2):
            both[first, second].append((opinions[first], opinions[second]))
    told = [_agreement(names, pairs) for names, pairs in both.items()]
    return tuple(sorted(told, key=lambda one: (-one.answers, one.first, one.second)))


def _agreement(names: tuple[str, str], pairs: Sequence[tuple[bool, bool]]) -> Agreement:
    return Agreement(
        first=names[0],
        second=names[1],
        answers=len(pairs),
        agreed=sum(a == b for a, b in pairs),
        kappa=kappa([a for a, _ in pairs], [b for _, b in pairs]),
    )


def _named(name: str, value: str, longest: int) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= longest or kept_text(value) != value:
        raise InputError(f"{name} must be a name of 1 to {longest} characters, not {value!r:.60}")
    return value


def _implied(opinion: Opinion, verdict: bool | None) -> bool | None:
    if verdict is None or opinion is Opinion.UNSURE:
        return None
    return verdict if opinion is Opinion.AGREE else not verdict


def _kind(kind: Kind | str) -> Kind:
    if kind not in list(Kind):
        raise InputError(f"kind must be one of {', '.join(repr(str(k)) for k in Kind)}, not {kind!r}")
    return Kind(kind)


def _truth(hallucinated: Any) -> bool | None:
    """What was given, also as a table's 0 or 1; of a "no" it is not clear whether it is a yes."""
    if hallucinated is None:
        return None
    if not isinstance(hallucinated, Integral | np.bool_) or hallucinated not in {0, 1}:
        raise InputError(f"hallucinated must be True, False or None, not {hallucinated!r:.60}")
    return bool(hallucinated)


def _listed(spans: object) -> Iterable[object]:
    if isinstance(spans, str) or not isinstance(spans, Iterable):
        raise InputError(f"spans must be a list of spans, not {spans!r:.60}")
    return spans


def _span(span: object, answer: str | None) -> tuple[int, int]:
    given = (span.start, span.end) if isinstance(span, Span) else span
    if not isinstance(given, list | tuple) or [isinstance(one, Integral) for one in given] != [True, True]:
        raise InputError(f"a span must be a Span or (start, end) in characters, not {span!r:.60}")
    start, end = map(int, given)
    if answer is None or not 0 <= start < end <= len(answer):
        length = "no text" if answer is None else f"{len(answer)} characters"
        raise InputError(f"a span must lie inside the answer of {length}, not {start} to {end}")
    return start, end
