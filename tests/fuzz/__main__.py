"""``python -m tests.fuzz [TARGET ...] [--seconds N]``: coverage-guided fuzzing with atheris.

Each target runs for its share of the seconds in a process of its own, over its corpus and whatever it finds.
A failure is written to ``build/fuzz`` and ends the run with 1; put its bytes into
``tests/fuzz/corpus/TARGET`` when it is mended.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).parent / "corpus"
FOUND = ROOT / "build" / "fuzz"
_CHILD = "GROUNDWIRE_FUZZ_TARGET"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help="all of them if none is named")
    parser.add_argument("--seconds", type=int, default=480, help="for all targets together")
    given = parser.parse_args()
    from tests.fuzz.targets import TARGETS

    if unknown := [one for one in given.targets if one not in TARGETS]:
        parser.error(f"no target is named {unknown[0]!r}: expected one of {', '.join(TARGETS)}")
    names = given.targets or list(TARGETS)
    failed = [name for name in names if _run(name, max(1, given.seconds // len(names)))]
    told = f"failed: {', '.join(failed)}" if failed else f"nothing was found in {', '.join(names)}"
    sys.stdout.write(told + "\n")
    return int(bool(failed))


def _run(name: str, seconds: int) -> int:
    kept = FOUND / name
    kept.mkdir(parents=True, exist_ok=True)
    seeds = CORPUS / name
    folders = [str(kept), *([str(seeds)] if seeds.is_dir() else [])]
    options = [f"-max_total_time={seconds}", "-max_len=4096", "-timeout=20", "-rss_limit_mb=4096"]
    command = [sys.executable, "-m", "tests.fuzz", *options, f"-artifact_prefix={FOUND}/{name}-", *folders]
    return subprocess.run(command, env={**os.environ, _CHILD: name}, cwd=ROOT, check=False).returncode


def _fuzz(name: str) -> None:
    import atheris

    with atheris.instrument_imports(include=["groundwire"]):
        from tests.fuzz.targets import TARGETS
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    if target := os.environ.get(_CHILD):
        _fuzz(target)
    sys.exit(main())
