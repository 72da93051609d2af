"""Stages 7 to 15: answers of our own, as they are marked and changed, and all that was taught before."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from training import encoder_contrasts, written
from training.encoder_answers import MOSTLY_AS_READ, MOSTLY_LONG, corrupted, flipped_records
from training.encoder_contrasts import Pair
from training.encoder_facts import CLOSE, FULL, NEXT
from training.encoder_parts import (
    DOCUMENTS,
    QUOTED,
    Parts,
    as_read,
    as_retrieved,
    asked_as_marked,
    but_for_most_close,
    elsewhere,
    facts,
    half_that_chose,
    matched_as_marked,
    ours_as_a_whole,
    ours_as_marked,
    ragtruth_teaching,
    sentences_among,
    some_pairs,
    teaches,
    teaching,
)
from training.encoder_rows import Labelled
from training.encoder_sets import Sets, marked_claims, short_pairs, supported
from training.labelled_sets import half

WRITTEN_WINDOWS, WRITTEN_CONTRASTS = 0.12, 0.6
"""Of our answers in stages 7 and 8, the sentences as they stand and the changes that are read."""

ANSWERS_BESIDE, MARKED_BESIDE = 0.2, 0.7
"""Of RAGTruth's answers, what is read beside our own."""

BEFORE, MARKED_BESIDE_MODELS = 0.15, 0.4
"""Of our own answers and of RAGTruth's, what is read again beside those worded as large models do."""

OF_MODELS, OF_MODELS_CHANGED, OURS_BESIDE = 0.7, 0.3, 0.22
RAGTRUTH_CHANGED, RAGTRUTH_MARKED = 0.15, 0.45
"""Shares of what is read in each half of stage 9."""

ALL_CHANGED, ALL_RAGTRUTH_CHANGED, ALL_RAGTRUTH_MARKED = 0.3, 0.2, 0.8
"""Shares of changes, and of RAGTruth's statements, in stage 10, which reads all of our own."""

EACH_CHANGED, EACH_RAGTRUTH_CHANGED, EACH_CORRUPTED = 0.4, 0.5, 0.3
EACH_STATED, EACH_WINDOW, EACH_OF_OUR_WINDOWS = 0.5, 0.06, 0.04
EACH_CLOSE_FACTS, EACH_FULL_FACTS, EACH_NEXT_FACTS = 8_000, 4_000, 4_000
"""Shares, and numbers of pairs of facts, in each draw of stage 11."""

FEWER_OF_RAGTRUTH = {"ragtruth": 0.4, "records": 0.5, "answers": 0.5, "corrupted": 0.5, "retrieved": 0.4}
WORTH_12: Sequence[Mapping[str, float]] = (
    {},
    FEWER_OF_RAGTRUTH,
    {**FEWER_OF_RAGTRUTH, "matched": 2.0},
    {**FEWER_OF_RAGTRUTH, "retrieved": 0.0},
)
"""What parts weigh in each draw of stage 12: four that were tried, whose mean is better overall."""

WORTH_13: Mapping[str, float] = {
    "matched": 1.5,
    "of models": 0.7,
    "written": 0.7,
    "ragtruth": 0.4,
    "retrieved": 0.4,
    "statements": 0.5,
    "wice": 0.5,
    **dict.fromkeys(
        ("changed", "records", "answers", "corrupted", "windows", "our windows", "elsewhere"), 0.0
    ),
    **dict.fromkeys(("close facts", "facts", "next facts", "pairs"), 0.0),
}
"""What parts weigh in stage 13, which reads answers as people and we marked them, and little else."""

LESS_OF_RAGTRUTH = {"ragtruth": 0.25, "records": 0.5, "answers": 0.3, "corrupted": 0.3, "retrieved": 0.25}
WHOLE = ("late", "new", "new, changed", "late matched", "matched", "asked")
"""Parts of stage 14 that are read whole in each draw: what chose before, and pairs of our own."""


class Draw(NamedTuple):
    """A draw of all that teaches, what its parts weigh, and the share of what didn't choose that is read."""

    number: int
    worth: Mapping[str, float]
    share: float = 1.0


DRAWS_14: Sequence[Sequence[Draw]] = [
    [
        Draw(4 + number, {}),
        Draw(4 + number, FEWER_OF_RAGTRUTH),
        Draw(6 + number, LESS_OF_RAGTRUTH),
        Draw(6 + number, LESS_OF_RAGTRUTH, share=0.25),
    ]
    for number in range(2)
]
"""Those of stage 14, by which half of what chose before is read with them."""

WHOLE_AGAIN, REST_AGAIN = 0.15, 0.06
"""Shares of the parts of stage 14, of ``WHOLE`` and of all others, that stage 15 reads again."""


