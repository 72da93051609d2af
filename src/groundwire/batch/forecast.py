"""What a batch would take of its models, told from a sample of its rows before anything is paid for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from groundwire.batch.plan import Plan, Unit
from groundwire.batch.work import Task, rows
from groundwire.core.detector import Detector
from groundwire.judge.dry_run import Estimate, estimate
from groundwire.judge.limits import Limits
from groundwire.judge.prices import Price
from groundwire.tables import Row

SAMPLE = 1_000  # rows
_SAMPLE_READ = 100  # where an encoder reads them to tell whether a model would be asked
_UNITS = 50
_Z = 1.96


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What judging ``rows`` rows takes at least, as ``sampled`` of them say.

    ``margin`` is how far the tokens and the cost may be off either way, as a share, 95 times in 100; 0 where
    every row was looked at, None where too little was. ``minutes`` is the time that the limits of the rate
    alone ask for.
    """

    rows: int
    sampled: int
    calls: int
    input_tokens: int
    output_tokens: int
    embedding_calls: int
    embedding_tokens: int
    cost: float | None
    margin: float | None
    minutes: float


def forecast(
    plan: Plan,
    units: Sequence[Unit],
    detector: Detector,
    *,
    prices: Mapping[str, Price],
    limits: Limits | None = None,
    sample: int | None = None,
    again: Mapping[int, int] | None = None,
    read_again: Callable[[Unit], Iterable[Row]] | None = None,
) -> Forecast:
    """What judging these units would take. No model is asked; rows that can't be read take nothing.

    ``again`` says of how many rows of a unit only these are judged, which ``read_again`` reads; all others
    are judged whole.
    """
    known = again or {}

    def read(unit: Unit) -> Iterable[Row]:
        return read_again(unit) if read_again and unit.number in known else _rows(plan, unit)

    counts = [known[unit.number] if unit.number in known else _rows_of(plan, unit) for unit in units]
    sample = sample or (_SAMPLE_READ if detector.needs_encoder else SAMPLE)
    chosen = _spread(units, _UNITS)
    each = math.ceil(sample / max(1, len(chosen)))
    told: list[tuple[int, Estimate]] = []
    for unit in chosen:
        seen = list(itertools.islice(read(unit), each))
        readable = (row.interaction for row in seen if row.interaction is not None)
        told.append((len(seen), estimate(detector, readable, prices=prices)))
    whole, sampled = sum(counts), sum(size for size, _ in told)
    scale = whole / sampled if sampled else 0.0
    calls = round(scale * sum(one.calls for _, one in told))
    tokens = round(scale * sum(one.input_tokens for _, one in told))
    replies = round(scale * sum(one.output_tokens for _, one in told))
    costs = [one.cost for _, one in told if one.cost is not None]
    cost = scale * sum(costs) if len(costs) == len(told) else None
    return Forecast(
        rows=whole,
        sampled=sampled,
        calls=calls,
        input_tokens=tokens,
        output_tokens=replies,
        embedding_calls=round(scale * sum(one.embedding_calls for _, one in told)),
        embedding_tokens=round(scale * sum(one.embedding_tokens for _, one in told)),
        cost=cost,
        margin=0.0 if sampled >= whole else _margin([(size, one.input_tokens) for size, one in told]),
        minutes=_minutes(limits, calls, tokens + replies),
    )


def _margin(told: Iterable[tuple[int, int]]) -> float | None:
    """The half width of the interval of a total, as a share of it: a ratio estimated from clusters."""
    pairs = [(size, tokens) for size, tokens in told if size]
    size, tokens = sum(n for n, _ in pairs), sum(t for _, t in pairs)
    if len(pairs) < 2 or not tokens:
        return None
    ratio, k = tokens / size, len(pairs)
    variance = sum((t - ratio * n) ** 2 for n, t in pairs) / (k - 1) * k
    return _Z * math.sqrt(variance) / tokens


def _minutes(limits: Limits | None, calls: int, tokens: int) -> float:
    if limits is None:
        return 0.0
    bounds = ((calls, limits.requests_per_minute), (tokens, limits.tokens_per_minute))
    return max((amount / most for amount, most in bounds if most), default=0.0)


def _spread(units: Sequence[Unit], most: int) -> list[Unit]:
    """So many of the units, evenly spread."""
    if len(units) <= most:
        return list(units)
    return [units[at * len(units) // most] for at in range(most)]


def _rows(plan: Plan, unit: Unit) -> Iterable[Row]:
    return rows(Task(unit=unit, input=plan.inputs[unit.input]))


def _rows_of(plan: Plan, unit: Unit) -> int:
    return unit.piece.rows if unit.piece.rows is not None else sum(1 for _ in _rows(plan, unit))
