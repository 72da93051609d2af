"""The dashboard's charts as SVG. Numbers come in, a picture goes out; nothing here asks the store.

A chart whose words would be too small on a phone is drawn twice, and the page shows the one that fits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from html import escape

import numpy as np
from markupsafe import Markup

from groundwire.monitor import Alarm, Effect, Group, Rate, Reviewed
from groundwire.monitor.figures import EVERY
from groundwire.monitor.statistics import Floats
from groundwire.report.drawing import Plane, bars, svg, text, tick

BINS = 20
_TOPS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
_DOTS = 45  # periods up to which each has a dot
_SCORES = Plane(width=380, height=150, left=8, right=8, top=8, bottom=22)
_CURVES = Plane(width=380, height=230, left=34, right=10, top=10, bottom=26)


def percent(share: float) -> str:
    """A share as people read it: a decimal where it tells something, and none or all only where it is."""
    value = 100.0 * share
    if 0 < value < 0.05:
        return "< 0.1 %"
    if 99.95 <= value < 100:
        return "> 99.9 %"
    return f"{value:.0f} %" if value.is_integer() else f"{_tenth(value)} %"


def between(rate: Rate) -> str:
    """The interval of a rate, in per cent."""
    return f"{_tenth(100 * rate.low)} to {_tenth(100 * rate.high)} %"


def _tenth(value: float) -> Decimal:
    """Rounded as the page's script does it: 81.25 up, and not to the even digit."""
    return Decimal(value).quantize(Decimal("0.1"), ROUND_HALF_UP)


# -- over time -------------------------------------------------------------------------------------------


def over_time(groups: Sequence[Group], every: str, alarms: Sequence[Alarm]) -> tuple[Markup, Markup]:
    """The share of hallucinated answers with its interval, of unjudged ones, alarms, and how many answers.

    Drawn wide, and narrow.
    """
    wide = Plane(width=1120, height=300, left=48, right=16, top=22, bottom=76)
    narrow = Plane(width=360, height=300, left=40, right=12, top=22, bottom=76)
    return _over_time(groups, every, alarms, wide, 7), _over_time(groups, every, alarms, narrow, 3)


def _over_time(
    groups: Sequence[Group], every: str, alarms: Sequence[Alarm], plane: Plane, labels: int
) -> Markup:
    step = EVERY[every]
    begins = [group.begins for group in groups if group.begins is not None]
    whole = (begins[-1] - begins[0] + step) / timedelta(seconds=1)

    def across(at: datetime) -> float:
        return (at - begins[0]) / timedelta(seconds=1) / whole

    top = _top(groups)
    places = [across(at + step / 2) for at in begins]
    half = step / timedelta(seconds=1) / whole / 2
    parts = [_scale(plane, top), _strip(plane, groups, places, half, every)]
    shown = np.unique(np.linspace(0, len(begins) - 1, min(labels, len(begins))).round().astype(int))
    for at in shown:
        anchor = "middle" if 0 < at < len(begins) - 1 or len(begins) == 1 else ("end" if at else "start")
        place = places[at] if anchor == "middle" else float(at > 0)
        parts.append(text(plane.x(place), plane.height - 6, _when(begins[at], every), anchor=anchor))
    for run in _runs(begins, groups, step, "abstained"):
        points = [(places[i], min(1.0, _of(groups[i].abstained).value / top)) for i in run]
        parts.append(_stroke(plane, points, "unjudged", half))
    for run in _runs(begins, groups, step, "detection"):
        rates = [_of(groups[i].detection) for i in run]
        xs = [places[i] for i in run]
        if len(run) == 1:
            xs, rates = [xs[0] - 0.6 * half, xs[0] + 0.6 * half], rates * 2
        upper = [(x, min(1.0, rate.high / top)) for x, rate in zip(xs, rates, strict=True)]
        lower = [(x, min(1.0, rate.low / top)) for x, rate in zip(xs, rates, strict=True)]
        parts.append(f'<path class="band" d="{plane.line([*upper, *lower[::-1]])}Z"/>')
        points = [(x, min(1.0, rate.value / top)) for x, rate in zip(xs, rates, strict=True)]
        parts.append(f'<path class="rate" d="{plane.line(points)}"/>')
        if len(groups) <= _DOTS:
            dots = [(places[i], _of(groups[i].detection).value / top) for i in run]
            parts += [f'<circle class="dot" cx="{plane.x(x)}" cy="{plane.y(y)}" r="3"/>' for x, y in dots]
    parts.append(_alarms(plane, [(across(alarm.at), alarm) for alarm in alarms]))
    title = f"Share of hallucinated answers by {every}; the table below says the same"
    return Markup(svg(title, plane.width, plane.height, "".join(parts)))  # noqa: S704 - escaped above


