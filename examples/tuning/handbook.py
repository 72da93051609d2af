"""From labelled answers to a tuned checker in a chain: ``python -m examples.tuning.handbook [FOLDER]``.

Writes the handbook's twenty prepared answers as a table with labels, tunes the ``lexical`` detector to them,
saves what was fitted and hangs a checker that reads by it on the handbook's chain. Needs
``pip install 'groundwire[bench,langchain]' bm25s``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import groundwire as gw
from examples.benchmarking.handbook import write_table
from examples.handbook.app import build
from examples.handbook.replay import load_prepared, replaying_model
from groundwire.bench import datasets, tuning
from groundwire.bench.runs import judge
from groundwire.langchain import GroundwireCallbackHandler

TARGET = "recall>=0.8"


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "handbook-tuning")
    folder.mkdir(parents=True, exist_ok=True)
    examples = datasets.load(write_table(folder / "labelled.csv"))
    checker = gw.Checker("lexical")
    found = tuning.tune(judge(examples, checker, record=folder / "outcomes.jsonl"), checker, target=TARGET)
    found.save(folder / "tuned.json")
    print(f"threshold {found.own_threshold:g} before, {found.tuned.grading.threshold:.3f} tuned for {TARGET}")
    for name in ("precision", "recall"):
        print(f"{name} on answers held out: {found.before[name]} before, {found.after[name]} tuned")
    for warning in found.tuned.warnings:
        print(f"warning: {warning}")

    handler = GroundwireCallbackHandler(gw.Checker.from_config(folder / "tuned.json"))
    chain = build(replaying_model())
    for one in load_prepared():
        chain.invoke(one.question, config={"callbacks": [handler]})
    handler.flush()
    flagged = sum(bool(record.outcome.hallucinated) for record in handler.outcomes)
    print(
        f"in the chain: {flagged} of {len(handler.outcomes)} answers flagged, read by {folder / 'tuned.json'}"
    )


if __name__ == "__main__":
    main()
