"""Building the wheel and the source distribution, the same bytes each time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def built(folder: Path, source: Path = ROOT) -> tuple[Path, Path]:
    """The wheel and the source distribution of the tree at ``source``, fresh in ``folder``.

    Files in them are dated by the last commit, so that two builds of one commit are the same file.
    """
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(source)]
    subprocess.run(
        command, check=True, env=os.environ | {"SOURCE_DATE_EPOCH": committed()}, stdout=subprocess.DEVNULL
    )
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, archive


def committed() -> str:
    """When the last commit was made, in seconds since 1970."""
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()


def tracked(folder: Path) -> Path:
    """A copy of the files that git knows, as they are now, in a folder of its own."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True, cwd=ROOT)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder
