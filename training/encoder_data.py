"""What each stage of the encoder's training reads: packed rows of labelled answers.

    python -m training.encoder_data --data DIR --out DIR

writes ``stage1.npz`` (short pairs: what follows from what), ``stage2-N.npz``, one for each epoch (answers of
RAGTruth with their marked words, changes made to them, and some of stage 1 again), ``stage3.npz`` (statements
beside the same ones with one thing wrong, and some of all the others), ``stage4-first.npz`` and
``stage4-next.npz`` (facts of our own), ``stage5.npz`` (more facts, and some of all the others once more),
``others.npz`` and ``again.npz`` (what the second encoder reads before RAGTruth's answers, and a share of it),
``answers-N.npz`` (these answers and changes made to them, drawn anew for each N), ``stage7.npz`` (documents
and answers of our own, and some of RAGTruth's), ``stage8.npz`` (answers of our own that are worded as large
models word theirs, and some of all before), ``stage9-first.npz`` and ``stage9-next.npz`` (more of them, in
rows of several lengths), ``stage10.npz`` (all of our own, and most of RAGTruth's),
``stage11-N.npz`` (all that teaches, drawn anew for each N), ``stage12-N.npz`` and ``stage13-N.npz`` (pairs of
our own and answers as a retriever leaves them, with all of that and with some of it), and ``held.npz``
(answers that no stage learns from, to export with). Deterministic.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from groundwire.local import rows
from groundwire.text import claims as claim_text
from training import encoder_contrasts, written
from training.encoder_answers import (
    MOSTLY_AS_READ,
    MOSTLY_LONG,
    TASK_WEIGHTS,
    Lengths,
    as_marked,
    copied,
    corrupted,
    flipped_records,
    ragtruth,
    thinned,
)
from training.encoder_contrasts import Pair
from training.encoder_facts import CLOSE, FIRST, FULL, NEXT, Habits, Maker
from training.encoder_rows import Label, Labelled, Packed
from training.encoder_sets import (
    Sets,
    claims_and_passages,
    marked_claims,
    short_pairs,
    supported,
    whole,
)
from training.facts import FACTS, Facts
from training.labelled_sets import FIT, RAGTRUTH, TEST, Raw, part
from training.retrieved import Passages

DOCUMENTS = ("defacto", "expertqa")
"""Sets whose contexts are copied from as well."""

COPIED_SHARE, COPIED_DOCUMENTS_SHARE = 0.12, 0.08
ALL_AGAIN, CLAIMS_AGAIN = 0.12, 0.3

QUOTED = ("expertqa", "defacto", "wice", "begin", "fever_rte")
"""Sets whose supported answers, and whose contexts, are contrasted with corruptions of themselves."""

STAGE3_TASK_WEIGHTS = {**TASK_WEIGHTS, "qa": 0.8}
QA_SUPPORTED_SHARE = 0.3
ANSWERS_SHARE, PASSAGES_SHARE, RECORDS_SHARE, PAIRS_SHARE = 0.62, 0.9, 0.5, 0.15

FIRST_FACTS, NEXT_FACTS = 12_000, 20_000
"""Pairs of facts of our own in the two steps of stage 4."""

OTHERS, SHORTEST_OTHER, LONGEST_OTHER = 6_000, 40, 200
"""How many sentences of other documents there are to put among facts, and of how many characters."""


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

WRITTEN_FIT = 0.9
"""Below it, documents of our own teach; from it on they choose."""

WRITTEN_CLOSE = 0.4
"""Of the answers of our own whose wrong ones keep nearer to the documents' words, the share that teaches."""

WRITTEN_WINDOWS, WRITTEN_CONTRASTS, WRITTEN_ELSEWHERE = 0.12, 0.6, 0.1
ANSWERS_BESIDE, MARKED_BESIDE = 0.2, 0.7
"""Of RAGTruth's answers, what is read beside our own."""

BEFORE, MARKED_BESIDE_MODELS = 0.15, 0.4
"""Of our own answers and of RAGTruth's, what is read again beside those worded as large models do."""

OF_MODELS, OF_MODELS_CHANGED, OURS_BESIDE = 0.7, 0.3, 0.22
RAGTRUTH_CHANGED, RAGTRUTH_MARKED = 0.15, 0.45
"""Shares of what is read in each half of stage 9."""

ALL_CHANGED, ALL_RAGTRUTH_CHANGED, ALL_RAGTRUTH_MARKED = 0.3, 0.2, 0.8
"""Shares of changes, and of RAGTruth's statements, in stage 10, which reads all of our own."""

DRAWN = 4
CONTRASTS_SHARE, SENTENCES_SHARE, SENTENCES_OF_DOCUMENTS_SHARE = 0.45, 0.08, 0.05