def of_our_own(sets: Sets) -> Parts:
    """Answers that were written for this, as they are marked and with changes; and RAGTruth's beside them.

    Some of the wrong ones use the documents' words more than the right ones do. Sentences as they stand,
    right answers in other words with one thing wrong, and answers beside other documents make up for it.
    """
    rng = random.Random(7)
    ours = [raw for raw in teaching() if not written.is_of_models(raw)]
    told = but_for_most_close(ours, rng)[: sets.most]
    fitting = ragtruth_teaching(sets)
    windows = encoder_contrasts.of_windows(told, WRITTEN_WINDOWS, rng)
    of_answers = encoder_contrasts.of_answers(fitting, rng)
    marked = [*as_read(fitting, rng), *flipped_records(fitting, rng)]
    return {
        "written": list(ours_as_marked(told)),
        "written, changed": list(some_pairs(encoder_contrasts.of_answers(told, rng), WRITTEN_CONTRASTS, rng)),
        "written, sentences": list(chain.from_iterable(windows)),
        "written, elsewhere": list(elsewhere(told, rng)),
        "answers": list(some_pairs(of_answers, ANSWERS_BESIDE, rng)),
        "ragtruth": [row for row in marked if rng.random() < MARKED_BESIDE],
    }


def of_models(sets: Sets) -> Parts:
    """Answers of our own as large models word them, and changes made to them; and some of all before."""
    rng = random.Random(8)
    ours = teaching()
    told = [raw for raw in ours if written.is_of_models(raw)][: sets.most]
    others = [raw for raw in ours if not written.is_of_models(raw) and rng.random() < BEFORE]
    fitting = ragtruth_teaching(sets)
    marked = [*as_read(fitting, rng), *flipped_records(fitting, rng)]
    return {
        "of models": list(ours_as_marked(told)),
        "of models, changed": list(
            some_pairs(encoder_contrasts.of_answers(told, rng), WRITTEN_CONTRASTS, rng)
        ),
        "written": list(ours_as_marked(others[: sets.most])),
        "answers": list(some_pairs(encoder_contrasts.of_answers(fitting, rng), BEFORE, rng)),
        "ragtruth": [row for row in marked if rng.random() < MARKED_BESIDE_MODELS],
    }


def at_length(sets: Sets, number: int) -> Parts:
    """Answers as large models word them, and some of all others, in rows of different lengths.

    Each ``number`` draws others.
    """
    rng = random.Random(90 + number)
    ours = teaching()
    told = [raw for raw in ours if written.is_of_models(raw)]
    even = [raw for raw in ours if not written.is_of_models(raw) and not written.is_close(raw)]
    fitting = ragtruth_teaching(sets)
    some = [raw for raw in told if rng.random() < OF_MODELS][: sets.most]
    others = [raw for raw in even if rng.random() < OURS_BESIDE][: sets.most]
    marked = [*as_read(fitting, rng, MOSTLY_LONG), *flipped_records(fitting, rng)]
    return {
        "of models": list(ours_as_marked(some, rng)),
        "of models, changed": list(
            some_pairs(encoder_contrasts.of_answers(some, rng), OF_MODELS_CHANGED, rng)
        ),
        "written": list(ours_as_marked(others, rng)),
        "answers": list(some_pairs(encoder_contrasts.of_answers(fitting, rng), RAGTRUTH_CHANGED, rng)),
        "ragtruth": [row for row in marked if rng.random() < RAGTRUTH_MARKED],
    }


def all_answers(sets: Sets) -> Parts:
    """All answers of our own, most of RAGTruth's, and changes made to them, in rows as they are read."""
    rng = random.Random(100)
    told = but_for_most_close(teaching(), rng)
    of_models = [raw for raw in told if written.is_of_models(raw)][: sets.most]
    others = [raw for raw in told if not written.is_of_models(raw)][: sets.most]
    fitting = ragtruth_teaching(sets)
    changes = encoder_contrasts.of_answers([*of_models, *others], rng)
    of_answers = encoder_contrasts.of_answers(fitting, rng)
    marked = [*as_read(fitting, rng, MOSTLY_AS_READ), *flipped_records(fitting, rng)]
    return {
        "of models": list(ours_as_marked(of_models, rng, MOSTLY_AS_READ)),
        "written": list(ours_as_marked(others, rng, MOSTLY_AS_READ)),
        "changed": list(some_pairs(changes, ALL_CHANGED, rng)),
        "answers": list(some_pairs(of_answers, ALL_RAGTRUTH_CHANGED, rng)),
        "ragtruth": [row for row in marked if rng.random() < ALL_RAGTRUTH_MARKED],
    }


