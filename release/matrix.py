"""The tests on every Python, with the lowest and the newest releases of what groundwire stands on.

    python -m release.matrix [--cell NAME ...] [--all]

Each cell is an environment of its own: the wheel, the extras `all` and `ray`, and the tests' own tools. `lowest` takes each
dependency at the bound that pyproject.toml names, `newest` what resolves today, whatever constraints.txt says. A
`base` cell has the wheel alone. The interpreters are those on the PATH.

What came out is added to docs/compatibility.json, and docs/compatibility.md is written from it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from release.wheels import ROOT, built

WORK = ROOT / "build" / "matrix"
RECORD = ROOT / "docs" / "compatibility.json"
PAGE = ROOT / "docs" / "compatibility.md"
SHOWN = ("langchain-core", "langchain", "llama-index-core", "numpy", "onnxruntime", "pydantic")
PART = (
    "adapters batch checker core detectors host judge langchain llama_index monitor prompts sinks tables text"
)
"""Of tests/: what versions of Python, the frameworks and numpy can break, and needs no server."""

PINNED = (
    "test_docs.py",
    "test_release.py",
    "test_site.py",
    "benchmarks",
    "training",
    "bench",
    "probes",
    "local/test_optional.py",
)
"""Of tests/, what not even --all runs: it says nothing about other versions, or needs what a cell has not."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One environment: a Python, and which end of the bounds."""

    python: str
    resolution: str  # uv's: lowest-direct or highest
    base: bool = False

    @property
    def name(self) -> str:
        end = {"lowest-direct": "lowest", "highest": "newest"}[self.resolution]
        return f"{'base' if self.base else 'full'}-{self.python}-{end}"


CELLS = (
    Cell(python="3.11", resolution="lowest-direct", base=True),
    Cell(python="3.11", resolution="highest", base=True),
    Cell(python="3.12", resolution="highest", base=True),
    Cell(python="3.13", resolution="highest", base=True),
    Cell(python="3.11", resolution="lowest-direct"),
    Cell(python="3.11", resolution="highest"),
    Cell(python="3.12", resolution="highest"),
    Cell(python="3.13", resolution="highest"),
)


def uv(*arguments: str) -> str:
    """The output of uv. Raises CalledProcessError, and uv says why, where it can't do it."""
    # Hard links are refused by nltk 3.10.3 and later, which LlamaIndex reads its data with.
    settings = {"UV_PYTHON_DOWNLOADS": "never", "UV_LINK_MODE": "copy", "UV_SYSTEM_CERTS": "1"}
    command = [str(Path(sys.executable).with_name("uv")), *arguments]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=settings | os.environ
    )
    return done.stdout


def environment(cell: Cell, wheel: Path) -> Path:
    """A fresh environment with what the cell asks for. Returns its Python."""
    home = WORK / cell.name
    shutil.rmtree(home, ignore_errors=True)
    uv("venv", "-q", "--python", cell.python, str(home))
    python = str(home / "bin" / "python")
    pins = home / "pins.txt"
    extras = [] if cell.base else ["--extra", "all", "--extra", "ray"]
    compiled = ["--no-header", "--no-annotate", "--python", python, "-o"]
    uv(
        "pip",
        "compile",
        "-q",
        "pyproject.toml",
        *extras,
        "--resolution",
        cell.resolution,
        *compiled,
        str(pins),
    )
    uv("pip", "install", "-q", "--python", python, "-r", str(pins))
    if not cell.base:
        uv("pip", "install", "-q", "--python", python, "--group", "dev", "-c", str(pins))
    uv("pip", "install", "-q", "--python", python, "--no-deps", str(wheel))
    return Path(python)


def tests(*, everything: bool) -> list[str]:
    """The paths that a full cell runs."""
    if everything:
        return ["tests", *(f"--ignore=tests/{one}" for one in PINNED)]
    return [f"tests/{one}" for one in PART.split()]


