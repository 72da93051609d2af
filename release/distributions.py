"""What is published, tried before it is: the wheel and the source distribution.

    python -m release.distributions [--out dist]

Both are built twice, from two folders, and have to come out the same, byte for byte. Then their metadata and
their contents are checked, and each is installed into an empty environment, where it has to judge a table.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from release.wheels import ROOT, built, tracked

INSIDE = (
    "groundwire/py.typed",
    "groundwire/local/data/encoder.onnx",
    "groundwire/local/data/encoder.json",
    "groundwire/local/data/vocab.txt",
    "groundwire/local/data/README.md",
    "groundwire/detectors/data/embedded.json",
    "groundwire/detectors/data/lexical.json",
    "groundwire/report/page.html.j2",
    "groundwire/monitor/migrations/versions/0001_answers.py",
)
"""What neither may lack: the weights above all. Prompts are counted against the folder."""

NOT_INSIDE = ("/__pycache__/", ".pyc", "/.git/", "/.venv", "/shared/", ".sqlite", ".db", ".ipynb_checkpoints")
ONLY_IN_SOURCE = ("tests/", "docs/", "examples/", "benchmarks/", "training/")
SAMPLE = [
    {"question": "What does a bag cost?", "context": "A bag costs 25 EUR.", "answer": "A bag costs 25 EUR."},
    {"question": "What does a bag cost?", "context": "A bag costs 25 EUR.", "answer": "A bag costs 75 EUR."},
]


def contents(path: Path) -> dict[str, bytes]:
    """The files of a distribution, by their names; a source distribution's without its first folder."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            if (file := archive.extractfile(member)) is not None:
                found[member.name.partition("/")[2]] = file.read()
    return found


def problems(name: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """What is wrong with the contents of the distribution called ``name``."""
    wheel = name.endswith(".whl")
    package = "" if wheel else "src/"
    for needed in INSIDE:
        if f"{package}{needed}" not in files:
            yield f"{name} lacks {needed}"
    for prompt in (ROOT / "src" / "groundwire" / "prompts").glob("*.toml"):
        if f"{package}groundwire/prompts/{prompt.name}" not in files:
            yield f"{name} lacks the prompt {prompt.name}"
    record = json.loads(files.get(f"{package}groundwire/local/data/encoder.json", b'{"files": {}}'))
    for file, told in record["files"].items():
        data = files.get(f"{package}groundwire/local/data/{file}", b"")
        if hashlib.sha256(data).hexdigest() != told["sha256"]:
            yield f"{name}: {file} is not the file whose checksum encoder.json has"
    yield from _strangers(name, files)


def _strangers(name: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """What does not belong there: caches, the tests in a wheel, folders of this machine."""
    wheel = name.endswith(".whl")
    here = [str(ROOT).encode(), str(Path.home()).encode() + b"/", sys.prefix.encode()]
    for file, data in files.items():
        if any(part in f"/{file}" for part in NOT_INSIDE):
            yield f"{name} holds {file}"
        if wheel and file.startswith(ONLY_IN_SOURCE):
            yield f"{name} holds {file}, which is for the source distribution alone"
        if any(path in data for path in here):
            yield f"{name}: {file} names a folder of this machine"


def differences(one: Path, other: Path) -> Iterator[str]:
    """Which files of two builds differ, where the builds do."""
    if one.read_bytes() == other.read_bytes():
        return
    ours, theirs = contents(one), contents(other)
    differing = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    yield f"two builds of {one.name} differ in {', '.join(differing) or 'their order, dates or modes'}"


def tried(path: Path, folder: Path) -> Iterator[str]:
    """Install a distribution into an empty environment, away from the checkout, and judge with it."""
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [str(python), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), str(path)]
    subprocess.run(install, check=True)
    sample = folder / "answers.jsonl"
    sample.write_text("".join(json.dumps(row) + "\n" for row in SAMPLE), encoding="utf-8")
    command = [str(folder / "bin" / "groundwire"), "check", str(sample), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 1:
        yield f"{path.name}: groundwire check ended with {done.returncode}, not 1: {done.stderr.strip()}"
    elif [row["hallucinated"] for row in json.loads(done.stdout)["results"]] != [False, True]:
        yield f"{path.name}: groundwire check judged its sample wrongly: {done.stdout}"
    script = [str(python), "-P", str(ROOT / "tests" / "base_install.py")]
    if subprocess.run(script, check=False, cwd=folder).returncode:
        yield f"{path.name}: tests/base_install.py failed"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where both are left")
    asked = parser.parse_args(arguments)
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pair = built(asked.out)
        for one, other in zip(pair, built(folder / "again", tracked(folder / "tree")), strict=True):
            wrong += differences(one, other)
        if subprocess.run(
            [sys.executable, "-m", "twine", "check", "--strict", *map(str, pair)], check=False
        ).returncode:
            wrong.append("twine check failed")
        for index, one in enumerate(pair):
            wrong += problems(one.name, contents(one))
            wrong += tried(one, folder / f"empty-{index}")
    for one in pair:
        print(f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}")
    for problem in wrong:
        print(problem, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
