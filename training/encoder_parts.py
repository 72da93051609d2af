"""The parts that stages of the encoder's training read: which answers teach, and what is made of them.

Which of them make a stage, and with what share, ``encoder_stages`` and ``encoder_stages_ours`` say.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from groundwire.local import rows
from groundwire.text import claims as claim_text
from training import encoder_contrasts, written
from training.encoder_answers import (
    MOSTLY_AS_READ,
    MOSTLY_LONG,
    TASK_WEIGHTS,
    Lengths,
    as_marked,
    thinned,
)
from training.encoder_contrasts import Pair
from training.encoder_facts import Habits, Maker
from training.encoder_rows import Label, Labelled, as_pair
from training.encoder_sets import Sets, whole
from training.facts import FACTS, Facts
from training.labelled_sets import FIT, RAGTRUTH, Raw, half, is_between, part
from training.retrieved import Passages

DOCUMENTS = ("defacto", "expertqa")
"""Sets whose contexts are copied from as well."""

QUOTED = ("expertqa", "defacto", "wice", "begin", "fever_rte")
"""Sets whose supported answers, and whose contexts, are contrasted with corruptions of themselves."""

MARKED_TASK_WEIGHTS = {**TASK_WEIGHTS, "qa": 0.8}
QA_SUPPORTED_SHARE = 0.3
"""What RAGTruth's answers weigh as they are marked; the share of what supports an answer to a question."""

OTHERS, SHORTEST_OTHER, LONGEST_OTHER = 6_000, 40, 200
"""How many sentences of other documents there are to put among facts, and of how many characters."""

WRITTEN_FIT = 0.9
"""Below it, documents of our own teach; from it on they choose."""

WRITTEN_CLOSE = 0.4
"""Of the answers of our own whose wrong ones keep nearer to the documents' words, the share that teaches."""

ELSEWHERE = 0.1
"""Of our answers of one statement, the share that is put beside another document."""

RETRIEVED = 0.4
"""Of RAGTruth's answers, the share that is read beside passages of other sources as well."""

Parts = Mapping[str, Sequence[Labelled]]


def ragtruth_teaching(sets: Sets) -> list[Raw]:
    """The answers of RAGTruth that may teach."""
    return [raw for raw in sets.read(*RAGTRUTH) if part(raw) < FIT]


def half_that_chose(sets: Sets, number: int) -> list[Raw]:
    """Of RAGTruth's answers that what is stacked is fitted on, those to one half of the sources."""
    return [raw for raw in sets.read(*RAGTRUTH) if is_between(raw) and half(raw) == number]


def teaches(raw: Raw) -> bool:
    """Whether an answer of our own may teach before stage 14; all others choose."""
    return part(raw) < WRITTEN_FIT and not written.is_late(raw)


def teaching() -> list[Raw]:
    """The answers of our own that may teach."""
    return [raw for raw in written.read() if teaches(raw)]


def but_for_most_close(ours: Iterable[Raw], rng: random.Random) -> list[Raw]:
    """Answers of our own; of the close ones, the share that teaches."""
    return [raw for raw in ours if not written.is_close(raw) or rng.random() < WRITTEN_CLOSE]


def as_read(fitting: Sequence[Raw], rng: random.Random, lengths: Lengths | None = None) -> Iterator[Labelled]:
    """Answers as they were marked, in whole rows or of ``lengths``; for QA, part of what is supported."""
    for raw in fitting:
        length = lengths.drawn(rng) if lengths else rows.LENGTH
        yield from thinned(raw, MARKED_TASK_WEIGHTS[raw["task"]], length, QA_SUPPORTED_SHARE, rng)


def as_retrieved(fitting: Sequence[Raw], rng: random.Random) -> Iterator[Labelled]:
    """Some answers as they were marked, beside passages of other sources as well."""
    passages = Passages(fitting)
    for raw in fitting:
        if rng.random() < RETRIEVED:
            yield from as_read([passages.retrieved(raw, rng)], rng, MOSTLY_AS_READ)


def ours_as_marked(
    told: Iterable[Raw], rng: random.Random | None = None, lengths: Lengths = MOSTLY_LONG
) -> Iterator[Labelled]:
    """Answers of our own, as they are marked; with ``rng``, some of them beside less evidence."""
    for raw in told:
        length = lengths.drawn(rng) if rng else rows.LENGTH
        yield from as_marked(raw, claim_text.cut(raw["answer"]), 1.0, length)


