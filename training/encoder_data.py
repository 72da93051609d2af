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
our own and answers as a retriever leaves them, with all of that and with some of it), ``stage14-H-N.npz``
(half H of the answers that chose until then, with all of that or some), ``stage15-H.npz`` (longer answers in
conversations, with some of what half H was taught), and ``held.npz`` (answers that no stage before 14 learns
from, to export with). Deterministic.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from training.encoder_facts import FIRST, NEXT
from training.encoder_parts import Parts, facts, held
from training.encoder_rows import Label, Labelled, Packed
from training.encoder_sets import Sets, short_pairs
from training.encoder_stages import (
    FIRST_FACTS,
    NEXT_FACTS,
    SECOND,
    again_of,
    contrasted,
    drawn_anew,
    marked_answers,
    mixed,
)
from training.encoder_stages_ours import (
    DRAWS_14,
    WORTH_12,
    WORTH_13,
    all_answers,
    and_matched,
    at_length,
    everything,
    in_conversations,
    of_models,
    of_our_own,
    with_one_half,
)

DRAWN, DRAWN_13 = 4, 2
"""How many draws there are of a stage whose rows are drawn several times, and of stage 13."""


def main() -> None:
    """Write the rows of all stages, and those held back."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stage", type=int, choices=range(1, 16), help="all if left out")
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
            write(args.out / f"stage2-{epoch}.npz", joined(f"epoch {epoch}", marked_answers(sets, epoch)))


def write(path: Path, made: Iterable[Labelled]) -> None:
    packed = Packed.of(made)
    packed.save(path)
    print(f"{path.name}: {len(packed)} rows, {len(packed.ids)} tokens", flush=True)


def joined(name: str, parts: Parts) -> list[Labelled]:
    """The rows of all parts, whose sizes are printed."""
    for of_part, made in parts.items():
        flagged = sum(row.label > Label.SUPPORTED for row in made)
        print(f"{name} {of_part}: {len(made)} rows, {flagged} not supported", flush=True)
    return [row for made in parts.values() for row in made]


def _named(name: str, made: Callable[[Sets], Parts]) -> Callable[[Sets], Iterable[Labelled]]:
    """What makes a file of several parts, and prints their sizes."""
    return lambda sets: joined(name, made(sets))


FILES: Mapping[tuple[int, str], Callable[[Sets], Iterable[Labelled]]] = {
    (1, "stage1"): short_pairs,
    (3, "stage3"): _named("stage 3", contrasted),
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
    **{
        (14, f"stage14-{number}-{i}"): _named(
            f"stage14-{number}-{i}", partial(with_one_half, number=number, draw=draw)
        )
        for number, draws in enumerate(DRAWS_14)
        for i, draw in enumerate(draws)
    },
    **{
        (15, f"stage15-{number}"): _named(f"stage15-{number}", partial(in_conversations, number=number))
        for number in range(len(DRAWS_14))
    },
}
"""The files of most stages, by stage and name."""


if __name__ == "__main__":
    main()
