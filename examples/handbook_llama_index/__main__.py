"""The demo with LlamaIndex: the same handbook, the same questions, the same verdicts as ``make demo``.

Run it with ``make demo-llama-index``, or ``python -m examples.handbook_llama_index``. It needs no key and no
network.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path

from llama_index.core.base.base_query_engine import BaseQueryEngine
from rich.rule import Rule

import groundwire as gw
from examples.handbook.prepared import load_prepared
from examples.handbook.showing import Report, console, question_of
from examples.handbook_llama_index.app import build
from examples.handbook_llama_index.replay import replaying_model
from groundwire.host.record import Record
from groundwire.llama_index import CheckedQueryEngine, GroundwireHandler


def main() -> None:
    """Run the demo as told by the command line."""
    options = _options()
    engine = build(replaying_model())
    checker = gw.Checker()
    prepared = load_prepared()

    started = time.perf_counter()
    records = asyncio.run(ask_with_handler(engine, checker, [one.question for one in prepared]))
    seconds = time.perf_counter() - started

    report = Report(title="Skerryvane Airways: handbook answers, with LlamaIndex", quiet=options.quiet)
    report.begin("A LlamaIndex application answered passengers' questions from an airline's handbook.")
    report.add(records, {one.question: one for one in prepared})
    if not options.quiet:
        show_checked(engine, checker, prepared[0].question)
    report.close(options.html, seconds=seconds, detector=checker.detector.name)


async def ask_with_handler(
    engine: BaseQueryEngine, checker: gw.Checker, questions: list[str]
) -> list[Record]:
    """Ask the engine as it is, with one handler installed; the verdicts come in the background."""
    with GroundwireHandler(checker).install() as handler:
        await asyncio.gather(*(engine.aquery(question) for question in questions))
        handler.flush()
        asked = {question: place for place, question in enumerate(questions)}
        return sorted(handler.outcomes, key=lambda record: asked[question_of(record)])


def show_checked(engine: BaseQueryEngine, checker: gw.Checker, question: str) -> None:
    """Ask the same engine, checked; the verdict comes on the response itself."""
    checked = CheckedQueryEngine(engine, checker=checker, on_hallucination="warn")
    response = checked.query(question)
    verdict = (response.metadata or {})["hallucination"]
    console.print(Rule("The same engine, checked: the verdict is part of the response"))
    console.print('checked = CheckedQueryEngine(engine, on_hallucination="warn")', style="cyan")
    console.print(f"response = checked.query({question!r})", style="cyan")
    shown = {key: verdict[key] for key in ("status", "score", "threshold", "hallucinated", "level", "label")}
    console.print(str(response))
    console.print({"hallucination": {**shown, "...": "..."}})
    console.print()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.handbook_llama_index", description=__doc__)
    parser.add_argument("--quiet", action="store_true", help="print the summary alone")
    parser.add_argument(
        "--html",
        type=Path,
        default=Path("reports/handbook-llama-index.html"),
        help="where to write the report (default: %(default)s)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
