"""How well and how fast the lexical detector judges.

    python benchmarks/lexical.py [--data DIR] [--part quality|speed|all]

Quality: RAGTruth answers to sources that nothing was fitted on, each task weighing the same, and other
sets that took no part at all, beside two shortcuts that a detector has to beat. Speed: one core, passages
of 1,000 words and answers of about 100, beside reading all words once.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import measures  # noqa: E402 - found from the repository's root
from training.lexical import CALIBRATE, FIT, FITTED_ON, contexts, part, read  # noqa: E402

from groundwire import Checker, Interaction, Verdict  # noqa: E402
from groundwire.text import overlap, tokens  # noqa: E402

OTHERS = ("qags", "summeval", "dialfact_small", "q2_wow", "psiloqa_eval")
Row = Mapping[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--part", choices=("quality", "speed", "all"), default="all")
    args = parser.parse_args()
    ragtruth = [row for name in FITTED_ON for row in read(args.data / "train" / f"{name}.jsonl.gz")]
    if args.part != "speed":
        quality(ragtruth, args.data / "eval")
    if args.part != "quality":
        speed(ragtruth)


def quality(ragtruth: Sequence[Row], folder: Path) -> None:
    sides = {
        "calibrated on": [r for r in ragtruth if FIT <= part(r["meta"]["source_id"]) < CALIBRATE],
        "held out": [r for r in ragtruth if part(r["meta"]["source_id"]) >= CALIBRATE],
    }
    scored = {side: list(scores(rows)) for side, rows in sides.items()}
    thresholds(scored)
    print("\nRAGTruth, sources held out\n" + measures.HEADER)
    for task in ("all", "qa", "data2txt", "summary"):
        print(measures.line(task, labelled([x for x in scored["held out"] if task in ("all", x[0]["task"])])))
    print("\nShortcuts on the same answers (only AUROC means anything)\n" + measures.HEADER)
    for name, shortcut in SHORTCUTS.items():
        print(measures.line(name, labelled([(row, shortcut(row)) for row in sides["held out"]])))
    print("\nSets that took no part\n" + measures.HEADER)
    for name in OTHERS:
        rows = read(folder / f"{name}.jsonl.gz")
        print(measures.line(name, labelled(list(scores(rows)), even=False)))
        for shortcut_name, shortcut in SHORTCUTS.items():
            one = labelled([(row, shortcut(row)) for row in rows], even=False)
            print(f"  {shortcut_name:30} AUROC {measures.auroc(one):.3f}")


def scores(rows: Sequence[Row]) -> Iterator[tuple[Row, float]]:
    """Each answer that could be judged, with its score; the number of those that could not is printed."""
    checker = Checker("lexical")
    abstained: Counter[str] = Counter()
    for row in rows:
        outcome = checker.check(interaction(row))
        if isinstance(outcome, Verdict):
            yield row, outcome.score
        else:
            abstained[str(outcome.why)] += 1
    if abstained:
        print(f"not judged: {dict(abstained)}")


def interaction(row: Row) -> Interaction:
    return Interaction(question=row["question"], contexts=contexts(row), answer=row["answer"])


def labelled(scored: Sequence[tuple[Row, float]], *, even: bool = True) -> measures.Labelled:
    sizes = Counter(row["task"] for row, _ in scored)
    return measures.Labelled(
        labels=np.array([row["label"] for row, _ in scored]),
        scores=np.array([score for _, score in scored]),
        weights=np.array([900 / sizes[row["task"]] if even else 1.0 for row, _ in scored]),
        sources=np.array([str(row["meta"].get("source_id") or row["context"]) for row, _ in scored]),
    )


def thresholds(scored: Mapping[str, Sequence[tuple[Row, float]]]) -> None:
    print("F1 by threshold" + "".join(f"{cut:7.2f}" for cut in CUTS))
    for side, pairs in scored.items():
        data = labelled(pairs)
        print(f"{side:15}" + "".join(f"{measures.f1(data, cut):7.3f}" for cut in CUTS))


CUTS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)


def novel_share(row: Row) -> float:
    known = {tokens.fold(word) for text in contexts(row) for word in tokens.texts(text)}
    words = [tokens.fold(word) for word in tokens.texts(row["answer"])]
    return sum(word not in known for word in words) / max(1, len(words))


def length(row: Row) -> float:
    return min(1.0, len(row["answer"].split()) / 1_000)


SHORTCUTS: dict[str, Callable[[Row], float]] = {"answer length": length, "novel words": novel_share}


def speed(ragtruth: Sequence[Row], count: int = 120, rounds: int = 5) -> None:
    """The best of some rounds: on a shared machine the others measure the neighbours."""
    checker = Checker("lexical")
    items = list(of_thousand_words(ragtruth, count))
    texts = [passage.text for item in items for passage in item.contexts] + [item.answer for item in items]

    def judge() -> None:
        for item in items:
            checker.check(item)

    judge()
    floor = best(lambda: [tokens.words(text) for text in texts], rounds)
    fresh = best(judge, rounds, before=overlap.forget)
    again = best(judge, rounds)
    words = sum(len(passage.text.split()) for item in items for passage in item.contexts) / count
    print(f"\n{count} interactions, {words:.0f} words of context, one core")
    print(f"reading the words once      {count / floor:8.0f} interactions/s")
    print(f"judged, passages unknown    {count / fresh:8.0f} interactions/s  {fresh / floor:5.1f} x reading")
    print(f"judged, passages remembered {count / again:8.0f} interactions/s  {again / floor:5.1f} x reading")
    for size in (1_000, 10_000, 100_000):
        text = " ".join(texts)[: size * 6]
        item = Interaction(question=items[0].question, contexts=[text], answer=items[0].answer)
        took = best(lambda: checker.check(item), 3, before=overlap.forget)  # noqa: B023 - called at once
        print(f"{size:7} words in one passage {1_000 * took:8.1f} ms")


def of_thousand_words(ragtruth: Sequence[Row], count: int) -> Iterator[Interaction]:
    """Answers of 60 words or more cut at 100, over their passages and others' until there are 1,000 words."""
    rows = [row for row in ragtruth if row["task"] == "qa" and len(row["answer"].split()) >= 60]
    spare = iter([text for row in rows for text in contexts(row)] * 3)
    for row in rows[:: len(rows) // count][:count]:
        texts = list(contexts(row))
        while sum(len(text.split()) for text in texts) < 1_000:
            texts.append(next(spare))
        yield Interaction(
            question=row["question"], contexts=texts, answer=" ".join(row["answer"].split(" ")[:100])
        )


def best(run: Callable[[], object], rounds: int, before: Callable[[], None] = lambda: None) -> float:
    taken = []
    for _ in range(rounds):
        before()
        started = time.perf_counter()
        run()
        taken.append(time.perf_counter() - started)
    return min(taken)


if __name__ == "__main__":
    main()
