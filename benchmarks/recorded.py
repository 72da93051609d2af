"""Methods replayed on what real models once said: no model is asked, and every figure can be had again.

    python benchmarks/recorded.py [--data DIR]

sac3_hotpot holds, for each answer of GPT-3.5, ten resampled answers to the same question and ten to reworded
ones, with the model's own verdict on whether each says the same: replayed through ``stochastic`` in its three
comparisons, and as a confidence through ``self_eval``. finqa_detect holds verdicts of LLM judges on answers
about financial tables, with their latency: replayed through ``judge``.

The labels of both sets say whether the answer is correct, not whether the passages support it, and GPT-3.5
saw no passage. Embeddings are a stand-in: hashed character n-grams, which know spelling and no meaning.
Intervals are the middle 95 % over resampled sources.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from groundwire import Checker, Detector, Interaction, Outcome, Usage, Verdict, prompts  # noqa: E402
from groundwire.bench import intervals, metrics  # noqa: E402
from groundwire.core.plan import Complete, Completed, Embed, Embedded, Reply, Request  # noqa: E402
from groundwire.detectors.judge import JudgeDetector  # noqa: E402
from groundwire.detectors.self_eval import SelfEval  # noqa: E402
from groundwire.detectors.stochastic import Comparison, Stochastic  # noqa: E402
from groundwire.detectors.token import TokenOverlap  # noqa: E402
from groundwire.text.claims import cut  # noqa: E402
from training.labelled_sets import contexts, read  # noqa: E402

Row = Mapping[str, Any]
SAMPLES = 10
WIDTH = 2_048


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    args = parser.parse_args()
    print("Labels: is the answer correct. Embeddings: hashed character n-grams (spelling, no meaning).\n")
    sac3(read(args.data / "eval" / "sac3_hotpot.jsonl.gz"))
    finqa(read(args.data / "eval" / "finqa_detect.jsonl.gz"))


def sac3(rows: Sequence[Row]) -> None:
    bad = sum(row["label"] for row in rows)
    print(f"sac3_hotpot: {len(rows)} closed-book answers of GPT-3.5, {bad} wrong; {SAMPLES} samples each")
    print(HEADER)
    for kind, told in (("self", "the same question"), ("perturb", "reworded questions")):
        for comparison in Comparison:
            detector = Stochastic(comparison=comparison, samples=SAMPLES)
            show(f"stochastic, {comparison}, {told}", replayed(rows, detector, partial(Sampled, kind=kind)))
        show(f"self_eval, own verdicts, {told}", replayed(rows, SelfEval(), partial(Sampled, kind=kind)))
    baselines(rows)


def finqa(rows: Sequence[Row]) -> None:
    fresh = [row for row in rows if not row["meta"]["dup_of_earlier"]]
    bad = sum(row["label"] for row in fresh)
    print(f"\nfinqa_detect: {len(fresh)} distinct answers about tables (of {len(rows)}), {bad} wrong")
    print(HEADER + "   latency, ms: median, 95th percentile")
    for name in fresh[0]["meta"]["recorded_judge"]:
        told = [row for row in fresh if row["meta"]["recorded_judge"].get(name)]
        waits = [row["meta"]["recorded_judge"][name]["latency_ms"] for row in told]
        known = [wait for wait in waits if wait is not None]
        latency = "{:18.0f} {:6.0f}".format(*np.percentile(known, [50, 95])) if known else ""
        show(f"judge, {name}", replayed(told, JudgeDetector(), partial(Judged, name=name)), latency)
    baselines(fresh)


def baselines(rows: Sequence[Row]) -> None:
    show("lexical (offline)", [(row, Checker("lexical").check(interaction(row))) for row in rows])
    token = Checker(TokenOverlap())
    show("token, novelty (offline)", [(row, token.check(interaction(row))) for row in rows])
    lengths = [(row, min(1.0, len(row["answer"].split()) / 1_000)) for row in rows]
    print(line("length of the answer", lengths, len(rows)))


def replayed(
    rows: Sequence[Row], detector: Detector, judge: Callable[[Row], Recorded]
) -> list[tuple[Row, Outcome]]:
    return [(row, Checker(detector, judge=judge(row)).check(interaction(row))) for row in rows]


def interaction(row: Row) -> Interaction:
    return Interaction(question=row["question"], contexts=contexts(row), answer=row["answer"])


HEADER = f"{'':52} {'judged':>11} {'AUROC':22}"


def show(name: str, outcomes: Sequence[tuple[Row, Outcome]], after: str = "") -> None:
    scored = [(row, outcome.score) for row, outcome in outcomes if isinstance(outcome, Verdict)]
    print(line(name, scored, len(outcomes)) + after)
    whys = Counter(str(outcome.why) for _, outcome in outcomes if not isinstance(outcome, Verdict))
    if whys:
        print(f"{'':52} not judged: {dict(whys)}")


def line(name: str, scored: Sequence[tuple[Row, float]], total: int) -> str:
    data = metrics.Labelled(
        labels=np.array([row["label"] for row, _ in scored]),
        scores=np.array([score for _, score in scored]),
        weights=np.ones(len(scored)),
        groups=np.array([str(row["meta"]["source_id"]) for row, _ in scored]),
    )
    low, high = intervals.interval(metrics.auroc, data)
    judged = f"{len(scored)} of {total}"
    return f"{name:52} {judged:>11} {metrics.auroc(data):.3f} [{low:.3f}, {high:.3f}]"


class Recorded:
    """A judge that says again what was recorded for one answer, and embeds by spelling."""

    def perform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        del timeout
        said = self.say([request for request in requests if isinstance(request, Complete)])
        return [
            Embedded(vectors=tuple(map(spelling, request.texts)))
            if isinstance(request, Embed)
            else Completed(texts=next(said), usage=Usage(calls=1))
            for request in requests
        ]

    async def aperform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        return self.perform(requests, timeout=timeout)

    def say(self, requests: Sequence[Complete]) -> Iterator[tuple[str, ...]]:
        raise NotImplementedError


class Sampled(Recorded):
    """Resampled answers, and what the model said of each: the same as the answer, and how surely."""

    def __init__(self, row: Row, kind: str) -> None:
        self._samples: list[str] = row["meta"][f"{kind}_samples"]
        self._same = [same(verdict) for verdict in row["meta"][f"{kind}_SC"]]
        self._claims = range(1, len(cut(row["answer"])) + 1)

    def say(self, requests: Sequence[Complete]) -> Iterator[tuple[str, ...]]:
        if requests and requests[0].system == prompts.get("stochastic_agreement").system:
            # Asked once for each distinct answer, in order; the verdict is on the whole answer.
            chances: dict[str, list[float]] = {}
            for sample, chance in zip(self._samples, self._same, strict=True):
                chances.setdefault(sample, []).append(chance)
            for said in chances.values():
                word = "agrees" if np.mean(said) >= 0.5 else "contradicts"
                entries = [{"id": i, "verdict": word} for i in self._claims]
                yield (json.dumps({"statements": entries}),)
        for request in requests:
            if request.system == prompts.get("stochastic").system:
                yield tuple(self._samples)
            elif request.system == prompts.get("self_eval").system:
                yield (json.dumps({"confidence": 1 + 4 * float(np.mean(self._same))}),)


class Judged(Recorded):
    """One judge's verdict on the whole answer, said of each of its claims.

    No quotation was recorded, so "supported" is said as "inferred", which needs none.
    """

    def __init__(self, row: Row, name: str) -> None:
        verdict = row["meta"]["recorded_judge"][name]
        sure = verdict["confidence"] / 2
        fine = verdict["supported"] and not verdict["partial"]
        self._claim = {
            "support": "inferred" if fine else "unsupported",
            "score": max(0.0, 0.499 - sure) if fine else min(1.0, 0.5 + sure),
            "reason": verdict["category"],
        }
        self._claims = range(1, len(cut(row["answer"])) + 1)

    def say(self, requests: Sequence[Complete]) -> Iterator[tuple[str, ...]]:
        for _ in requests:
            yield (json.dumps({"claims": [{"id": i, **self._claim} for i in self._claims]}),)


def same(verdict: str) -> float:
    """How likely two answers are the same, from "Guess: Yes, Probability: 0.9"."""
    match = re.fullmatch(r"Guess: (Yes|No)\s+Probability: (\d(?:\.\d+)?)", verdict.strip())
    if match is None:
        raise ValueError(f"a recorded verdict can't be read: {verdict!r:.60}")
    chance = float(match[2])
    return chance if match[1] == "Yes" else 1 - chance


@lru_cache(maxsize=1 << 14)
def spelling(text: str) -> tuple[float, ...]:
    """How often runs of three to five characters occur, the runs hashed to ``WIDTH`` places."""
    padded = f" {' '.join(text.lower().split())} "
    found = np.zeros(WIDTH)
    for n in (3, 4, 5):
        for i in range(len(padded) - n + 1):
            found[zlib.crc32(padded[i : i + n].encode("utf-8", "replace")) % WIDTH] += 1
    return tuple(np.sqrt(found).tolist())


if __name__ == "__main__":
    main()
