"""A batch in a process of its own, to be killed: python -m tests.batch.running IN OUT RECIPE ENGINE ROWS.

ENGINE is "local", or the address of a cluster.
"""

import sys

from groundwire.batch import Batch, Local, Ray
from tests.batch import answers


def main() -> None:
    source, out, recipe, engine, rows = sys.argv[1:]
    with Batch([source], out, checker=getattr(answers, recipe), unit_rows=int(rows)) as job:
        summary = job.run(Local(processes=2) if engine == "local" else Ray(address=engine))
    sys.stdout.write(f"{summary.stats.rows} {summary.now.rows} {summary.complete}")


if __name__ == "__main__":
    main()