def tried(cell: Cell, wheel: Path, *, everything: bool) -> dict[str, object]:
    """What came out of one cell: versions, counts of tests, and which failed."""
    python = environment(cell, wheel)
    counts: dict[str, object]
    if cell.base:
        script = ROOT / "tests" / "base_install.py"
        done = subprocess.run([python, "-P", script], cwd=python.parent, check=False)
        counts = {
            "passed": int(done.returncode == 0),
            "skipped": 0,
            "failed": [] if not done.returncode else ["base"],
        }
    else:
        told = WORK / f"{cell.name}.xml"
        command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={told}"]
        subprocess.run([*command, *tests(everything=everything)], cwd=ROOT, check=False)
        counts = counted(told)
    listed = json.loads(uv("pip", "list", "--python", str(python), "--format", "json"))
    versions = {one["name"]: one["version"] for one in listed if one["name"] in SHOWN}
    exact = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    ran = "base_install.py" if cell.base else ("everything" if everything else PART)
    seen = {"python_exact": exact, "date": today, "ran": ran, "versions": versions}
    return asdict(cell) | seen | counts


def counted(told: Path) -> dict[str, object]:
    """The counts of a JUnit report, and the names of the tests that failed."""
    cases = list(ET.parse(told).getroot().iter("testcase"))  # noqa: S314 - pytest has just written it
    kinds = [next((child.tag for child in case if child.tag != "properties"), "passed") for case in cases]
    failed = [
        f"{case.get('classname')}.{case.get('name')}"
        for case, kind in zip(cases, kinds, strict=True)
        if kind in ("failure", "error")
    ]
    return {
        "passed": len(cases) - len(failed) - kinds.count("skipped"),
        "skipped": kinds.count("skipped"),
        "failed": failed,
    }


def page(record: Mapping[str, Any]) -> str:
    """The record as Markdown."""
    rows = []
    for cell in (one for one in CELLS if one.name in record):
        seen = record[cell.name]
        versions = [seen["versions"].get(name, "") for name in SHOWN]
        failed = "<br>".join(f"`{one}`" for one in seen["failed"]) or "none"
        told = [
            seen["date"],
            seen["python_exact"],
            "lowest" if "lowest" in cell.name else "newest",
            *versions,
        ]
        told += [f"`{seen['ran']}`", f"{seen['passed']:,}", f"{seen['skipped']:,}", failed]
        rows.append(f"| {' | '.join(told)} |")
    names = " | ".join(SHOWN)
    head = f"| date | Python | bounds | {names} | ran | passed | skipped | failed |"
    return f"{_SAID}\n{head}\n|{'---|' * (head.count('|') - 1)}\n" + "\n".join(rows) + f"\n{_NOTES}"


_SAID = """# Compatibility

groundwire needs Python 3.11 or later. The table shows the versions it was tested with. `lowest` has every direct dependency at the lowest
version that groundwire allows, `newest` what was newest on that day.

For each line `make matrix` makes an environment, installs the wheel, and runs the tests in the named folders of `tests/`. The command also
writes this page.
"""
_NOTES = """
Two sets of tests are not included: those of `encoder`, which need PyTorch, and those of this documentation, which run with the versions of
constraints.txt. The lowest versions are tested on Python 3.11 alone, because the lowest numpy and pyarrow don't support 3.13, and an installer
takes newer ones there.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--cell", action="append", choices=[cell.name for cell in CELLS], help="only this one"
    )
    parser.add_argument(
        "--all", action="store_true", help="every test, not only those that versions can break"
    )
    asked = parser.parse_args(arguments)
    WORK.mkdir(parents=True, exist_ok=True)
    wheel = built(WORK / "dist")[0]
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    failed = False
    for cell in CELLS:
        if asked.cell and cell.name not in asked.cell:
            continue
        result = tried(cell, wheel, everything=asked.all)
        failed |= bool(result["failed"])
        record[cell.name] = result
        print(cell.name, f"{result['passed']} passed, {result['skipped']} skipped, failed:", result["failed"])
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(record), encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
