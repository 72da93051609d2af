"""The handbook's answers as a batch: stopped in the middle, gone on with, and read as one table.

``python -m examples.batch.handbook [FOLDER]``. Needs ``pip install 'groundwire[batch]'``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from examples.handbook.prepared import PAGES, load_prepared
from groundwire.batch import Batch, Local
from groundwire.batch.work import Done


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "handbook-batch")
    folder.mkdir(parents=True, exist_ok=True)
    answers = folder / "answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    out = folder / "judged"
    try:
        judge(answers, out, stop_after=1)
    except KeyboardInterrupt:
        print(f"stopped: {len(list(out.glob('part-*')))} of 4 parts are done")
    judge(answers, out)
    outcomes = [json.loads(line) for part in sorted(out.glob("part-*")) for line in part.open()]
    flagged = sum(one["hallucinated"] is True for one in outcomes)
    print(f"{len(outcomes)} answers, {flagged} flagged; {out / '_groundwire' / 'summary.html'}")


def rows() -> list[dict[str, object]]:
    """Each answer of the handbook application, with its question and the pages that it should have read."""
    return [
        {
            "id": one.id,
            "question": one.question,
            "contexts": [(PAGES / f"{name}.md").read_text(encoding="utf-8") for name in one.pages],
            "answer": one.answer,
        }
        for one in load_prepared()
    ]


def judge(answers: Path, out: Path, *, stop_after: int | None = None) -> None:
    """Begin the batch, and press Ctrl-C when so many units are done; or go on with it, to its end."""

    def heard(done: Done) -> None:
        if stop_after is not None and done.unit + 1 >= stop_after:
            raise KeyboardInterrupt

    anew = stop_after is not None
    with Batch([str(answers)], str(out), checker="lexical", unit_rows=5, overwrite=anew) as batch:
        summary = batch.run(Local(processes=1), on_done=heard)
        print(f"this run: {summary.now.rows} rows; complete: {summary.complete}")


if __name__ == "__main__":
    main()
