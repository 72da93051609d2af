"""Supported statements beside the same ones with one thing wrong, each a row of its own.

What is wrong comes from the same passages wherever it can: another of their names or figures, one of their
words, two names in each other's place. Looking words up tells the two apart no more; reading them does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence

from groundwire.core.span import Span
from groundwire.text import claims as claim_text
from groundwire.text import sentences, tokens
from training import corruption
from training.encoder_answers import TASK_WEIGHTS, marks_of, unharmed, with_change
from training.encoder_rows import Labelled
from training.labelled_sets import Raw


def _roles(sentence: str, context: str, rng: random.Random) -> corruption.Changed | None:
    """Two names in each other's place, and no "In" or "Her" taken for one."""
    changed = corruption.roles(sentence, context, rng)
    moved = [] if changed is None else [mark.span.of(changed.text).lower() for mark in changed.wrong]
    return None if tokens.STOP_WORDS.intersection(moved) else changed


AMONG: Sequence[tuple[corruption.Corruption, float]] = (
    (corruption.name, 4.0),
    (corruption.number, 4.0),
    (corruption.other_word, 3.0),
    (_roles, 3.0),
    (corruption.opposite, 2.5),
    (corruption.calendar, 1.5),
    (corruption.negation, 0.8),
)
"""The corruptions out of the context, and how often each is tried."""

LENGTHS = (128, 192)
"""In tokens, of rows: one is drawn for each statement."""

_SHORTEST, _LONGEST = 30, 240
_REST = re.compile(r",? (?:which|who|while|because|although|but|after|before|including|such as) .*$")
_ASIDE = re.compile(r" \([^()]*\)|, [^,]{3,60}(?=, (?:is|was|are|were|has|had|have)\b)")


def of_answers(answers: Iterable[Raw], rng: random.Random) -> Iterator[Labelled]:
    """The statements of answers that nobody marked; for QA, a quarter of them."""
    kept = list(answers)
    donors = [span.of(raw["answer"]) for raw in kept[::5] for span in claim_text.cut(raw["answer"])]
    for raw in kept:
        claims = claim_text.cut(raw["answer"])
        marks = marks_of(raw)
        for i, span in enumerate(claims):
            if any(mark.touches(span) for mark in marks) or (raw["task"] == "qa" and rng.random() > 0.25):
                continue
            yield from beside(raw, claims, i, rng.choice(donors), rng)


def of_statements(supported: Sequence[Raw], rng: random.Random) -> Iterator[Labelled]:
    """Answers of one statement that is supported."""
    for raw in supported:
        statement = raw["answer"].strip()
        if len(statement) <= _LONGEST and raw["context"].strip():
            yield from beside(
                {**raw, "answer": statement, "question": None},
                [Span(0, len(statement))],
                0,
                rng.choice(supported)["answer"],
                rng,
            )


def of_passages(raws: Iterable[Raw], rng: random.Random) -> Iterator[Labelled]:
    """A sentence of each context as a statement about it, half of them shortened."""
    others = [""]
    for context in dict.fromkeys(raw["context"] for raw in raws):
        if context.lstrip().startswith("{"):
            continue
        found = [span.of(context).strip() for span in sentences.split(context)]
        found = [text for text in found if _SHORTEST < len(text) < _LONGEST and "\n" not in text]
        for text in rng.sample(found, min(1, len(found))):
            statement = shortened(text) if rng.random() < 0.5 else text
            raw: Raw = {"answer": statement, "context": context, "question": None, "task": "qa", "spans": []}
            yield from beside(raw, [Span(0, len(statement))], 0, rng.choice(others), rng)
        others = found or others


def shortened(sentence: str) -> str:
    """The sentence without asides and what hangs on its end: what is left mostly holds."""
    text = _REST.sub("", _ASIDE.sub("", sentence)).rstrip(" .,;:")
    return text + "." if len(text) >= _SHORTEST else sentence


def beside(raw: Raw, claims: Sequence[Span], i: int, donor: str, rng: random.Random) -> Iterator[Labelled]:
    """Statement ``i`` as it is, or with its figures in another form, and corrupted; nothing if it can't."""
    statement = claims[i].of(raw["answer"])
    changed = corruption.corrupt(statement, raw["context"], donor, rng, AMONG)
    if changed is None:
        return
    length = rng.choice(LENGTHS)
    same = corruption.harmless(statement, rng) if rng.random() < 0.5 else None
    # ``with_change`` weighs by task, and here all weigh the same.
    weight = 1 / min(1.5, TASK_WEIGHTS.get(raw["task"], 1.0) + 0.2)
    both = (unharmed(same or statement), changed)
    made = [row for text in both for row in with_change(raw, claims, i, text, weight, length=length)]
    if len(made) == len(both):  # a long one takes several rows, and would part the others
        yield from made
