"""How the cost of a check grows: with context, answer, passages, batch, threads and processes.

    python -m benchmarks.scaling [--part growth|work|all] [--rounds N] [--longest CHARS]
        [--json FILE] [--plot FILE.png]

Growth is told in processor time of one thread, so that what else the machine does counts for little, beside
two floors that no detector gets below (all words read once; one row read by the encoder) and beside scorers
that people use instead. Threads, batches and processes are told in time of the clock, each against one, in
turns. What every method is given is the same, of the sizes that ``benchmarks.texts`` is asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks import texts
from groundwire import Checker, Interaction, Policy
from groundwire.core.span import Span
from groundwire.local import rows
from groundwire.local.embedded import READER
from groundwire.local.encoder import Encoder, Loaded
from groundwire.text import overlap, tokens

CONTEXTS = (1_000, 10_000, 100_000, 1_000_000)
"""Characters of one passage."""
ANSWERS = (1, 4, 16, 64)
"""Claims of an answer, over 10,000 characters in 8 passages."""
PASSAGES = (1, 10, 100, 1_000)
"""Passages that 100,000 characters are in."""
BATCHES = (1, 4, 16, 64)
"""Answers that are checked together, of 64 over the same eight passages."""
CHECKS = 48

Method = Callable[[Interaction], object]
_DEAR = 100_000  # characters above which scorers that take longer than a minute are left out


def main() -> None:
    args = _parsed()
    record: dict[str, Any] = {
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
    }
    if args.part in ("growth", "all"):
        record |= growth(args.rounds, args.longest)
    if args.part in ("work", "all"):
        record["work"] = work(args.rounds)
    print(told(record))
    if args.json:
        args.json.write_text(json.dumps(record, indent=1), encoding="utf-8")
    if args.plot:
        (plot_growth if "context" in record else plot_work)(record, args.plot)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=("growth", "work", "all"), default="all")
    parser.add_argument("--rounds", type=int, default=3, help="the fastest of so many counts")
    parser.add_argument("--longest", type=int, default=CONTEXTS[-1], help="characters of the longest context")
    parser.add_argument("--json", type=Path, help="where to keep all figures")
    parser.add_argument("--plot", type=Path, help="where to draw the growth, or the work where it is alone")
    return parser.parse_args()


# -- growth: one thread, processor time ---------------------------------------------------------------------


def growth(rounds: int, longest: int) -> dict[str, dict[str, dict[int, float]]]:
    """Milliseconds of the processor by what grows, by method, by size."""
    READER.use_threads(1)
    contexts = [size for size in CONTEXTS if size <= longest]
    return {
        "context": _measured(contexts, _with_context, rounds),
        "answer": _measured(ANSWERS, _with_answer, rounds),
        "passages": _measured(PASSAGES, _with_passages, rounds),
    }


def _measured(
    sizes: Sequence[int], build: Callable[[int], Interaction], rounds: int
) -> dict[str, dict[int, float]]:
    taken: dict[str, dict[int, float]] = {name: {} for name in methods()}
    for size in sizes:
        item = build(size)
        characters = sum(len(passage.text) for passage in item.contexts)
        for _ in range(rounds):
            for name, method in methods().items():
                if name in SCORERS and characters * len(item.answer) > _DEAR * 1_000:
                    continue
                _forget()
                started = time.process_time()
                method(item)
                spent = 1e3 * (time.process_time() - started)
                taken[name][size] = min(spent, taken[name].get(size, spent))
        print(
            f"{size}: {', '.join(f'{n} {t[size]:.1f}' for n, t in taken.items() if size in t)}",
            file=sys.stderr,
        )
    return taken


def _forget() -> None:
    """Have every passage worked through as if it were seen for the first time."""
    rows._PASSAGES.forget()  # noqa: SLF001 - nobody else has to forget
    overlap._PASSAGES.forget()  # noqa: SLF001


@cache
def methods() -> Mapping[str, Method]:
    """Detectors, floors and scorers, by name; those whose package is missing are left out."""
    found: dict[str, Method] = {}
    for name in ("lexical", "embedded"):
        checker = Checker(name, policy=Policy(timeout=None))
        checker.detector.load()
        checker.check(texts.interaction(0))
        found[name] = checker.check
    return {**found, FLOOR: _read_once, ROW: _one_row, **_scorers()}


FLOOR, ROW = "floor: all words read once", "floor: one row through the encoder"
SCORERS = ("rouge-score", "sacrebleu", "nltk")


def _read_once(item: Interaction) -> int:
    return sum(len(tokens.texts(text)) for text in (*(p.text for p in item.contexts), item.answer))


def _one_row(item: Interaction) -> object:
    """The first claim beside as much of the first passage as one row holds."""
    passage = item.contexts[0].text[: 8 * rows.LENGTH]
    builder = rows.Builder([passage], None, length=rows.LENGTH)
    (row, *_) = builder.rows(item.answer[:200], [Span(0, min(200, len(item.answer)))])
    return _encoder().read(row)


@cache
def _encoder() -> Encoder:
    return Loaded().get()


def _scorers() -> dict[str, Method]:
    """What people compare answer and context with: one figure each, without claims or places."""
    found: dict[str, Method] = {}
    try:
        from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 - the benchmark runs without it

        scorer = RougeScorer(["rouge1", "rougeL"])
        found["rouge-score"] = lambda item: scorer.score(_context(item), item.answer)
    except ImportError:
        pass
    try:
        import sacrebleu  # noqa: PLC0415 - likewise

        found["sacrebleu"] = lambda item: sacrebleu.sentence_bleu(item.answer, [_context(item)])
    except ImportError:
        pass
    try:
        from nltk.tokenize import wordpunct_tokenize  # noqa: PLC0415 - likewise
        from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu  # noqa: PLC0415

        smooth = SmoothingFunction().method1
        found["nltk"] = lambda item: sentence_bleu(
            [wordpunct_tokenize(_context(item))], wordpunct_tokenize(item.answer), smoothing_function=smooth
        )
    except ImportError:
        pass
    return found


def _context(item: Interaction) -> str:
    return "\n".join(passage.text for passage in item.contexts)


def _with_context(size: int) -> Interaction:
    small = texts.interaction(0)
    return Interaction(question=small.question, contexts=[_text(size)], answer=small.answer)


def _with_answer(claims: int) -> Interaction:
    item = texts.interaction(1, context_tokens=2_500, answer_tokens=6_000)
    answer = ". ".join(item.answer.split(". ")[:claims])
    assert answer.count(". ") >= claims // 2, "the passages have too few facts for so long an answer"
    return Interaction(question=item.question, contexts=item.contexts, answer=answer)


def _with_passages(count: int) -> Interaction:
    small, text = texts.interaction(0), _text(_DEAR)
    size = len(text) // count
    cut = [text[at : at + size] for at in range(0, len(text), size)][:count]
    return Interaction(question=small.question, contexts=cut, answer=small.answer)


@cache
def _text(size: int) -> str:
    return texts.words(size // 4)[:size]


# -- work: several at once, by the clock --------------------------------------------------------------------


def work(rounds: int) -> dict[str, dict[str, float]]:
    """Answers a second: by size of a batch, by threads, by processes; the best of some rounds, in turns."""
    shared = [texts.interaction(7, variant=i) for i in range(64)]
    apart = [texts.interaction(5_000 + i) for i in range(CHECKS)]
    tried: dict[str, Callable[[], int]] = {}
    for size in BATCHES:
        tried[f"embedded, batch {size}, the same passages"] = partial(_batched, shared, size)
    for threads in (1, 2):
        tried[f"embedded, {threads} thread{'s'[: threads - 1]}"] = partial(_threaded, apart, threads)
    for processes in (1, 2):
        tried[f"lexical, {processes} process{'es' if processes > 1 else ''}"] = partial(_spread, processes)
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for name, run in tried.items():
            _forget()
            clock, processor = time.perf_counter(), _processor()
            count = run()
            rate = count / (time.perf_counter() - clock)
            cost = 1e3 * (_processor() - processor) / count
            known = best.setdefault(name, {"a second": 0.0, "processor ms": cost})
            known["a second"] = max(known["a second"], rate)
            known["processor ms"] = min(known["processor ms"], cost)
        print(best, file=sys.stderr)
    return best


def _processor() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _batched(items: Sequence[Interaction], size: int) -> int:
    READER.use_threads(2)
    return _all(Checker("embedded", policy=Policy(timeout=None)).check_many(items, batch=size))


def _threaded(items: Sequence[Interaction], threads: int) -> int:
    READER.use_threads(threads)
    return _all(Checker("embedded", policy=Policy(timeout=None)).check_many(items))


def _spread(processes: int) -> int:
    """A pool of processes and nothing else, each with a share of the same work; its start counts."""
    shares = [range(6_000 + i, 6_000 + 10 * CHECKS, processes) for i in range(processes)]
    with ProcessPoolExecutor(processes) as pool:
        return sum(pool.map(_share, shares))


def _share(seeds: range) -> int:
    checker = Checker("lexical", policy=Policy(timeout=None))
    return _all(checker.check_many(texts.interaction(seed) for seed in seeds))


def _all(outcomes: Iterable[object]) -> int:
    return sum(1 for _ in outcomes)


# -- telling ------------------------------------------------------------------------------------------------

_WHAT = {
    "context": "characters of context",
    "answer": "claims of the answer",
    "passages": "passages of 100,000 characters",
}


def told(record: Mapping[str, Any]) -> str:
    """The record as Markdown."""
    lines = [f"Python {record['python']}, {record['cores']} cores, load {record['load']:.1f}"]
    for part, what in _WHAT.items():
        if part in record:
            sizes = sorted({size for sizes in record[part].values() for size in sizes})
            lines += ["", f"| ms of processor, by {what} | {' | '.join(f'{size:,}' for size in sizes)} |"]
            lines.append("|" + "---|" * (len(sizes) + 1))
            for name, taken in record[part].items():
                cells = [f"{taken[size]:.1f}" if size in taken else "" for size in sizes]
                lines.append(f"| {name} | {' | '.join(cells)} |")
    if "work" in record:
        lines += ["", "| | answers a second | ms of processor each |", "|---|---|---|"]
        lines += [
            f"| {name} | {one['a second']:.1f} | {one['processor ms']:.1f} |"
            for name, one in record["work"].items()
        ]
    return "\n".join(lines)


def plot_growth(record: Mapping[str, Any], path: Path) -> None:
    """Each growth as a line, both axes logarithmic, so that a straight one is a power."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - comes with the group bench

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    for axes, (part, what) in zip(figure.subplots(1, len(_WHAT), sharey=True), _WHAT.items(), strict=True):
        for name, taken in record[part].items():
            style = ":" if name.startswith("floor") else "-" if name in ("lexical", "embedded") else "--"
            axes.plot(list(taken), list(taken.values()), style, marker=".", label=name)
        axes.set(xscale="log", yscale="log", xlabel=what)
    figure.axes[0].set_ylabel("ms of processor")
    figure.axes[0].legend(fontsize=6)
    figure.savefig(path, dpi=90)


def plot_work(record: Mapping[str, Any], path: Path) -> None:
    """Answers a second: a bar for each way of working, those of one kind in one colour."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - comes with the group bench

    figure = Figure(figsize=(10, 2.8), layout="constrained")
    axes, names = figure.subplots(1, 2, width_ratios=(3, 1)), list(record["work"])
    for axis, detector in zip(axes, ("embedded", "lexical"), strict=True):
        mine = [name for name in names if name.startswith(detector)]
        rates = [record["work"][name]["a second"] for name in mine]
        bars = axis.barh([name.removeprefix(f"{detector}, ") for name in mine], rates)
        axis.bar_label(bars, fmt="%.1f", padding=3, fontsize=8)
        axis.set(title=detector, xlabel="answers a second", xlim=(0, 1.25 * max(rates)))
        axis.invert_yaxis()
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    main()