def _alarms(plane: Plane, placed: Sequence[tuple[float, Alarm]]) -> str:
    """A line for each alarm, and its number where there is room."""
    parts, last = [], -math.inf
    for number, (place, alarm) in enumerate(placed, 1):
        if not 0 <= place <= 1:
            continue
        x, y = plane.x(place), plane.y(1)
        named = ""
        if x - last > 18:
            named = f'<circle cx="{x}" cy="{y - 9}" r="8.5"/>{text(x, round(y - 5, 1), str(number))}'
            last = x
        parts.append(
            f'<g class="alarm"><title>Alarm {number}: {escape(alarm.message)}</title>'
            f'<path d="M{x} {y - 2}V{plane.y(0)}"/>{named}</g>'
        )
    return "".join(parts)


def _strip(plane: Plane, groups: Sequence[Group], places: Sequence[float], half: float, every: str) -> str:
    """How many answers each period has, and what pointing at a period says."""
    base, tall = plane.height - 24, 30
    most = max(group.answers for group in groups)
    width = max(1.0, 2 * half * (plane.x(1) - plane.x(0)))
    parts = []
    for group, place in zip(groups, places, strict=True):
        size, left = max(1.0, tall * group.answers / most), plane.x(place) - width / 2
        told = [f"{group.name}{' UTC' if every == 'hour' else ''}"]
        if group.detection is not None:
            told.append(f"{percent(group.detection.value)} hallucinated ({between(group.detection)})")
        if group.abstained is not None and group.abstained.count:
            told.append(f"{percent(group.abstained.value)} not judged")
        told.append(f"{group.answers:,} answer{'s' * (group.answers != 1)}")
        parts.append(
            f'<g class="period"><title>{escape("; ".join(told))}</title>'
            f'<rect class="aim" x="{left:.1f}" y="{plane.y(1)}" width="{width:.1f}" '
            f'height="{base - plane.y(1):.1f}"/><rect class="count" x="{left + width * 0.1:.1f}" '
            f'y="{base - size:.1f}" width="{width * 0.8:.1f}" height="{size:.1f}"/></g>'
        )
    return f'{"".join(parts)}<path class="axis" d="M{plane.x(0)} {base}H{plane.x(1)}"/>'


def _scale(plane: Plane, top: float) -> str:
    parts = []
    for part in (0, 0.5, 1):
        y = plane.y(part)
        parts.append(f'<path class="grid" d="M{plane.x(0)} {y}H{plane.x(1)}"/>')
        parts.append(text(plane.x(0) - 7, y + 4, f"{100 * top * part:.3g} %", anchor="end"))
    return "".join(parts)


def _stroke(plane: Plane, points: list[tuple[float, float]], kind: str, half: float) -> str:
    if len(points) == 1:
        (x, y) = points[0]
        points = [(x - 0.6 * half, y), (x + 0.6 * half, y)]
    return f'<path class="{kind}" d="{plane.line(points)}"/>'


def _top(groups: Sequence[Group]) -> float:
    """Where the scale ends: above every share, and above most intervals; a few answers tell little."""
    rates = [one for group in groups for one in (group.detection, group.abstained) if one is not None]
    highs = sorted(group.detection.high for group in groups if group.detection is not None)
    need = max([one.value for one in rates] + highs[: 1 + int(0.9 * (len(highs) - 1))], default=0.0)
    return next(top for top in _TOPS if top >= need)


