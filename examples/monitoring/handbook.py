"""Production watched, reviewed and tuned anew: ``python -m examples.monitoring.handbook [FOLDER]``.

The handbook's chain answers its twenty prepared questions while a monitor keeps every answer with its
verdict. A reviewer, played by whoever prepared the answers, says of each what is true. Then the figures are
told, a threshold for these answers is written beside the settings in production, and a few reviewed ones
become examples for a judge. Needs
``pip install 'groundwire[bench,langchain,monitor,yaml]' bm25s``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import groundwire as gw
from examples.handbook.app import build
from examples.handbook.replay import load_prepared, replaying_model
from groundwire.langchain import GroundwireCallbackHandler
from groundwire.learning import propose, retune, reviewed_examples, save_examples
from groundwire.monitor import Monitor

SETTINGS = """\
detector: lexical
monitor:
  url: sqlite:///{folder}/groundwire.db
  tags: {{application: handbook}}
  redact: [keys, emails, cards]
"""


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "handbook-monitoring")
    folder.mkdir(parents=True, exist_ok=True)
    production = folder / "production.yaml"
    production.write_text(SETTINGS.format(folder=folder), encoding="utf-8")
    checker = gw.Checker.from_config(production)
    assert isinstance(checker.monitor, Monitor)

    with checker.monitor as monitor:
        answer_questions(checker)
        monitor.flush()
        review(monitor)
        tell(monitor)
        found = retune(monitor, checker)
        proposal = propose(found, production)
        print(f"f1 on answers held out: {found.tuning.before['f1']} now, {found.tuning.after['f1']} retuned")
        print(f"{proposal.path.name} is proposed; better for sure: {found.better}")
        for warning in found.tuning.tuned.warnings:
            print(f"warning: {warning}")
        examples = reviewed_examples(monitor, limit=4)
        save_examples(examples, folder / "examples.json")
        print(f"{len(examples)} reviewed answers are examples for a judge: examples.json")


def answer_questions(checker: gw.Checker) -> None:
    """The chain at work; the handler keeps what the checker says of each answer in the checker's monitor."""
    handler = GroundwireCallbackHandler(checker)
    chain = build(replaying_model())
    for one in load_prepared():
        chain.invoke(one.question, config={"callbacks": [handler], "metadata": {"route": "/handbook"}})
    handler.flush()


def review(monitor: Monitor) -> None:
    """The whole random queue, by somebody who knows which answers were prepared to be wrong."""
    wrong = {one.question: not one.grounded for one in load_prepared()}
    for kept in monitor.next("ann", queue="random", limit=20):
        assert kept.interaction is not None
        monitor.review(kept.id, "unsure", reviewer="ann", hallucinated=wrong[kept.interaction.question])


def tell(monitor: Monitor) -> None:
    figures = monitor.figures()
    for name in ("precision", "recall"):
        rate = getattr(figures.quality, name)
        print(f"{name} {rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}]")
    print(f"by {figures.quality.reviewed} reviews of {figures.answers} answers")


if __name__ == "__main__":
    main()