EACH_CHANGED, EACH_RAGTRUTH_CHANGED, EACH_CORRUPTED = 0.4, 0.5, 0.3
EACH_STATED, EACH_WINDOW, EACH_OF_OUR_WINDOWS = 0.5, 0.06, 0.04
EACH_CLOSE_FACTS, EACH_FULL_FACTS, EACH_NEXT_FACTS = 8_000, 4_000, 4_000
"""Shares, and numbers of pairs of facts, in each draw of stage 11."""

EACH_RETRIEVED = 0.4
"""Of RAGTruth's answers, the share that is read beside passages of other sources as well."""

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
DRAWN_13 = 2

Parts = Mapping[str, Sequence[Labelled]]


def main() -> None:
    """Write the rows of all stages, and those held back."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stage", type=int, choices=range(1, 14), help="all if left out")
    parser.add_argument("--epochs", type=int, default=3, help="of stage 2")
    parser.add_argument("--sample", type=int, metavar="N", help="the first N answers of each set, to try it")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    sets = Sets(data=args.data, most=args.sample)
    for (stage, name), made in FILES.items():
        if args.stage in (stage, None):
            write(args.out / f"{name}.npz", made(sets))
    if args.stage in (6, None):
        others = mixed(sets, SECOND, answers=False)
        write(args.out / "others.npz", joined("others", others))
        write(args.out / "again.npz", again_of(others))
        for number in range(DRAWN):
            write(args.out / f"answers-{number}.npz", joined(f"answers {number}", drawn_anew(sets, number)))
    if args.stage in (2, None):
        write(args.out / "held.npz", held(sets))
        for epoch in range(args.epochs):
            write(args.out / f"stage2-{epoch}.npz", marked_answers(sets, epoch))


def write(path: Path, made: Iterable[Labelled]) -> None:
    packed = Packed.of(made)
    packed.save(path)
    print(f"{path.name}: {len(packed)} rows, {len(packed.ids)} tokens", flush=True)


def marked_answers(sets: Sets, epoch: int) -> list[Labelled]:
    """An epoch of stage 2; each draws other changes, and other rows of stage 1."""
    rng = random.Random(epoch)
    fitting = ragtruth_teaching(sets)
    repeated = list(again(sets, epoch, rng))
    parts = {
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
    return joined(f"epoch {epoch}", parts)


def again(sets: Sets, epoch: int, rng: random.Random) -> Iterator[Labelled]:
    """Some of stage 1, so that it isn't forgotten: of all its sets once, then of those nearest to answers."""
    pairs, share = (claims_and_passages(sets), CLAIMS_AGAIN) if epoch else (short_pairs(sets), ALL_AGAIN)
    return (row for row in pairs if rng.random() < share)


def contrasted(sets: Sets) -> list[Labelled]:
    """Stage 3: statements and their corruptions, answers as they were marked, and some of stage 1."""
    rng, thinning = random.Random(0), random.Random(9)
    fitting = ragtruth_teaching(sets)
    marked = list(as_read(fitting, rng))
    answers = list(encoder_contrasts.of_answers(fitting, rng))
    stated = list(encoder_contrasts.of_statements(list(supported(sets, rng)), rng))
    passages = list(encoder_contrasts.of_passages([*sets.read(*QUOTED), *fitting], rng))
    records = [row for row in flipped_records(fitting, rng) if rng.random() < RECORDS_SHARE]
    pairs = [row for row in short_pairs(sets) if rng.random() < PAIRS_SHARE]
    parts = {
        "ragtruth": marked,
        "answers": list(some_pairs(answers, ANSWERS_SHARE, thinning)),
        "statements": list(chain.from_iterable(stated)),
        "passages": list(some_pairs(passages, PASSAGES_SHARE, thinning)),
        "records": records,
        "again": pairs,
    }
    return joined("stage 3", parts)


def as_read(fitting: Sequence[Raw], rng: random.Random, lengths: Lengths | None = None) -> Iterator[Labelled]:
    """Answers as they were marked, in whole rows or of ``lengths``; for QA, part of what is supported."""
    for raw in fitting:
        length = lengths.drawn(rng) if lengths else rows.LENGTH
        yield from thinned(raw, STAGE3_TASK_WEIGHTS[raw["task"]], length, QA_SUPPORTED_SHARE, rng)


