"""Stages 1 to 6: what follows from what, RAGTruth's answers and changes made to them, facts of our own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from training import encoder_contrasts
from training.encoder_answers import MOSTLY_LONG, copied, corrupted, flipped_records, ragtruth
from training.encoder_facts import CLOSE, FULL
from training.encoder_parts import (
    DOCUMENTS,
    QUOTED,
    Parts,
    as_read,
    facts,
    ragtruth_teaching,
    sentences_among,
    some_pairs,
)
from training.encoder_rows import Labelled
from training.encoder_sets import Sets, claims_and_passages, marked_claims, short_pairs, supported

COPIED_SHARE, COPIED_DOCUMENTS_SHARE = 0.12, 0.08
ALL_AGAIN, CLAIMS_AGAIN = 0.12, 0.3
"""Shares of what stage 2 copies, and of stage 1 in its first epoch and the next ones."""

ANSWERS_SHARE, PASSAGES_SHARE, RECORDS_SHARE, PAIRS_SHARE = 0.62, 0.9, 0.5, 0.15
"""Shares of what stage 3 reads."""

FIRST_FACTS, NEXT_FACTS = 12_000, 20_000
"""Pairs of facts of our own in the two steps of stage 4."""


@dataclass(frozen=True, kw_only=True)
class Mix:
    """How many pairs of facts: close together, and among other sentences; and the share of windows."""

    close: int
    full: int
    windows: float


STAGE5 = Mix(close=14_000, full=9_000, windows=0.12)
SECOND = Mix(close=9_000, full=6_000, windows=0.1)
ANSWERS_AGAIN, MARKED_AGAIN = 0.6, 0.35

AGAIN = {"close facts": 0.12, "facts": 0.2, "pairs": 0.13, "windows": 0.1, "statements": 0.12, "wice": 0.3}
"""The share of each part of ``others.npz`` that is read again beside RAGTruth's answers."""

SENTENCES_SHARE, SENTENCES_OF_DOCUMENTS_SHARE, CONTRASTS_SHARE = 0.08, 0.05, 0.45
"""Shares of sentences as they stand, and of contrasts, beside RAGTruth's answers."""


def marked_answers(sets: Sets, epoch: int) -> Parts:
    """An epoch of stage 2; each draws other changes, and other rows of stage 1."""
    rng = random.Random(epoch)
    fitting = ragtruth_teaching(sets)
    repeated = list(again(sets, epoch, rng))
    return {
        "ragtruth": list(ragtruth(fitting, rng)),
        "corrupted": list(corrupted(fitting, rng)),
        "records": list(flipped_records(fitting, rng)),
        "copied": [
            *copied(fitting, rng, COPIED_SHARE),
            *copied(sets.read(*DOCUMENTS), rng, COPIED_DOCUMENTS_SHARE),
        ],
        "marked": list(marked_claims(sets)),
        "again": repeated,
    }


def again(sets: Sets, epoch: int, rng: random.Random) -> Iterator[Labelled]:
    """Some of stage 1, so that it isn't forgotten: of all its sets once, then of those nearest to answers."""
    pairs, share = (claims_and_passages(sets), CLAIMS_AGAIN) if epoch else (short_pairs(sets), ALL_AGAIN)
    return (row for row in pairs if rng.random() < share)


def contrasted(sets: Sets) -> Parts:
    """Stage 3: statements and their corruptions, answers as they were marked, and some of stage 1."""
    rng, thinning = random.Random(0), random.Random(9)
    fitting = ragtruth_teaching(sets)
    marked = list(as_read(fitting, rng))
    answers = list(encoder_contrasts.of_answers(fitting, rng))
    stated = list(encoder_contrasts.of_statements(list(supported(sets, rng)), rng))
    passages = list(encoder_contrasts.of_passages([*sets.read(*QUOTED), *fitting], rng))
    records = [row for row in flipped_records(fitting, rng) if rng.random() < RECORDS_SHARE]
    pairs = [row for row in short_pairs(sets) if rng.random() < PAIRS_SHARE]
    return {
        "ragtruth": marked,
        "answers": list(some_pairs(answers, ANSWERS_SHARE, thinning)),
        "statements": list(chain.from_iterable(stated)),
        "passages": list(some_pairs(passages, PASSAGES_SHARE, thinning)),
        "records": records,
        "again": pairs,
    }


def mixed(sets: Sets, mix: Mix = STAGE5, *, answers: bool = True) -> Parts:
    """Facts, what follows from what, statements beside their corruptions, and RAGTruth's answers or none."""
    rng = random.Random(5)
    fitting = ragtruth_teaching(sets) if answers else []
    windows = encoder_contrasts.of_windows([*sets.read(*QUOTED), *fitting], mix.windows, rng)
    stated = encoder_contrasts.of_statements(list(supported(sets, rng)), rng)
    of_answers = encoder_contrasts.of_answers(fitting, rng)
    marked = [*as_read(fitting, rng), *flipped_records(fitting, rng)]
    others = sentences_among(sets.read(*DOCUMENTS, "begin", "wice"), rng)
    return {
        "close facts": list(facts(sets, CLOSE, mix.close, 3)),
        "facts": list(facts(sets, FULL, mix.full, 4, others)),
        "pairs": list(short_pairs(sets)),
        "windows": list(chain.from_iterable(windows)),
        "statements": list(chain.from_iterable(stated)),
        "answers": list(some_pairs(of_answers, ANSWERS_AGAIN, rng)),
        "ragtruth": [row for row in marked if rng.random() < MARKED_AGAIN],
        "wice": list(marked_claims(sets)),
    }


def again_of(others: Parts) -> Iterator[Labelled]:
    """A share of each part that isn't RAGTruth's."""
    rng = random.Random(6)
    return (row for name, share in AGAIN.items() for row in others[name] if rng.random() < share)


def drawn_anew(sets: Sets, number: int) -> Parts:
    """RAGTruth's answers as they are marked, and changes made to them; each number draws others."""
    rng = random.Random(100 + number)
    fitting = ragtruth_teaching(sets)
    sentences = [
        *copied(fitting, rng, SENTENCES_SHARE),
        *copied(sets.read(*DOCUMENTS), rng, SENTENCES_OF_DOCUMENTS_SHARE),
    ]
    return {
        "ragtruth": list(ragtruth(fitting, rng, MOSTLY_LONG)),
        "corrupted": list(corrupted(fitting, rng)),
        "records": list(flipped_records(fitting, rng)),
        "copied": sentences,
        "contrasts": list(some_pairs(encoder_contrasts.of_answers(fitting, rng), CONTRASTS_SHARE, rng)),
    }
