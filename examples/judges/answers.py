"""Two answers to judge, and how these examples print what a judge says of them."""

from __future__ import annotations

import sys
from collections.abc import Callable

import groundwire as gw

PASSAGES = [
    "A first checked bag costs 25 EUR, a second one 40 EUR.",
    "Changes are free of charge until 24 hours before departure.",
]
ANSWERS = [
    gw.Interaction(
        id="stated", question="What does a second bag cost?", contexts=PASSAGES, answer="It costs 40 EUR."
    ),
    gw.Interaction(
        id="invented", question="Can I still change?", contexts=PASSAGES, answer="Yes, until 2 hours before."
    ),
]


def main(build: Callable[..., gw.Checker], how: str | None) -> None:
    """Show what the checker says that ``build`` makes of the arguments; without any, ``how`` to call it."""
    if not sys.argv[1:]:
        sys.exit(how)
    show(build(*sys.argv[1:]))


def show(checker: gw.Checker) -> None:
    """Judge both answers and print a line for each."""
    for interaction, outcome in zip(ANSWERS, checker.check_many(ANSWERS), strict=True):
        score = "not judged" if outcome.score is None else f"{outcome.level}, score {outcome.score:.2f}"
        print(f"{interaction.id}: {score} ({outcome.usage.calls} calls)")
        print(f"  {outcome.reason}")