def as_retrieved(fitting: Sequence[Raw], rng: random.Random) -> Iterator[Labelled]:
    """Some answers as they were marked, beside passages of other sources as well."""
    passages = Passages(fitting)
    for raw in fitting:
        if rng.random() < EACH_RETRIEVED:
            yield from as_read([passages.retrieved(raw, rng)], rng, MOSTLY_AS_READ)


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
    pairs_of_ours = [raw for raw in written.matched() if part(raw) < WRITTEN_FIT][: sets.most]
    parts: Parts = {
        **everything(sets, number),
        "matched": list(ours_as_marked(pairs_of_ours, rng, MOSTLY_AS_READ)),
        "retrieved": list(as_retrieved(ragtruth_teaching(sets), rng)),
    }
    return {
        name: [row._replace(weight=row.weight * worth.get(name, 1.0)) for row in made]
        for name, made in parts.items()
        if worth.get(name, 1.0)
    }


def ragtruth_teaching(sets: Sets) -> list[Raw]:
    """The answers of RAGTruth that may teach."""
    return [raw for raw in sets.read(*RAGTRUTH) if part(raw) < FIT]


def teaching() -> list[Raw]:
    """The answers of our own that may teach."""
    return [raw for raw in written.read() if part(raw) < WRITTEN_FIT]


def but_for_most_close(ours: Iterable[Raw], rng: random.Random) -> list[Raw]:
    """Answers of our own; of the close ones, the share that teaches."""
    return [raw for raw in ours if not written.is_close(raw) or rng.random() < WRITTEN_CLOSE]


def ours_as_marked(
    told: Iterable[Raw], rng: random.Random | None = None, lengths: Lengths = MOSTLY_LONG
) -> Iterator[Labelled]:
    """Answers of our own, as they are marked; with ``rng``, some of them beside less evidence."""
    for raw in told:
        length = lengths.drawn(rng) if rng else rows.LENGTH
        yield from as_marked(raw, claim_text.cut(raw["answer"]), 1.0, length)


def elsewhere(told: Sequence[Raw], rng: random.Random) -> Iterator[Labelled]:
    """Some answers of one statement beside another document of the same kind, which says nothing of it."""
    for raw in told:
        other = rng.choice(told)
        apart = other["context"] != raw["context"] and other["task"] == raw["task"]
        if apart and len(claim_text.cut(raw["answer"])) == 1 and rng.random() < WRITTEN_ELSEWHERE:
            yield from whole({**raw, "context": other["context"]}, Label.UNSUPPORTED)


def sentences_among(raws: Iterable[Raw], rng: random.Random) -> list[str]:
    """Sentences of the contexts, to put facts among."""
    found = {
        text
        for raw in raws
        for text in encoder_contrasts.sentences_of(raw["context"], SHORTEST_OTHER, LONGEST_OTHER)
    }
    return rng.sample(sorted(found), min(OTHERS, len(found)))


def joined(name: str, parts: Parts) -> list[Labelled]:
    """The rows of all parts, whose sizes are printed."""
    for of_part, made in parts.items():
        flagged = sum(row.label > Label.SUPPORTED for row in made)
        print(f"{name} {of_part}: {len(made)} rows, {flagged} not supported", flush=True)
    return [row for made in parts.values() for row in made]


def held(sets: Sets) -> Iterator[Labelled]:
    """Answers to sources between those that teach and those that measure."""
    for raw in sets.read(*RAGTRUTH):
        if FIT <= part(raw) < TEST:
            yield from as_marked(raw, claim_text.cut(raw["answer"]), 1.0)


def _named(name: str, made: Callable[[Sets], Parts]) -> Callable[[Sets], Iterable[Labelled]]:
    """What makes a file of several parts, and prints their sizes."""
    return lambda sets: joined(name, made(sets))


FILES: Mapping[tuple[int, str], Callable[[Sets], Iterable[Labelled]]] = {
    (1, "stage1"): short_pairs,
    (3, "stage3"): contrasted,
    (4, "stage4-first"): lambda sets: facts(sets, FIRST, FIRST_FACTS, 1),
    (4, "stage4-next"): lambda sets: facts(sets, NEXT, NEXT_FACTS, 2),
    (5, "stage5"): _named("stage5", mixed),
    (7, "stage7"): _named("stage7", of_our_own),
    (8, "stage8"): _named("stage8", of_models),
    (9, "stage9-first"): _named("stage9-first", partial(at_length, number=0)),
    (9, "stage9-next"): _named("stage9-next", partial(at_length, number=1)),
    (10, "stage10"): _named("stage10", all_answers),
    **{
        (11, f"stage11-{number}"): _named(f"stage11-{number}", partial(everything, number=number))
        for number in range(DRAWN)
    },
    **{
        (12, f"stage12-{number}"): _named(
            f"stage12-{number}", partial(and_matched, number=number, worth=WORTH_12[number])
        )
        for number in range(DRAWN)
    },
    **{
        (13, f"stage13-{number}"): _named(
            f"stage13-{number}", partial(and_matched, number=number, worth=WORTH_13)
        )
        for number in range(DRAWN_13)
    },
}
"""The files of most stages, by stage and name."""


if __name__ == "__main__":
    main()
