"""Building the distributions, the same bytes each time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def built(folder: Path) -> tuple[Path, Path]:
    """The wheel and the source distribution, fresh in ``folder``."""
    shutil.rmtree(folder, ignore_errors=True)
    when = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.strip()
    command = [sys.executable, "-m", "build", "-q", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, env=os.environ | {"SOURCE_DATE_EPOCH": when})
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source
