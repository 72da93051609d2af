"""Run the notebooks again and store what they show.

    python -m documentation.run_notebooks

Each runs in a fresh kernel of this Python, offline; one that raises is not stored.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from documentation.links import NOTEBOOKS, ROOT

FORMAT: Any = nbformat  # its functions have no types


def ran(path: Path) -> Any:
    """The notebook with the outputs of a run of its own. Raises CellExecutionError where a cell does.

    What never comes out the same twice is left out: times, log lines, which name runs, and the plain text
    of what is shown as HTML, which has the seconds that judging took.
    """
    notebook = FORMAT.read(path, as_version=4)
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
            for data in (one.get("data", {}) for one in cell.outputs):
                if "text/html" in data:
                    data.pop("text/plain", None)
    notebook.metadata.pop("language_info", None)
    return notebook


def main() -> int:
    for path in sorted((ROOT / NOTEBOOKS).glob("*.ipynb")):
        FORMAT.write(ran(path), path)
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
