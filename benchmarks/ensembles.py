"""Who is believed among oracles of known accuracy: majority, weights, Dawid and Skene's model.

    python -m benchmarks.ensembles [--plot FILE] [--data DIR]

Oracles are *simulated*: each claim has a true support, and each oracle says it with a set probability, else
another one. What is measured is the code that decides in an ensemble. With ``--data``, also what one prompt
for three readings sends against three prompts, over RAGTruth's answers, by the estimate of four bytes a
token.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import judged
from groundwire.core.budget import least
from groundwire.core.claim import LABELS, Support, Vote
from groundwire.detectors.ensemble.claim_reader import ClaimReader
from groundwire.detectors.ensemble.resolution import (
    GROUNDED,
    Bayesian,
    Majority,
    Resolution,
    Weighted,
    fit_votes,
)

ROOT = Path(__file__).resolve().parents[1]
SHARES = (0.55, 0.1, 0.2, 0.15)  # of supported, inferred, unsupported and contradicted claims
SIZES = (20, 50, 100, 200, 500, 1_000, 2_000)
TESTED, DRAWS = 1_000, 10
Votes = list[list[Vote]]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Oracles: how often each is right, and which of them says what another one said."""

    name: str
    right: tuple[float, ...]
    copies: Mapping[int, int]

    def draw(self, claims: int, rng: np.random.Generator) -> tuple[list[Support], Votes]:
        """True supports, and everybody's votes."""
        truth = rng.choice(len(LABELS), size=claims, p=SHARES)
        said = np.stack([self._said(truth, right, rng) for right in self.right])
        for copy, original in self.copies.items():
            said[copy] = said[original]
        votes = [
            [Vote(oracle=f"o{j}", support=LABELS[said[j, i]]) for j in range(len(self.right))]
            for i in range(claims)
        ]
        return [LABELS[k] for k in truth], votes

    def _said(self, truth: NDArray[np.int64], right: float, rng: np.random.Generator) -> NDArray[np.int64]:
        other = (truth + rng.integers(1, len(LABELS), size=len(truth))) % len(LABELS)
        return np.where(rng.random(len(truth)) < right, truth, other)


PANELS = (
    Panel(name="five equal, .75", right=(0.75,) * 5, copies={}),
    Panel(name="one good, four weak", right=(0.92, 0.55, 0.55, 0.5, 0.5), copies={}),
    Panel(name="one good, a weak one thrice", right=(0.85, 0.7, 0.55, 0.55, 0.55), copies={3: 2, 4: 2}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--plot", type=Path, default=ROOT / "docs" / "images" / "ensembles.png")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    args = parser.parse_args()
    curves = {panel.name: learnt(panel) for panel in PANELS}
    recovered = {panel.name: reliabilities(panel) for panel in PANELS}
    told(curves, recovered)
    plotted(curves, recovered, args.plot)
    if args.data.exists():
        tokens(args.data)


Curve = dict[str, list[float]]


def learnt(panel: Panel) -> Curve:
    """The share of claims that each rule gets right, by how many claims it could learn from."""
    found: Curve = {"best oracle": [], "majority": [], "weights from labels": [], "Dawid-Skene, no label": []}
    for size in SIZES:
        runs = [once(panel, size, seed) for seed in range(DRAWS)]
        for name in found:
            found[name].append(float(np.mean([run[name] for run in runs])))
    return found


def once(panel: Panel, size: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    past, seen = panel.draw(size, rng)
    truth, votes = panel.draw(TESTED, rng)
    rules: dict[str, Resolution] = {
        "majority": Majority(),
        "weights from labels": Weighted(reliabilities=measured(past, seen)),
        "Dawid-Skene, no label": fit_votes(seen),
    }
    alone = [
        np.mean([one[j].support is t for one, t in zip(votes, truth, strict=True)])
        for j in range(len(panel.right))
    ]
    return {name: right(rule, truth, votes) for name, rule in rules.items()} | {
        "best oracle": float(max(alone))
    }


def measured(truth: Sequence[Support], votes: Votes) -> dict[str, float]:
    """How often each oracle was right on labelled claims, with one more claim half right."""
    names = [vote.oracle for vote in votes[0]]
    hits = dict.fromkeys(names, 0.5)
    for supports, t in zip(votes, truth, strict=True):
        for vote in supports:
            hits[vote.oracle] += vote.support is t
    return {name: hit / (len(truth) + 1) for name, hit in hits.items()}


def right(rule: Resolution, truth: Sequence[Support], votes: Votes) -> float:
    return float(np.mean([rule(one, GROUNDED).support is t for one, t in zip(votes, truth, strict=True)]))


def reliabilities(panel: Panel) -> list[tuple[float, float]]:
    """True accuracies, and those that Dawid and Skene's model finds in 2,000 claims without a label."""
    rng = np.random.default_rng(0)
    _, votes = panel.draw(SIZES[-1], rng)
    rule: Bayesian = fit_votes(votes)
    return list(zip(panel.right, rule.model.reliability, strict=True))


def told(curves: Mapping[str, Curve], recovered: Mapping[str, list[tuple[float, float]]]) -> None:
    for name, curve in curves.items():
        print(f"{name}: share of claims decided rightly, by the claims learnt from")
        print(" " * 26 + "".join(f"{size:>8}" for size in SIZES))
        for rule, values in curve.items():
            print(f"  {rule:24}" + "".join(f"{value:8.3f}" for value in values))
        pairs = ", ".join(f"{true:.2f} -> {found:.2f}" for true, found in recovered[name])
        print(f"  accuracies recovered without a label: {pairs}\n")


def plotted(
    curves: Mapping[str, Curve], recovered: Mapping[str, list[tuple[float, float]]], file: Path
) -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415 - only to draw

    figure = Figure(figsize=(14, 3.8))
    axes = figure.subplots(1, len(curves) + 1)
    for axis, (name, curve) in zip(axes, curves.items(), strict=False):
        for (rule, values), style in zip(curve.items(), (":", "-s", "-^", "-o"), strict=True):
            axis.plot(SIZES, values, style, label=rule, ms=4)
        axis.set_xscale("log")
        axis.set_ylim(0.5, 1.0)
        axis.set_title(name, fontsize=10)
        axis.set_xlabel("claims learnt from")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("share of claims decided rightly")
    axes[0].legend(loc="lower right", fontsize=8)
    last = axes[-1]
    last.plot([0.4, 1], [0.4, 1], ":", color="grey")
    for (name, pairs), mark in zip(recovered.items(), "so^", strict=True):
        last.plot([p[0] for p in pairs], [p[1] for p in pairs], mark, label=name, ms=5, alpha=0.7)
    last.set_title("accuracies found without a label", fontsize=10)
    last.set_xlabel("true")
    last.set_ylabel("found by Dawid-Skene")
    last.set_ylim(0.2, 1.05)
    last.legend(loc="lower right", fontsize=7)
    last.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file, dpi=110)


def tokens(data: Path) -> None:
    """Input tokens of three readings in one prompt and in three, over RAGTruth's held-out answers."""
    rows = judged.held_out(data, sample=100)
    one, three = (
        [least(reader.detect(judged.interaction(row))).input_tokens for row in rows]
        for reader in (ClaimReader(readings=1), ClaimReader(readings=3))
    )
    naive, sent = 3 * sum(one), sum(three)
    print(
        f"three readings of {len(rows)} RAGTruth answers: {sent / len(rows):.0f} tokens each in one prompt, "
        f"{naive / len(rows):.0f} in three: {1 - sent / naive:.1%} saved (estimated, four bytes a token)"
    )


if __name__ == "__main__":
    main()
