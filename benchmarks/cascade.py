"""How many calls of a judge a cascade saves, and what that does to F1.

    python -m benchmarks.cascade [--data DIR] [--scores FILE] [--plot FILE]

RAGTruth's answers to sources that no detector was fitted on: bands are fitted on one half of these sources
and measured on the other. ``lexical`` and ``embedded`` really judge. The judge is *simulated*, since no model
is at hand: it is right with a set probability, by mistakes that have nothing to do with those of the
other stages, or that are likelier where ``embedded`` is wrong. A real judge will be somewhere else; fit bands
to yours.

``--scores`` keeps what the detectors said, or takes it from there: judging is most of the work.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import judged
from groundwire import Checker, Grading, Policy, Verdict
from groundwire.core import fitted_aggregation
from groundwire.core.aggregation import AnyUnsupported, Fraction, LengthWeighted, WorstK
from groundwire.detectors import Embedded
from groundwire.detectors.cascade import exact
from groundwire.detectors.cascade.bands import Band, FittedBands, Target, decide, fit_bands
from training.labelled_sets import TEST, part

ROOT = Path(__file__).resolve().parents[1]
Floats = NDArray[np.float64]
HALF = (TEST + 1) / 2
"""Where the sources that measure are cut in two: bands are fitted on those before."""

STAGES = ("lexical", "embedded")
THRESHOLD = Embedded().grading.threshold
BUDGETS = tuple(i / 10 for i in range(11))
JUDGES = {"90 % right": 0.10, "81 % right": 0.19}
DRAWS, DRAWS_SAVED = 20, 10
ROUNDS = 200


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Answers of one part of the sources: what the stages said of them, and whether facts refute them."""

    labels: NDArray[np.int64]
    sources: NDArray[np.str_]
    weights: Floats
    scores: Floats
    refuted: NDArray[np.bool_]
    claims: tuple[tuple[tuple[float, int], ...], ...]

    def at(self, index: NDArray[np.intp]) -> Answers:
        return replace(
            self,
            labels=self.labels[index],
            sources=self.sources[index],
            weights=self.weights[index],
            scores=self.scores[index],
            refuted=self.refuted[index],
            claims=tuple(self.claims[i] for i in index),
        )

    def beside(self, last: Floats) -> Floats:
        """All stages' scores; what facts refute is flagged by the first whatever it says."""
        first = np.where(self.refuted, 1.0, self.scores[:, 0])
        return np.stack([first, *self.scores.T[1:], last], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--scores", type=Path, help="where the detectors' scores are kept")
    parser.add_argument("--plot", type=Path, default=ROOT / "docs" / "images" / "cascade.png")
    args = parser.parse_args()
    rows = judged.held_out(args.data)
    said = scored(rows, args.scores)
    fitting = answers([row for row in rows if part(row) < HALF], said)
    testing = answers([row for row in rows if part(row) >= HALF], said)
    print(f"fitted on {len(fitting.labels)} answers, measured on {len(testing.labels)} to other sources\n")
    facts(testing)
    fitted_defaults(answers(rows, said), fitting, testing)
    aggregations(fitting, testing)
    curves = {}
    for name, wrong in JUDGES.items():
        for kind, simulate in (("independent", independent), ("where embedded is wrong", alike)):
            title = f"{name}, mistakes {kind}"
            curves[title] = curve(title, fitting, testing, wrong, simulate)
            saved(fitting, testing, wrong, simulate)
    plotted(curves, args.plot)


def scored(rows: Sequence[judged.Row], file: Path | None) -> dict[str, Any]:
    """What each detector said of each answer, by its id: a score, claims, and whether facts refute it."""
    if file is not None and file.exists():
        kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return kept
    said: dict[str, Any] = {row["id"]: {} for row in rows}
    interactions = [judged.interaction(row) for row in rows]
    for name in STAGES:
        outcomes = Checker(name, policy=Policy(timeout=None)).check_many(interactions, progress=True)
        for row, outcome in zip(rows, outcomes, strict=True):
            claims = [[c.score, len(c.span)] for c in outcome.claims if c.score is not None]
            said[row["id"]][name] = outcome.score if isinstance(outcome, Verdict) else None
            said[row["id"]][f"{name}_claims"] = claims
    for row, interaction in zip(rows, interactions, strict=True):
        said[row["id"]]["refuted"] = bool(exact.refuted(interaction, Grading()))
    if file is not None:
        file.write_text(json.dumps(said), encoding="utf-8")
    return said


def answers(rows: Sequence[judged.Row], said: Mapping[str, Any]) -> Answers:
    """The answers as arrays; each task weighs the same."""
    sizes = Counter(row["task"] for row in rows)
    told = [said[row["id"]] for row in rows]
    return Answers(
        labels=np.array([row["label"] for row in rows], dtype=np.int64),
        sources=np.array([str(row["meta"]["source_id"]) for row in rows]),
        weights=np.array([judged.PER_TASK / sizes[row["task"]] for row in rows]),
        scores=np.array([[np.nan if one[s] is None else one[s] for s in STAGES] for one in told]),
        refuted=np.array([one["refuted"] for one in told], dtype=bool),
        claims=tuple(tuple((s, n) for s, n in one["embedded_claims"]) for one in told),
    )


def facts(data: Answers) -> None:
    """How often exact facts refute an answer, and are right."""
    hit = data.refuted
    precision = np.average(data.labels[hit], weights=data.weights[hit])
    share = data.weights[hit].sum() / data.weights.sum()
    print(
        f"exact facts refute {int(hit.sum())} answers ({share:.1%}), {precision:.1%} of them hallucinated\n"
    )


def fitted_defaults(every: Answers, fitting: Answers, testing: Answers) -> None:
    """Bands without any judge: for precision and recall with everything else seen by people.

    Those that ship are fitted on all answers; beside them, what the same fit on one half does on the other.
    ``lexical`` may flag and not accept: a wrong role or relation is nothing it can see, or rule out.
    """
    testing = only_flagging(testing)
    shipped, found = default_bands(only_flagging(every)), default_bands(only_flagging(fitting))
    print("bands for precision .9 and recall .9, all that is left seen by people:", shown(shipped.bands))
    held = shipped.held_out
    print(
        f"  cross-fitted: precision {held.precision.value:.3f}, recall {held.recall.value:.3f}, "
        f"left {held.calls.value:.3f} [{held.calls.low:.3f}, {held.calls.high:.3f}]"
    )
    print("  fitted on one half, on the other:", shown(found.bands))
    made = decide(testing.beside(testing.labels.astype(float)), found.bands)
    for i, name in enumerate((*STAGES, "left")):
        here = made.stage == i
        for side, chosen in (("flagged", here & made.flagged), ("accepted", here & ~made.flagged)):
            if i < len(STAGES) and chosen.any():
                right = testing.labels[chosen] == (side == "flagged")
                print(
                    f"  {name:9} {side:9} {weight(testing, chosen):6.1%}, right "
                    f"{np.average(right, weights=testing.weights[chosen]):6.1%}"
                )
        if i == len(STAGES):
            print(f"  {name:19} {weight(testing, here):6.1%}")
    print()


def default_bands(data: Answers) -> FittedBands:
    seen = data.labels.astype(float)
    target = Target(precision=0.9, recall=0.9)
    return fit_bands(data.beside(seen), data.labels, data.sources, target, weights=data.weights)


def only_flagging(data: Answers) -> Answers:
    """The same with no score of ``lexical`` low enough to accept an answer by."""
    scores = data.scores.copy()
    scores[:, 0] = np.maximum(scores[:, 0], 0.5)
    return replace(data, scores=scores)


def weight(data: Answers, chosen: NDArray[np.bool_]) -> float:
    return float(data.weights[chosen].sum() / data.weights.sum())


def shown(bands: Sequence[Band]) -> str:
    told = zip(STAGES, bands, strict=True)
    return "; ".join(f"{name} accept {_of(band.accept)} flag {_of(band.flag)}" for name, band in told)


def _of(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.3f}"


def aggregations(fitting: Answers, testing: Answers) -> None:
    """The same claim scores of ``embedded`` by each aggregation: at one half, and at its own best cut."""
    learnt = fitted_aggregation.fit(
        [list(one) for one in fitting.claims if one],
        [int(y) for y, one in zip(fitting.labels, fitting.claims, strict=True) if one],
        weights=[w for w, one in zip(fitting.weights, fitting.claims, strict=True) if one],
    )
    rules = {
        "any unsupported": AnyUnsupported(),
        "worst of 2": WorstK(k=2),
        "length-weighted": LengthWeighted(),
        "fraction": Fraction(),
        "fitted": learnt,
    }
    print(f"aggregation of what embedded said of claims: F1 at {THRESHOLD:g}, at .5, at the other's best cut")
    for name, rule in rules.items():
        values = [
            np.array([rule.combine(list(one)) if one else 0.0 for one in d.claims])
            for d in (fitting, testing)
        ]
        cuts = np.unique(values[0])
        best = max(cuts, key=lambda cut: f1(fitting, values[0] >= cut))
        figures = [f1(testing, values[1] >= cut) for cut in (THRESHOLD, 0.5, best)]
        print(f"  {name:16} {figures[0]:.3f}  {figures[1]:.3f}  {figures[2]:.3f} at {best:.2f}")
    print(f"  fitted weights {[round(w, 2) for w in learnt.weights]}, bias {learnt.bias:.2f}\n")


def f1(data: Answers, flagged: NDArray[np.bool_]) -> float:
    bad = data.weights * data.labels
    return float(2 * bad[flagged].sum() / (data.weights[flagged].sum() + bad.sum()))


Simulate = Callable[[Answers, float, int], Floats]


def independent(data: Answers, wrong: float, seed: int) -> Floats:
    """A judge that is wrong about any answer with the same probability."""
    return _said(data, np.full(len(data.labels), wrong), seed)


def alike(data: Answers, wrong: float, seed: int) -> Floats:
    """A judge that is wrong as often, and likelier so the more wrong ``embedded`` is."""
    off = np.abs(data.labels - np.nan_to_num(data.scores[:, 1], nan=0.5))
    rank = off.argsort().argsort() / max(1, len(off) - 1)
    return _said(data, 2 * wrong * rank, seed)


def _said(data: Answers, wrong: Floats, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    missed = rng.random(len(wrong)) < wrong
    return np.where(missed, 1 - data.labels, data.labels).astype(np.float64)


def fitted(data: Answers, last: Floats, target: Target, *, folds: int = 2) -> FittedBands:
    return fit_bands(
        data.beside(last), data.labels, data.sources, target, weights=data.weights, folds=folds, rounds=1
    )


def curve(
    title: str, fitting: Answers, testing: Answers, wrong: float, simulate: Simulate
) -> list[tuple[float, float, float]]:
    """F1 for each budget of calls: share of answers that the judge saw, F1, and F1 of as many drawn by lot.

    The last point is the judge asked every time.
    """
    print(f"judge simulated: {title}; means over {DRAWS} draws")
    print(f"  {'budget':>6} {'calls':>6} {'F1':>6}   F1 where as many go to the judge by lot")
    points = []
    always = [simulate(testing, wrong, 1_000 + seed) >= 0.5 for seed in range(DRAWS)]
    print(f"  the judge asked every time: F1 {np.mean([f1(testing, flagged) for flagged in always]):.3f}")
    for budget in BUDGETS:
        runs = []
        for seed in range(DRAWS):
            bands = fitted(fitting, simulate(fitting, wrong, seed), Target(calls=budget)).bands
            last = simulate(testing, wrong, 1_000 + seed)
            made = decide(testing.beside(last), bands)
            calls = float(np.average(made.calls, weights=testing.weights))
            lot = np.random.default_rng(seed).random(len(last)) < calls
            by_lot = np.where(lot, last >= 0.5, (testing.scores[:, 1] >= THRESHOLD) | testing.refuted)
            runs.append((calls, f1(testing, made.flagged), f1(testing, by_lot.astype(bool))))
        calls, best, drawn = np.mean(runs, axis=0)
        points.append((float(calls), float(best), float(drawn)))
        print(f"  {budget:6.1f} {calls:6.3f} {best:6.3f}   {drawn:6.3f}")
    every = float(np.mean([f1(testing, flagged) for flagged in always]))
    points.append((1.0, every, every))
    return points


def saved(fitting: Answers, testing: Answers, wrong: float, simulate: Simulate) -> None:
    """Calls saved at the F1 of asking the judge every time, and whether that F1 holds on other sources."""
    gains, differences = [], []
    groups = _groups(testing)
    for seed in range(DRAWS_SAVED):
        seen = simulate(fitting, wrong, seed)
        bands = cheapest(fitting, seen)
        last = simulate(testing, wrong, 1_000 + seed)
        made = decide(testing.beside(last), bands)
        rng = np.random.default_rng(seed)
        for _ in range(ROUNDS):
            drawn = np.concatenate([groups[i] for i in rng.integers(0, len(groups), len(groups))])
            data = testing.at(drawn)
            gains.append(1 - float(np.average(made.calls[drawn], weights=data.weights)))
            differences.append(f1(data, made.flagged[drawn]) - f1(data, last[drawn] >= 0.5))
    told = [
        f"{np.mean(v):.3f} [{np.percentile(v, 2.5):.3f}, {np.percentile(v, 97.5):.3f}]"
        for v in (gains, differences)
    ]
    print(f"  at the judge's own F1: calls saved {told[0]}, F1 less the judge's {told[1]}\n")


def cheapest(data: Answers, last: Floats) -> tuple[Band, ...]:
    """The bands for the smallest budget whose cross-fitted F1 is the judge's, or none where none has it."""
    own = f1(data, last >= 0.5)
    for budget in BUDGETS:
        found = fitted(data, last, Target(calls=budget), folds=4)
        if found.held_out.f1.value >= own:
            return found.bands
    return (Band(),) * len(STAGES)


def _groups(data: Answers) -> list[NDArray[np.intp]]:
    _, which = np.unique(data.sources, return_inverse=True)
    return [np.flatnonzero(which == i) for i in range(int(which.max()) + 1)]


def plotted(curves: Mapping[str, Sequence[tuple[float, float, float]]], file: Path) -> None:
    """F1 against the share of answers that the judge sees."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - only to draw

    figure = Figure(figsize=(10, 4.2))
    axes = figure.subplots(1, len(curves) // 2, sharey=True)
    titles = list(curves)
    for i, axis in enumerate(axes):
        for title, style in zip(titles[2 * i : 2 * i + 2], ("-o", "--s"), strict=True):
            points = curves[title]
            (line,) = axis.plot(
                [p[0] for p in points[:-1]],
                [p[1] for p in points[:-1]],
                style,
                label=title.split(", ")[1],
                ms=4,
            )
            axis.plot(*points[-1][:2], "*", color=line.get_color(), ms=12, label="asked every time")
        points = curves[titles[2 * i]]
        axis.plot([p[0] for p in points], [p[2] for p in points], ":", color="grey", label="sent by lot")
        axis.set_xlim(-0.03, 1.05)
        axis.set_title(f"simulated judge, {titles[2 * i].split(', ')[0]}")
        axis.set_xlabel("share of answers that the judge sees")
        axis.grid(alpha=0.3)
        axis.legend(loc="lower right", fontsize=8)
    axes[0].set_ylabel("F1 on held-out sources")
    figure.tight_layout()
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main()
