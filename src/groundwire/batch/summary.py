"""The summary of a batch: counts, rates, what could not be judged, what took longest; as JSON and as a page.

It is made of what each part tells of itself, so it is right however often the job was stopped, and by whom.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from groundwire import __version__
from groundwire.batch.plan import Plan, Unit
from groundwire.batch.stats import Stats, total
from groundwire.core.errors import MissingExtraError
from groundwire.monitor.statistics import Rate, rate
from groundwire.report.entries import KINDS, Group
from groundwire.report.histogram import bars
from groundwire.report.visible import escaped

_SLOWEST = 10
_LISTED = 100  # failures that the page names


@dataclass(frozen=True, kw_only=True)
class UnitTold:
    """A unit as a reader knows it: its file and its first line, or first row in Parquet."""

    unit: int
    file: str
    line: int
    rows: int | None
    seconds: float | None = None
    failure: str = ""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What came of a batch until now.

    ``stats`` is of every part that is there, ``now`` of those that this run wrote, in ``seconds`` of the
    clock. ``complete`` says that each unit has its part. ``stopped`` says why units were not begun; '' where
    all were. ``hallucinated`` is the share among judged rows, ``not_judged`` among all, each with an interval
    that takes rows for independent. ``written`` are the files of the folder that hold it.
    """

    stats: Stats
    now: Stats
    seconds: float
    units: int
    done: int
    failures: tuple[UnitTold, ...]
    slowest: tuple[UnitTold, ...]
    stopped: str
    made_by: Mapping[str, Any]
    fingerprint: str
    inputs: int
    empty: tuple[str, ...]
    columns: Mapping[str, str]
    written: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return self.done == self.units

    @property
    def hallucinated(self) -> Rate | None:
        """The share of hallucinated answers among those that were judged."""
        return rate(self.stats[Group.HALLUCINATED], self.stats.rows - self.stats[Group.NOT_JUDGED])

    @property
    def not_judged(self) -> Rate | None:
        """The share of rows that could not be judged."""
        return rate(self.stats[Group.NOT_JUDGED], self.stats.rows)

    @property
    def speed(self) -> float:
        """Rows a second, in this run."""
        return self.now.rows / self.seconds if self.seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """As it stands in summary.json."""
        stats = self.stats
        return {
            "groundwire": __version__,
            "complete": self.complete,
            "stopped": self.stopped,
            "rows": stats.rows,
            **{str(group).replace(" ", "_"): stats[group] for group in Group},
            "rates": {
                "hallucinated": self.hallucinated and asdict(self.hallucinated),
                "not_judged": self.not_judged and asdict(self.not_judged),
            },
            "abstentions": dict(sorted(stats.abstentions.items())),
            "scores": {"low": 0, "high": 1, "bins": stats.bins, "levels": ["low", "medium", "high"]},
            "usage": {
                "calls": stats.calls,
                "input_tokens": stats.input_tokens,
                "output_tokens": stats.output_tokens,
                "cost": stats.cost,
            },
            "units": {"all": self.units, "done": self.done, "failed": len(self.failures)},
            "failures": [asdict(one) for one in self.failures],
            "slowest": [asdict(one) for one in self.slowest],
            "this_run": {
                "rows": self.now.rows,
                "seconds": round(self.seconds, 3),
                "rows_per_second": round(self.speed, 3),
            },
            "inputs": {"files": self.inputs, "empty": list(self.empty), "columns": dict(self.columns)},
            "made_by": dict(self.made_by),
            "fingerprint": self.fingerprint,
        }


def summary_of(
    plan: Plan,
    done: Mapping[int, Stats],
    *,
    now: Stats,
    seconds: float,
    failures: Mapping[int, str],
    stopped: str,
) -> Summary:
    """The summary of what is done of a plan."""
    slowest = sorted(done, key=lambda unit: done[unit].seconds, reverse=True)[:_SLOWEST]
    return Summary(
        stats=total(done.values()),
        now=now,
        seconds=seconds,
        units=len(plan.units),
        done=len(done),
        failures=tuple(_told(plan, plan.units[unit], failure=why) for unit, why in sorted(failures.items())),
        slowest=tuple(
            _told(plan, plan.units[unit], rows=done[unit].rows, seconds=done[unit].seconds)
            for unit in slowest
        ),
        stopped=stopped,
        made_by=plan.made_by,
        fingerprint=plan.fingerprint,
        inputs=len(plan.inputs),
        empty=tuple(one.shown for one in plan.empty),
        columns=plan.inputs[0].columns,
    )


def write(summary: Summary) -> list[bytes]:
    """The summary as JSON, and as a page where what draws one is installed."""
    told = escaped(json.dumps(summary.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)) + "\n"
    try:
        return [told.encode(), render(summary).encode()]
    except MissingExtraError:
        return [told.encode()]


def render(summary: Summary) -> str:
    """The page as text. Raises MissingExtraError without ``groundwire[report]``."""
    from groundwire.report.page import asset, filled, policy  # noqa: PLC0415 - needs the extra, and says so

    own = files("groundwire.batch")
    style = asset("page.css") + own.joinpath("summary.css").read_text(encoding="utf-8")
    return filled(
        own.joinpath("summary.html.j2").read_text(encoding="utf-8"),
        told=summary,
        style=style,
        policy=policy(style, ""),
        tiles=_tiles(summary),
        bars=bars(summary.stats.bins),
        failures=summary.failures[:_LISTED],
        version=__version__,
    )


def _told(plan: Plan, unit: Unit, **known: Any) -> UnitTold:
    piece = unit.piece
    line = piece.above + (2 if piece.head else 1)
    file = plan.inputs[unit.input].source.shown
    return UnitTold(unit=unit.number, file=file, line=line, **{"rows": piece.rows, **known})


def _tiles(summary: Summary) -> list[dict[str, Any]]:
    stats = summary.stats
    judged = stats.rows - stats[Group.NOT_JUDGED]
    tiles = [{"kind": "all", "count": stats.rows, "name": "rows", "share": ""}]
    for group, kind in KINDS.items():
        of = stats.rows if group is Group.NOT_JUDGED else judged
        known = rate(stats[group], of)
        share = f"{known.value:.1%} [{known.low:.1%}, {known.high:.1%}]" if known else ""
        tiles.append({"kind": kind, "count": stats[group], "name": str(group), "share": share})
    return tiles
