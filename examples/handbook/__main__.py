"""The demo: a LangChain application answers from an airline's handbook, and groundwire judges each answer.

Run it with ``make demo``, or ``python -m examples.handbook``. It needs no key and no network. With
``--model bedrock:MODEL_ID``, or any other LangChain model string, that model answers the questions, and
judges the answers apart from them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from rich.rule import Rule

import groundwire as gw
from examples.handbook.app import build
from examples.handbook.replay import load_prepared, replaying_model
from examples.handbook.showing import Report, console, question_of
from groundwire.host.record import Record
from groundwire.langchain import GroundwireCallbackHandler, with_hallucination_check
from groundwire.langchain.models import from_string


def main() -> None:
    """Run the demo as told by the command line."""
    options = _options()
    model: BaseChatModel = from_string(options.model) if options.model else replaying_model()
    checker = gw.Checker("judge", judge=gw.Judge(options.model)) if options.model else gw.Checker()
    chain = build(model)
    prepared = load_prepared()

    started = time.perf_counter()
    records = ask_with_callback(chain, checker, [one.question for one in prepared])
    seconds = time.perf_counter() - started

    known = {} if options.model else {one.question: one for one in prepared}
    report = Report(title="Skerryvane Airways: handbook answers", quiet=options.quiet)
    report.begin("A LangChain application answered passengers' questions from an airline's handbook.")
    report.add(records, known)
    if not options.quiet:
        show_wrapper(chain, checker, prepared[0].question)
    report.close(options.html, seconds=seconds, detector=checker.detector.name)


def ask_with_callback(chain: Runnable[str, str], checker: gw.Checker, questions: list[str]) -> list[Record]:
    """Ask the chain as it is, with one callback; the verdicts come in the background."""
    with GroundwireCallbackHandler(checker) as handler:
        chain.batch(questions, config={"callbacks": [handler]})
        handler.flush()
        asked = {question: place for place, question in enumerate(questions)}
        return sorted(handler.outcomes, key=lambda record: asked[question_of(record)])


def show_wrapper(chain: Runnable[str, str], checker: gw.Checker, question: str) -> None:
    """Ask the same chain through the wrapper; the verdict comes on the answer itself."""
    checked = with_hallucination_check(chain, checker=checker, on_hallucination="warn")
    answered: dict[str, Any] = checked.invoke(question)
    verdict = answered["hallucination"]
    console.print(Rule("The same chain, wrapped: the verdict is part of the answer"))
    console.print('checked = with_hallucination_check(chain, on_hallucination="warn")', style="cyan")
    console.print(f"checked.invoke({question!r})", style="cyan")
    shown = {key: verdict[key] for key in ("status", "score", "threshold", "hallucinated", "level", "label")}
    console.print({"answer": answered["answer"], "hallucination": {**shown, "...": "..."}})
    console.print()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.handbook", description=__doc__)
    parser.add_argument("--model", help="a LangChain model string, such as bedrock:MODEL_ID or openai:gpt-5")
    parser.add_argument("--quiet", action="store_true", help="print the summary alone")
    parser.add_argument(
        "--html",
        type=Path,
        default=Path("reports/handbook.html"),
        help="where to write the report (default: %(default)s)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
