"""The HTML report: one self-contained page that loads nothing and runs only its own script.

Needs the extra ``report``. Autoescaping is on for every value; the page's content security policy names
its style and script by their hashes, so that nothing else could run even if escaping failed.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from groundwire import __version__
from groundwire.core import whole
from groundwire.core.errors import MissingExtraError
from groundwire.core.grading import WORDING, Level
from groundwire.core.verdict import Verdict
from groundwire.report.cards import Card, card
from groundwire.report.entries import KINDS, Entry, Judged
from groundwire.report.histogram import BINS, LEVELS, Bar, bars, bin_of
from groundwire.report.tally import Tally
from groundwire.report.visible import one_line

try:
    from jinja2 import Environment, StrictUndefined
except ImportError as error:
    raise MissingExtraError("the HTML report", package="jinja2", extra="report") from error


def render(judged: Iterable[Judged], *, title: str = "Answers and their evidence", note: str = "") -> str:
    """The page as text, the highest scores first. ``note`` is a line under the title."""
    entries = [Entry.of(one) for one in judged]
    tally = Tally()
    for entry in entries:
        tally.add(entry)
    cards = [card(entry, order) for order, entry in enumerate(entries)]
    cards.sort(key=lambda one: -1.0 if one.percent is None else one.percent, reverse=True)
    style, script = asset("page.css"), asset("page.js")
    return filled(
        asset("page.html.j2"),
        title=one_line(title),
        note=one_line(note),
        style=style,
        script=script,
        policy=policy(style, script),
        tiles=_tiles(tally),
        reasons=[(str(why), count) for why, count in tally.reasons.most_common()],
        agreement=tally.agreement(),
        histogram=_histogram(entries, tally),
        chips=_chips(entries, cards),
        cards=cards,
        opened=_opened(cards),
        detectors=_detectors(entries),
        version=__version__,
    )


def write(
    path: str | Path, judged: Iterable[Judged], *, title: str = "Answers and their evidence", note: str = ""
) -> Path:
    """Write the page, in UTF-8, and return its path."""
    path = Path(path)
    whole.write(path, render(judged, title=title, note=note))
    return path


def filled(template: str, **values: object) -> str:
    """A page from its template. Every value is escaped; the filter ``line`` makes one line of a text."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["line"] = one_line
    return environment.from_string(template).render(values)


def asset(name: str) -> str:
    """The text of a file that is shipped with the report, such as its style."""
    return files("groundwire.report").joinpath(name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """The content security policy under which this style and this script run, and nothing else."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tile:
    kind: str
    count: int
    name: str
    share: str


def _tiles(tally: Tally) -> list[_Tile]:
    whole = tally.answers
    noun = "answer" if whole == 1 else "answers"
    return [
        _Tile(kind="all", count=whole, name=noun, share=""),
        *(
            _Tile(
                kind=kind,
                count=tally[group],
                name=str(group),
                share=f"{tally[group] / whole:.0%}" if whole else "",
            )
            for group, kind in KINDS.items()
        ),
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Histogram:
    bars: tuple[Bar, ...]
    threshold: float | None
    told: str


def _histogram(entries: Sequence[Entry], tally: Tally) -> _Histogram | None:
    """How the scores spread over [0, 1], each column split by level. None when nothing has a score."""
    bins = [[0] * len(LEVELS) for _ in range(BINS)]
    for entry in entries:
        if isinstance(entry.outcome, Verdict):
            bins[bin_of(entry.outcome.score)][LEVELS.index(entry.outcome.level)] += 1
    judged = sum(map(sum, bins))
    if not judged:
        return None
    threshold = next(iter(tally.thresholds)) if len(tally.thresholds) == 1 else None
    return _Histogram(
        bars=bars(bins),
        threshold=threshold,
        told=f"Hallucination scores of {judged} judged answers from 0, grounded, to 1, hallucinated",
    )


def _chips(entries: Sequence[Entry], cards: Sequence[Card]) -> list[tuple[str, str, int]]:
    """For each level that occurs: its key, its label and how many answers have it, the worst first."""
    labels = {str(level): WORDING[level].label for level in Level} | {"none": "NOT JUDGED"}
    for entry in entries:
        if isinstance(entry.outcome, Verdict):
            labels[str(entry.outcome.level)] = one_line(entry.outcome.wording.label)
    counts = {level: sum(one.level == level for one in cards) for level in ("high", "medium", "low", "none")}
    return [(level, labels[level], count) for level, count in counts.items() if count]


def _opened(cards: Sequence[Card]) -> int | None:
    """The answer that is unfolded at first: the worst, which also shows what folding hides."""
    return cards[0].order if cards else None


def _detectors(entries: Sequence[Entry]) -> list[str]:
    specs = {
        (spec.name, spec.version, spec.fingerprint)
        for e in entries
        if (spec := e.outcome.detector) is not None
    }
    return [f"{name} {version} ({fingerprint})" for name, version, fingerprint in sorted(specs)]