def _runs(begins: Sequence[datetime], groups: Sequence[Group], step: timedelta, what: str) -> list[list[int]]:
    """Periods that follow on each other and have a figure; a line does not cross what nobody knows."""
    runs: list[list[int]] = []
    last: datetime | None = None
    for i, group in enumerate(groups):
        if getattr(group, what) is None:
            continue
        if last is None or begins[i] - last > step:
            runs.append([])
        runs[-1].append(i)
        last = begins[i]
    return runs


def _of(rate: Rate | None) -> Rate:
    assert rate is not None, "a run has no period without a figure"
    return rate


def _when(at: datetime, every: str) -> str:
    return f"{at:%b} {at.day} {at:%H:%M}" if every == "hour" else f"{at:%b} {at.day}"


# -- shares ----------------------------------------------------------------------------------------------


def shares(counts: Mapping[str, int], title: str) -> Markup:
    """One bar, divided by how many there are of each; a name is its part's class."""
    whole, x, parts = sum(counts.values()), 0.0, []
    for name, count in counts.items():
        width = 100 * count / whole
        if count:
            parts.append(
                f'<rect class="{escape(name)}" x="{x:.2f}" y="0" width="{max(0.2, width - 0.3):.2f}" '
                f'height="10"><title>{escape(name)}: {count:,}, {percent(count / whole)}</title></rect>'
            )
        x += width
    inside = "".join(parts)
    return Markup(  # noqa: S704 - escaped above
        f'<svg class="shares" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(title)}">{inside}</svg>'
    )


def whisker(rate: Rate, top: float = 1.0, *, bar: bool = True) -> Markup:
    """A rate as a bar with its interval as a line; the words beside it say the same."""
    value, low, high = (round(200 * min(1.0, part / top), 1) for part in (rate.value, rate.low, rate.high))
    filled = f'<rect class="fill" x="0" y="5" width="{max(value, 0.8)}" height="10"/>' if bar else ""
    return Markup(  # noqa: S704 - numbers only
        f'<svg class="interval" viewBox="0 0 200 20" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="track" x="0" y="5" width="200" height="10"/>{filled}'
        f'<path class="whisker" d="M{low} 10H{high}M{low} 6.5V13.5M{high} 6.5V13.5"/></svg>'
    )


def reach(rates: Iterable[Rate | None]) -> float:
    """The end of a scale on which several rates are compared."""
    need = max((rate.high for rate in rates if rate is not None), default=1.0)
    return next(top for top in _TOPS if top >= need)


# -- scores ----------------------------------------------------------------------------------------------


def histogram(counts: Sequence[int], threshold: float | None) -> Markup:
    """How many answers have which score; those from the threshold on would be flagged."""
    plane, base = _SCORES, 128
    parts = []
    cut = len(counts) if threshold is None else int(np.ceil(threshold * len(counts) - 1e-9))
    for kind, some in (("under", [*counts[:cut]]), ("over", [*[0] * cut, *counts[cut:]])):
        padded = [*some, *[0] * (len(counts) - len(some))]
        if any(padded):
            tall = 116 * max(padded) / max(counts)
            parts.append(bars(plane, padded, kind, middle=base, tall=tall, up=True, what="answers"))
    parts.append(_axis(plane, base))
    if threshold is not None:
        parts.append(f'<path class="cut" d="M{plane.x(threshold)} 4V{base}"/>')
    return Markup(svg("How many answers have which score", plane.width, plane.height, "".join(parts)))  # noqa: S704