def everything(sets: Sets, number: int) -> Parts:
    """All that teaches, answers and what was taught before them; changes and facts are others each time."""
    rng = random.Random(110 + number)
    ours = but_for_most_close(teaching(), rng)
    of_models = [raw for raw in ours if written.is_of_models(raw)][: sets.most]
    others = [raw for raw in ours if not written.is_of_models(raw)][: sets.most]
    fitting = ragtruth_teaching(sets)

    def some(pairs: Iterable[Pair], share: float | None = None) -> list[Labelled]:
        return list(chain.from_iterable(pairs) if share is None else some_pairs(pairs, share, rng))

    # In this order: all draw from the same numbers.
    parts: dict[str, Sequence[Labelled]] = {
        "of models": list(ours_as_marked(of_models, rng, MOSTLY_AS_READ)),
        "written": list(ours_as_marked(others, rng, MOSTLY_AS_READ)),
        "changed": some(encoder_contrasts.of_answers([*of_models, *others], rng), EACH_CHANGED),
        "ragtruth": list(as_read(fitting, rng, MOSTLY_AS_READ)),
        "records": list(flipped_records(fitting, rng)),
        "answers": some(encoder_contrasts.of_answers(fitting, rng), EACH_RAGTRUTH_CHANGED),
        "corrupted": [row for row in corrupted(fitting, rng) if rng.random() < EACH_CORRUPTED],
        "statements": some(encoder_contrasts.of_statements(list(supported(sets, rng)), rng), EACH_STATED),
        "windows": some(encoder_contrasts.of_windows([*sets.read(*QUOTED), *fitting], EACH_WINDOW, rng)),
        "our windows": some(encoder_contrasts.of_windows(ours[: sets.most], EACH_OF_OUR_WINDOWS, rng)),
        "elsewhere": list(elsewhere(ours[: sets.most], rng)),
    }
    among = sentences_among(sets.read(*DOCUMENTS, "begin", "wice"), rng)
    return {
        **parts,
        "close facts": list(facts(sets, CLOSE, EACH_CLOSE_FACTS, 300 + number)),
        "facts": list(facts(sets, FULL, EACH_FULL_FACTS, 400 + number, among)),
        "next facts": list(facts(sets, NEXT, EACH_NEXT_FACTS, 500 + number)),
        "pairs": list(short_pairs(sets)),
        "wice": list(marked_claims(sets)),
    }


def and_matched(sets: Sets, number: int, worth: Mapping[str, float]) -> Parts:
    """Stage 11's draw of this number, pairs of our own, and answers as a retriever leaves them.

    ``worth`` is what the rows of a part weigh beside what they did; those that weigh nothing are left out.
    """
    rng = random.Random(120 + number)
    pairs_of_ours = [both for both in written.pairs() if teaches(both[0])]
    parts: Parts = {
        **everything(sets, number),
        "matched": list(matched_as_marked(pairs_of_ours[: sets.most], rng, MOSTLY_AS_READ)),
        "retrieved": list(as_retrieved(ragtruth_teaching(sets), rng)),
    }
    return {
        name: [row._replace(weight=row.weight * worth.get(name, 1.0)) for row in made]
        for name, made in parts.items()
        if worth.get(name, 1.0)
    }


def with_one_half(sets: Sets, number: int, draw: Draw) -> Parts:
    """Stage 14: half of the answers that chose before, RAGTruth's and our late ones, beside all that taught.

    Whoever was taught one half reads the other, so that what is stacked is fitted on answers that its
    readers don't know. Answers to several questions of a document are taught to both.
    """
    rng = random.Random(136 + draw.number)
    new = half_that_chose(sets, number)
    late = [raw for raw in written.read() if written.is_late(raw) and half(raw) == number][: sets.most]
    pairs = [both for both in written.pairs() if written.is_late(both[0]) and half(both[0]) == number]
    asked = [both for both in written.asked() if teaches(both[0]) and not written.is_talk(both[0])]
    parts: dict[str, list[Labelled]] = {"late": [], "new": [], "late matched": [], "asked": []}
    for _ in range(2):  # each beside as much evidence as is drawn for it
        parts["late"] += ours_as_a_whole(late, rng)
        parts["new"] += chain(as_read(new, rng, MOSTLY_AS_READ), as_retrieved(new, rng))
        parts["late matched"] += matched_as_marked(pairs[: sets.most], rng, MOSTLY_AS_READ)
        parts["asked"] += asked_as_marked(asked[: sets.most], rng, MOSTLY_AS_READ)
    parts["new"] += flipped_records(new, rng)
    parts["new, changed"] = list(
        some_pairs(encoder_contrasts.of_answers(new, rng), EACH_RAGTRUTH_CHANGED, rng)
    )
    before = and_matched(sets, draw.number, draw.worth)
    return {
        name: made if name in WHOLE else some_of(made, draw.share, rng)
        for name, made in {**parts, **before}.items()
    }


def in_conversations(sets: Sets, number: int) -> Parts:
    """Stage 15: answers of several statements in conversations, and some of all that stage 14 reads.

    Whoever was taught one half in stage 14 is taught the same half here.
    """
    rng = random.Random(150 + number)
    before = with_one_half(sets, number, Draw(8 + number, {}))
    again = {
        name: some_of(made, WHOLE_AGAIN if name in WHOLE else REST_AGAIN, rng)
        for name, made in before.items()
    }
    talks = [both for both in written.asked() if teaches(both[0]) and written.is_talk(both[0])]
    return {**again, "talks": list(asked_as_marked(talks[: sets.most], rng, MOSTLY_AS_READ))}


def some_of(made: Sequence[Labelled], share: float, rng: random.Random) -> list[Labelled]:
    """A share of the rows; of the two of a pair both or none."""
    drawn: dict[Hashable, bool] = {}
    return [
        row
        for row in made
        if drawn.setdefault(id(row) if row.pair is None else row.pair, rng.random() < share)
    ]
