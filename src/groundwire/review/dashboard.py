"""The monitor's figures as charts. The monitor reckons all of them; here they are asked for and laid out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from groundwire.core.errors import InputError
from groundwire.monitor import (
    Agreement,
    Basis,
    Comparison,
    Effect,
    Figures,
    Filter,
    Group,
    Monitor,
    Pattern,
    Reviewed,
    Standing,
)
from groundwire.monitor.figures import EVERY
from groundwire.review import asked, charts
from groundwire.review.app_state import monitor_of
from groundwire.review.asked import Asked
from groundwire.review.pages import draw

COLUMNS = ("detector", "kind", "action")
"""What answers can be counted by beside their tags."""
_FIRST = ("application", "model", "retriever", "route", "prompt_version")
_MOST_VALUES = 100
_MOST_NAMES = 24
_MOST_PERIODS = 400
_SORTS = ("answers", "rate", "unjudged", "name")
_PRESETS = ((0, "Today"), (7, "7 days"), (30, "30 days"), (90, "90 days"))
_CUTS = 100
_DRIFTING = 30_000  # of the latest answers, among which alarms are looked for


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the address asks for beside answers: the period, the tag, the order, and two values to compare."""

    every: str
    by: str
    sort: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class Board:
    """Everything that the page shows. ``every`` and ``by`` are as asked for, or as fits what is kept.

    ``periods`` counts those that there are, of which ``over_time`` holds the latest; ``threshold`` is the
    one that was used last, None where nothing was judged.
    """

    figures: Figures
    every: str
    over_time: Sequence[Group]
    periods: int
    tags: Mapping[str, int]
    by: str
    groups: Sequence[Group]
    agreement: Sequence[Agreement]
    standing: Standing
    reviewed: Sequence[Reviewed]
    threshold: float | None
    comparison: Comparison | None


def dashboard(request: Request) -> Response:
    """The figures of the kept answers."""
    wants, choices = asked.read(request.query_params), _choices(request)
    board = _board(monitor_of(request), wants.wanted, choices)
    return draw(request, "dashboard.html.j2", section="Dashboard", **_shown(board, wants, choices))


def patterns(request: Request) -> Response:
    """What the detector's errors have in common; asked for by the page itself, for it takes a while."""
    wants = asked.read(request.query_params)
    found = monitor_of(request).patterns(wants.wanted)
    template = "patterns.html.j2" if "part" in request.query_params else "patterns_page.html.j2"
    return draw(
        request,
        template,
        section="Dashboard",
        asked=wants,
        patterns=_told(found),
        percent=charts.percent,
        whisker=charts.whisker,
    )


def _choices(request: Request) -> Choices:
    params = request.query_params
    every, sort = params.get("every", ""), params.get("sort", "")
    if every and every not in EVERY:
        raise InputError(f"every must be one of {', '.join(EVERY)}, not {every!r:.60}")
    if sort and sort not in _SORTS:
        raise InputError(f"sort must be one of {', '.join(_SORTS)}, not {sort!r:.60}")
    return Choices(
        every=every,
        by=params.get("by", "").strip(),
        sort=sort,
        before=params.get("before", ""),
        after=params.get("after", ""),
    )


# -- asking the monitor ----------------------------------------------------------------------------------


def _board(monitor: Monitor, wanted: Filter, choices: Choices) -> Board:
    """All figures, asked for at once: a database answers several questions on several connections."""

    def overall() -> tuple[Figures, str, tuple[Group, ...]]:
        figures = monitor.figures(wanted)
        every = choices.every or _fitting(figures)
        return figures, every, monitor.over_time(wanted, every=every)

    def where() -> tuple[dict[str, int], str, tuple[Group, ...]]:
        tags = monitor.tags()
        by = choices.by or _telling(tags)
        return tags, by, monitor.by(by, wanted)

    def compared() -> Comparison | None:
        if not (choices.by and choices.before and choices.after):
            return None
        sides = (_only(wanted, choices.by, value) for value in (choices.before, choices.after))
        return monitor.compare(*sides)

    with ThreadPoolExecutor() as threads:
        first, second = threads.submit(overall), threads.submit(where)
        third = threads.submit(compared)
        agreement = threads.submit(monitor.agreement, wanted)
        standing = threads.submit(monitor.standing, wanted, last=_DRIFTING)
        reviewed = threads.submit(monitor.thresholds, wanted)
        latest = threads.submit(monitor.page, replace(wanted, judged=True), limit=1)
        figures, every, over = first.result()
        tags, by, groups = second.result()
        lines = latest.result().lines
        return Board(
            figures=figures,
            every=every,
            over_time=over[-_MOST_PERIODS:],
            periods=len(over),
            tags=tags,
            by=by,
            groups=_sorted(groups, choices.sort),
            agreement=agreement.result(),
            standing=standing.result(),
            reviewed=reviewed.result(),
            threshold=lines[0].threshold if lines else None,
            comparison=third.result(),
        )


def _fitting(figures: Figures) -> str:
    """The period that makes a chart neither of three points nor of hundreds."""
    if figures.first is None or figures.last is None:
        return "day"
    span = figures.last - figures.first
    if span <= timedelta(days=3):
        return "hour"
    return "day" if span <= timedelta(days=120) else "week"


def _telling(tags: Mapping[str, int]) -> str:
    """The tag that most likely tells where answers hallucinate."""
    several = [name for name, values in tags.items() if 1 < values <= _MOST_VALUES]
    ordered = [name for name in _FIRST if name in several] + several
    return next(iter(ordered), "detector")


def _only(wanted: Filter, by: str, value: str) -> Filter:
    if by == "detector":
        return replace(wanted, detector=value)
    if by in COLUMNS:
        raise InputError(f"answers can be compared by a tag or by detector, not by {by}")
    return replace(wanted, tags={**wanted.tags, by: value})


def _sorted(groups: Sequence[Group], sort: str) -> list[Group]:
    if sort == "name":
        return sorted(groups, key=lambda one: one.name)
    if sort == "rate":
        return sorted(groups, key=lambda one: 1.0 if one.detection is None else -one.detection.value)
    if sort == "unjudged":
        return sorted(groups, key=lambda one: 0.0 if one.abstained is None else -one.abstained.value)
    return list(groups)


# -- laying it out ---------------------------------------------------------------------------------------


def _shown(board: Board, wants: Asked, choices: Choices) -> dict[str, Any]:
    """What the template is given."""
    own = {name: value for name, value in vars(choices).items() if value}

    def here(**more: Any) -> str:
        """Where the page with other choices is."""
        return f"/dashboard{wants.query(**{'queue': None, **own, **more})}"

    names = [name for name in _FIRST if name in board.tags]
    names += [name for name in board.tags if name not in names]
    top = charts.reach(group.detection for group in board.groups)
    return {
        "asked": wants,
        "board": board,
        "choices": choices,
        "own": own,
        "here": here,
        "presets": _presets(here, wants),
        "filters": [
            (name, value, f"/dashboard{_without(wants, name, value).query(**{'queue': None, **own})}")
            for name, values in wants.given.items()
            for value in values
        ],
        "names": names[:_MOST_NAMES],
        "more_names": len(names[_MOST_NAMES:]),
        "columns": COLUMNS,
        "most_values": _MOST_VALUES,
        "drifting": _DRIFTING,
        "over_time": charts.over_time(board.over_time, board.every, board.standing.alarms)
        if board.over_time
        else None,
        "groups": [_row(group, board.by, wants, own, top) for group in board.groups],
        "top": top,
        "levels": {level: board.figures.levels.get(level, 0) for level in ("low", "medium", "high")},
        "reviewed": [_told_of(one) for one in board.reviewed],
        "percent": charts.percent,
        "between": charts.between,
        "charts": charts,
        "p": _chance,
    }


def _presets(here: Any, wants: Asked) -> list[tuple[str, str, bool]]:
    """Periods to choose from: a name, where it leads, and whether it is the one shown."""
    today, found = datetime.now(UTC).date(), []
    for days, name in _PRESETS:
        since = (today - timedelta(days=days)).isoformat()
        found.append((name, here(since=since, until=None), wants.value("since") == since))
    return [*found, ("All", here(since=None, until=None), not wants.value("since"))]


def _without(wants: Asked, name: str, value: str) -> Asked:
    left = {n: tuple(v for v in values if (n, v) != (name, value)) for n, values in wants.given.items()}
    return replace(wants, given=left)


def _row(group: Group, by: str, wants: Asked, own: Mapping[str, str], top: float) -> dict[str, Any]:
    """A line of the table of where; ``here`` and ``answers`` lead to its own answers."""
    narrowed: Asked | None = None
    if by in {"detector", "kind"}:
        narrowed = replace(wants, given={**wants.given, by: (group.name,)}) if group.name else None
    elif by not in COLUMNS:
        tag = f"{by}={group.name}"
        tags = tuple(t for t in wants.given.get("tag", ()) if not t.startswith(f"{by}="))
        narrowed = replace(wants, given={**wants.given, "tag": (*tags, tag)})
    return {
        "group": group,
        "here": narrowed and f"/dashboard{narrowed.query(**{'queue': None, **own})}",
        "answers": narrowed and f"/answers{narrowed.query(queue=None)}",
        "bar": group.detection and charts.whisker(group.detection, top),
    }


def _told_of(one: Reviewed) -> dict[str, Any]:
    """A detector's reviewed answers: its charts, the effect of its threshold, and the data of the slider."""
    cuts = sorted({step / _CUTS for step in range(_CUTS + 1)} | {one.threshold})
    effects = [one.at(cut) for cut in cuts]
    used = effects[cuts.index(one.threshold)]
    data = {
        "cuts": cuts,
        "used": cuts.index(one.threshold),
        "best": _best(effects),
        "fair": one.basis is Basis.FAIR,
        "from": one.known_from,
        "scores": one.scores.tolist(),
        "real": [int(real) for real in one.hallucinated],
        "flagged": [0 if effect.flagged is None else effect.flagged.count for effect in effects],
        "judged": len(one.judged),
    }
    return {
        "of": one,
        "effect": used,
        "data": json.dumps(data, separators=(",", ":")),
        "last": len(cuts) - 1,
        "used": data["used"],
        "scores": charts.decided(one),
        "curves": charts.curves(one, effects),
        "table": [effect for i, effect in enumerate(effects) if i % 5 == 0 or effect is used],
    }


def _best(effects: Sequence[Effect]) -> int | None:
    """Which effect has the highest F1, the middle one of several alike; None where F1 is not known."""
    known = [(i, effect.f1.value) for i, effect in enumerate(effects) if effect.f1 is not None]
    highest = max((value for _, value in known), default=0.0)
    alike = [i for i, value in known if value == highest]
    return alike[len(alike) // 2] if highest > 0 else None


def _told(found: Sequence[Pattern]) -> list[dict[str, Any]]:
    top = charts.reach(one.here for one in found)
    return [{"of": one, "bar": charts.whisker(one.here, top), "p": _chance(one.p)} for one in found]


def _chance(p: float | None) -> str:
    """A chance as people read it."""
    if p is None:
        return "–"
    return "below 0.0001" if p < 1e-4 else f"{p:.2g}"


ROUTES: list[BaseRoute] = [
    Route("/dashboard", dashboard, name="dashboard"),
    Route("/dashboard/patterns", patterns),
]
