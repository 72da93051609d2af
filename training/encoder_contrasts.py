"""Supported statements beside the same ones with one thing wrong, each a row of its own.

What is wrong comes from the same passages wherever it can: another of their names or figures, one of their
words, two names in each other's place. Looking words up tells the two apart no more; reading them does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence

from groundwire.core.span import Span
from groundwire.local.rows import LENGTH
from groundwire.text import claims as claim_text
from groundwire.text import sentences, tokens
from training import corruption
from training.encoder_answers import unharmed, unmarked, with_change
from training.encoder_rows import Labelled, as_pair
from training.labelled_sets import Raw, is_record


def _roles(sentence: str, context: str, rng: random.Random) -> corruption.Changed | None:
    """Two names in each other's place, and no "In" or "Her" taken for one."""
    changed = corruption.roles(sentence, context, rng)
    moved = [] if changed is None else [mark.span.of(changed.text).lower() for mark in changed.wrong]
    return None if tokens.STOP_WORDS.intersection(moved) else changed


Pair = tuple[Labelled, Labelled]
"""A row that is supported, and the same with one thing wrong."""

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

QA_SHARE = 0.25

LENGTHS = (128, LENGTH)
"""In tokens, of rows: one is drawn for each statement."""

_NEIGHBOURS = 4
_SHORTEST, _LONGEST = 30, 240
_REST = re.compile(r",? (?:which|who|while|because|although|but|after|before|including|such as) .*$")
_ASIDE = re.compile(r" \([^()]*\)|, [^,]{3,60}(?=, (?:is|was|are|were|has|had|have)\b)")


def of_answers(answers: Sequence[Raw], rng: random.Random) -> Iterator[Pair]:
    """The statements of answers that nobody marked; for QA, a quarter of them."""
    donors = [span.of(raw["answer"]) for raw in answers[::5] for span in claim_text.cut(raw["answer"])]
    for raw in answers:
        claims = claim_text.cut(raw["answer"])
        for i, _ in unmarked(raw, claims):
            if raw["task"] != "qa" or rng.random() <= QA_SHARE:
                yield from beside(raw, claims, i, rng.choice(donors), rng)


def of_statements(supported: Sequence[Raw], rng: random.Random) -> Iterator[Pair]:
    """Answers of one statement that is supported."""
    for raw in supported:
        statement = raw["answer"].strip()
        if len(statement) <= _LONGEST and raw["context"].strip():
            yield from about(raw, statement, rng.choice(supported)["answer"], rng)


def of_passages(raws: Iterable[Raw], rng: random.Random) -> Iterator[Pair]:
    """A sentence of each context as a statement about it, half of them shortened."""
    others = [""]
    for context, raw in {raw["context"]: raw for raw in raws}.items():
        found = sentences_of(context, _SHORTEST, _LONGEST)
        if found:
            text = rng.choice(found)
            statement = shortened(text) if rng.random() < 0.5 else text
            yield from about({**raw, "contexts": None}, statement, rng.choice(others), rng)
            others = found


def of_windows(raws: Iterable[Raw], share: float, rng: random.Random) -> Iterator[Pair]:
    """Sentences beside their neighbours alone, so that what is put in their places stands next to them."""
    for context in {raw["context"]: None for raw in raws}:
        found = sentences_of(context, _SHORTEST, _LONGEST)
        for i, text in enumerate(found):
            if rng.random() < share:
                first = max(0, i - rng.randrange(_NEIGHBOURS))
                window = " ".join(found[first : first + _NEIGHBOURS])
                statement = shortened(text) if rng.random() < 0.5 else text
                alone = {"context": window, "contexts": None, "task": "summary"}
                yield from about(alone, statement, rng.choice(found), rng)


def sentences_of(context: str, above: int, below: int) -> list[str]:
    """The sentences of a context, none of a record, with characters between ``above`` and ``below``."""
    if is_record(context):
        return []
    found = [span.of(context).strip() for span in sentences.split(context)]
    return [text for text in found if above < len(text) < below and "\n" not in text]


def shortened(sentence: str) -> str:
    """The sentence without asides and what hangs on its end: what is left mostly holds."""
    text = _REST.sub("", _ASIDE.sub("", sentence)).rstrip(" .,;:")
    return text + "." if len(text) >= _SHORTEST else sentence


def about(raw: Raw, statement: str, donor: str, rng: random.Random) -> Iterator[Pair]:
    """A statement in place of the answer, and of no question."""
    as_answer = {**raw, "answer": statement, "question": None}
    yield from beside(as_answer, [Span(0, len(statement))], 0, donor, rng)


def beside(raw: Raw, claims: Sequence[Span], i: int, donor: str, rng: random.Random) -> Iterator[Pair]:
    """Statement ``i`` as it is, or with its figures in another form, and corrupted; nothing if it can't."""
    statement = claims[i].of(raw["answer"])
    changed = corruption.corrupt(statement, raw["context"], donor, rng, AMONG)
    if changed is None:
        return
    length = rng.choice(LENGTHS)
    same = corruption.harmless(statement, rng) if rng.random() < 0.5 else None
    both = (unharmed(same or statement), changed)
    made = [list(with_change(raw, claims, i, text, 1.0, length=length)) for text in both]
    if [len(rows) for rows in made] == [1, 1]:  # a long statement takes several
        ((right,), (wrong,)) = made
        yield as_pair(right, wrong)