def matched_as_marked(
    told: Iterable[tuple[Raw, Raw]], rng: random.Random, lengths: Lengths
) -> Iterator[Labelled]:
    """Matched answers of our own, as they are marked; their statements are in pairs, a right and a wrong one.

    Where the two are cut into different numbers of statements, the first ones of either kind are the pair.
    """
    for both in told:
        right, wrong = (list(ours_as_marked([raw], rng, lengths)) for raw in both)
        if len(right) == len(wrong):
            beside = [(i, i) for i in range(len(right))]
        else:
            beside = [(0, i) for i, row in enumerate(wrong) if right and row.label][:1]
        for one, other in beside:
            if wrong[other].label and not right[one].label:
                right[one], wrong[other] = as_pair(right[one], wrong[other])
        yield from right
        yield from wrong


def asked_as_marked(
    told: Sequence[tuple[Raw, Raw]], rng: random.Random, lengths: Lengths
) -> Iterator[Labelled]:
    """Pairs of answers to the questions of a document, as they are marked.

    In more of them the wrong answer affirms and the right one denies; both kinds weigh the same.
    """
    sides = [(_denies(right), _denies(wrong)) for right, wrong in told]
    denied, affirmed = sides.count((True, False)), sides.count((False, True))
    even = (denied + affirmed) / 2
    weights = {(True, False): even / max(1, denied), (False, True): even / max(1, affirmed)}
    for both, side in zip(told, sides, strict=True):
        for row in matched_as_marked([both], rng, lengths):
            yield row._replace(weight=row.weight * weights.get(side, 1.0))


def _denies(raw: Raw) -> bool:
    return _DENIAL.search(raw["answer"]) is not None


_DENIAL = re.compile(r"\b(?:no|not|never|nor|none|nothing|cannot)\b|n['’]t\b", re.IGNORECASE)


def ours_as_a_whole(told: Iterable[Raw], rng: random.Random) -> Iterator[Labelled]:
    """Answers of our own that teach statements alone: of the words that are wrong, few were marked."""
    for row in ours_as_marked(told, rng, MOSTLY_AS_READ):
        yield row._replace(words=[Label.IGNORED] * len(row.words))


def elsewhere(told: Sequence[Raw], rng: random.Random) -> Iterator[Labelled]:
    """Some answers of one statement beside another document of the same kind, which says nothing of it."""
    for raw in told:
        other = rng.choice(told)
        apart = other["context"] != raw["context"] and other["task"] == raw["task"]
        if apart and len(claim_text.cut(raw["answer"])) == 1 and rng.random() < ELSEWHERE:
            yield from whole({**raw, "context": other["context"]}, Label.UNSUPPORTED)


def some_pairs(pairs: Iterable[Pair], share: float, rng: random.Random) -> Iterator[Labelled]:
    """A share of the statements, each with its corruption after it."""
    return chain.from_iterable(pair for pair in pairs if rng.random() < share)


def facts(
    sets: Sets, habits: Habits, count: int, seed: int, others: Sequence[str] = ()
) -> Iterator[Labelled]:
    """Pairs of facts of our own; fewer for a sample of the sets."""
    count = count if sets.most is None else min(count, sets.most)
    maker = Maker(facts=Facts.read(FACTS), rng=random.Random(seed), habits=habits, others=others)
    return chain.from_iterable(maker.pairs(count))


def sentences_among(raws: Iterable[Raw], rng: random.Random) -> list[str]:
    """Sentences of the contexts, to put facts among."""
    found = {
        text
        for raw in raws
        for text in encoder_contrasts.sentences_of(raw["context"], SHORTEST_OTHER, LONGEST_OTHER)
    }
    return rng.sample(sorted(found), min(OTHERS, len(found)))


def held(sets: Sets) -> Iterator[Labelled]:
    """Answers to sources between those that teach and measure; stages 14 and 15 learn from them."""
    for raw in sets.read(*RAGTRUTH):
        if is_between(raw):
            yield from as_marked(raw, claim_text.cut(raw["answer"]), 1.0)