def beside(reference: Floats, latest: Floats) -> Markup:
    """The scores of the reference and the latest ones, each as shares of its own."""
    plane, base, drawn = _SCORES, 128, []
    then, now = (np.array(side) for side in zip(*binned(reference, latest), strict=True))
    highest = max(float(then.max()), float(now.max())) or 1.0
    for kind, shares, name in (("then", then, "first answers"), ("now", now, "latest answers")):
        points = [f"M{plane.x(0)} {base}"]
        for at, share in enumerate(shares):
            y = round(base - 116 * float(share) / highest, 1)
            points.append(f"L{plane.x(at / BINS)} {y}L{plane.x((at + 1) / BINS)} {y}")
        drawn.append(
            f'<path class="{kind}" d="{"".join(points)}L{plane.x(1)} {base}"><title>{name}</title></path>'
        )
    title = "Scores of the first answers and of the latest"
    return Markup(svg(title, plane.width, plane.height, "".join(drawn) + _axis(plane, base)))  # noqa: S704


def binned(reference: Floats, latest: Floats) -> list[tuple[float, float]]:
    """What share of the first scores, and of the latest, lies in each bin."""
    known = [values[~np.isnan(values)] for values in (reference, latest)]
    then, now = (np.histogram(values, bins=BINS, range=(0, 1))[0] / max(1, len(values)) for values in known)
    return [(float(first), float(last)) for first, last in zip(then, now, strict=True)]


def decided(one: Reviewed) -> Markup:
    """Scores of the reviewed answers: hallucinated ones upwards, the others downwards."""
    plane, middle = Plane(width=380, height=190, left=34, right=10, top=8, bottom=24), 84
    real = np.array(one.hallucinated, dtype=bool)
    up, down = (np.histogram(one.scores[kind], bins=BINS, range=(0, 1))[0] for kind in (real, ~real))
    tallest = max(int(up.max()), int(down.max()), 1)
    parts = [
        bars(
            plane,
            [int(n) for n in counts],
            kind,
            middle=middle,
            tall=74 * int(counts.max()) / tallest,
            up=kind == "hallucinated",
            what=kind,
        )
        for kind, counts in (("hallucinated", up), ("grounded", down))
    ]
    parts.append(f'<path class="axis" d="M{plane.x(0)} {middle}H{plane.x(1)}"/>')
    parts += [text(plane.x(value), plane.height - 6, tick(value)) for value in (0, 0.5, 1)]
    parts.append(_cursor(plane, one.threshold, 6, 162))
    title = "Scores of reviewed answers: hallucinated upwards, grounded downwards"
    return Markup(svg(title, plane.width, plane.height, "".join(parts)))  # noqa: S704


def curves(one: Reviewed, effects: Sequence[Effect]) -> Markup:
    """Precision, recall and F1 at every threshold, as far as they are known."""
    plane, parts = _CURVES, [_CURVES.grid()]
    for name in ("precision", "recall", "f1"):
        points = [
            (effect.threshold, rate.value)
            for effect in effects
            if (rate := getattr(effect, name)) is not None and 0 <= effect.threshold <= 1
        ]
        if points:
            parts.append(f'<path class="curve {name}" d="{plane.line(points)}"/>')
    parts.append(_cursor(plane, one.threshold, plane.y(1), plane.y(0)))
    return Markup(  # noqa: S704
        svg("Precision, recall and F1 at every threshold", plane.width, plane.height, "".join(parts))
    )


def _cursor(plane: Plane, at: float, top: float, bottom: float) -> str:
    """The line that the slider moves: from ``data-x0``, ``data-width`` across."""
    width = round(plane.x(1) - plane.x(0), 1)
    return (
        f'<path class="cut used" d="M{plane.x(at)} {top}V{bottom}"/>'
        f'<path class="cut moved" data-x0="{plane.x(0)}" data-width="{width}" '
        f'transform="translate({plane.x(at)} 0)" d="M0 {top}V{bottom}"/>'
    )


def _axis(plane: Plane, base: float) -> str:
    ticks = [text(plane.x(0), base + 16, "0", anchor="start"), text(plane.x(0.5), base + 16, ".5")]
    ticks.append(text(plane.x(1), base + 16, "1", anchor="end"))
    return f'<path class="axis" d="M{plane.x(0)} {base}H{plane.x(1)}"/>{"".join(ticks)}'
