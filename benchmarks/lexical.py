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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import judged, lines  # noqa: E402 - found from the repository's root
from groundwire import Checker, Interaction  # noqa: E402
from groundwire.bench import metrics  # noqa: E402
from groundwire.text import overlap, tokens  # noqa: E402
from training.labelled_sets import contexts, ragtruth  # noqa: E402

Row = judged.Row


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--part", choices=("quality", "speed", "all"), default="all")
    args = parser.parse_args()
    if args.part != "speed":
        quality(args.data)
    if args.part != "quality":
        speed(ragtruth(args.data))


def quality(data: Path) -> None:
    detector = judged.detector("lexical")
    rows = judged.held_out(data)
    said = judge(detector, rows)
    thresholds(said)
    print("\nRAGTruth, sources held out\n" + lines.HEADER)
    for task in ("all", "qa", "data2txt", "summary"):
        of_task = [one for one in said if task in ("all", one.row["task"])]
        print(lines.line(task, judged.labelled(of_task)))
    print("\nShortcuts on the same answers (only AUROC means anything)\n" + lines.HEADER)
    for shortcut in judged.SHORTCUTS:
        print(lines.line(shortcut.name, judged.labelled(shortcut.judge(rows))))
    print("\nSets that took no part\n" + lines.HEADER)
    for name in judged.SETS:
        rows = judged.eval_set(data, name)
        print(lines.line(name, judged.labelled(judge(detector, rows), even=False)))
        for shortcut in judged.SHORTCUTS:
            one = judged.labelled(shortcut.judge(rows), even=False)
            print(f"  {shortcut.name:30} AUROC {metrics.auroc(one):.3f}")


def judge(detector: judged.Method, rows: Sequence[Row]) -> list[judged.Judged]:
    """What the detector says of each answer; the number of those that it could not judge is printed."""
    said = detector.judge(rows)
    if abstained := Counter(one.why for one in said if one.score is None):
        print(f"not judged: {dict(abstained)}")
    return said


def thresholds(said: Sequence[judged.Judged]) -> None:
    data = judged.labelled(said)
    print("F1 by threshold" + "".join(f"{cut:7.2f}" for cut in CUTS))
    print(" " * 15 + "".join(f"{metrics.f1(data.flags(cut)):7.3f}" for cut in CUTS))


CUTS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)


def speed(rows: Sequence[Row], count: int = 120, rounds: int = 5) -> None:
    """The best of some rounds: on a shared machine the others measure the neighbours."""
    checker = Checker("lexical")
    items = list(of_thousand_words(rows, count))
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


def of_thousand_words(answers: Sequence[Row], count: int) -> Iterator[Interaction]:
    """Answers of 60 words or more cut at 100, over their passages and others' until there are 1,000 words."""
    rows = [row for row in answers if row["task"] == "qa" and len(row["answer"].split()) >= 60]
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
