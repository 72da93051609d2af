"""What judging costs: time on one core, the start of a fresh process, memory, room on disk.

    python -m benchmarks.costs speed|memory|length --detectors NAMES ...

Each measurement runs in a process of its own, started here with one thread and, for speed, bound to one core;
it prints one line of JSON. Wall-clock times are those of the machine as it is; times of the processor are
what a core that does nothing else would take.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
# Folders of the package whose files a detector reads; a detector that isn't named here reads both.
_WEIGHTS = {"lexical": ("detectors/data",)}
_ALL_WEIGHTS = ("detectors/data", "local/data")
FRESH_PROCESSES = 5
FLAT = 0.05
"""Memory that grows by less than this share after the first tenth is called flat."""
_WARM_UP = 3

_START = """
import json, sys, time
def now():
    return time.perf_counter(), time.process_time()
started = now()
import groundwire
imported = now()
checker = groundwire.Checker({name!r})
checker.detector.load()
loaded = now()
checker.check(groundwire.Interaction(answer="The fee is 75 euros.", contexts="The fee is 25 euros a year."))
judged = now()
print(json.dumps({{
    "import": [after - before for before, after in zip(started, imported)],
    "load": [after - before for before, after in zip(imported, loaded)],
    "first": [after - before for before, after in zip(loaded, judged)],
    "modules": sorted({{module.partition(".")[0] for module in sys.modules}}),
}}))
"""


class CostError(Exception):
    """A measurement whose process failed, with the end of what it said."""


def speed(detectors: Sequence[str], count: int) -> dict[str, Any]:
    """Seconds a check for each detector, passages unknown and known, in turns on one core."""
    return _measured("speed", detectors, "--count", str(count))


def memory(detector: str, interactions: int) -> dict[str, Any]:
    """Resident memory after every tenth of ``interactions`` of all sizes."""
    return _measured("memory", [detector], "--count", str(interactions))


def length(detector: str, words: int) -> dict[str, Any]:
    """Seconds and resident memory of one check against a context of ``words`` words."""
    return _measured("length", [detector], "--count", str(words))


def start(detector: str) -> dict[str, tuple[float, float]]:
    """Median seconds of fresh processes to import, to load what judging needs, to judge a first answer.

    Of each the seconds of the clock, and those of the processor.
    """
    found = [_fresh(detector) for _ in range(FRESH_PROCESSES)]
    return {
        part: (
            statistics.median(one[part][0] for one in found),
            statistics.median(one[part][1] for one in found),
        )
        for part in ("import", "load", "first")
    }


def room(detector: str, beside: str = "lexical") -> dict[str, Any]:
    """Megabytes of weights, and of the installed packages that ``beside`` does without."""
    folders = _WEIGHTS.get(detector, _ALL_WEIGHTS)
    package = Path(str(resources.files("groundwire")))
    files = [file for folder in folders for file in (package / folder).rglob("*") if file.is_file()]
    extra = _packages(_fresh(detector)["modules"]) - _packages(_fresh(beside)["modules"]) - {"groundwire"}
    added = _with_requirements(extra) - _with_requirements(_required("groundwire") - extra)
    return {
        "weights_mb": sum(file.stat().st_size for file in files) / 1e6,
        "added_install_mb": {name: _size(name) / 1e6 for name in sorted(added)},
    }


def _fresh(detector: str) -> dict[str, Any]:
    return _run([sys.executable, "-c", _START.format(name=detector)])


def _measured(kind: str, detectors: Sequence[str], *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.costs", kind, "--detectors", ",".join(detectors), *options]
    return _run(command)


def _run(command: Sequence[str]) -> dict[str, Any]:
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # Modules compiled once, as pip leaves them: a process that may not keep them compiles all each time.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command,
        env={**kept, **ONE_THREAD, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CostError(f"the process ended with {done.returncode}; its message is above")
    read: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return read


def _packages(modules: Iterable[str]) -> set[str]:
    owners = importlib.metadata.packages_distributions()
    return {_plain(name) for module in modules for name in owners.get(module, ())}


def _with_requirements(names: Iterable[str]) -> set[str]:
    """The packages and all that they require, as far as installed."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_required(name))
    return found


def _required(name: str) -> set[str]:
    required = importlib.metadata.requires(name) or []
    named = {_plain(_NAME.match(one).group()) for one in required if "extra ==" not in one}  # type: ignore[union-attr]
    return {one for one in named if _installed(one)}


def _installed(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _size(name: str) -> int:
    files = importlib.metadata.files(name) or []
    paths = [Path(str(file.locate())) for file in files]
    return sum(path.stat().st_size for path in paths if path.is_file())


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


# What follows runs in the process that is measured; groundwire is imported there and then.


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", choices=("speed", "memory", "length"))
    parser.add_argument("--detectors", required=True)
    parser.add_argument("--count", type=int, required=True)
    args = parser.parse_args()
    measure: Mapping[str, Callable[[Sequence[str], int], dict[str, Any]]] = {
        "speed": _speed,
        "memory": _memory,
        "length": _length,
    }
    print(json.dumps(measure[args.kind](args.detectors.split(","), args.count)))


def _speed(detectors: Sequence[str], count: int) -> dict[str, Any]:
    """Seconds of the clock and of the processor for each check, and for a check in batches of all."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    from benchmarks import texts  # noqa: PLC0415 - only once the process is bound to its core

    checkers = {name: _checker(name) for name in detectors}
    taken: dict[str, dict[str, list[list[float]]]] = {name: {"cold": [], "warm": []} for name in detectors}
    for i in range(_WARM_UP + count):
        for turn in range(len(detectors)):
            at = (i + turn) % len(detectors)
            name, check = detectors[at], checkers[detectors[at]].check
            # Detectors may share what is remembered of passages, so each has passages of its own.
            seed = i * len(detectors) + at
            cold, warm = texts.interaction(seed), texts.interaction(seed, variant=1)
            for kind, item in (("cold", cold), ("warm", warm)):
                spent = _timed(partial(check, item))
                if i >= _WARM_UP:
                    taken[name][kind].append(spent)
    batches = {
        name: _timed(partial(_all, checkers[name], [texts.interaction(seed) for seed in seeds]))
        for name, seeds in zip(detectors, _fresh_seeds(len(detectors), count), strict=True)
    }
    example = texts.interaction(0)
    return {
        "context_tokens": sum(texts.tokens(passage.text) for passage in example.contexts),
        "answer_tokens": texts.tokens(example.answer),
        "checks": {
            name: {**kinds, "batch": [[spent / count for spent in batches[name]]]}
            for name, kinds in taken.items()
        },
    }


def _fresh_seeds(detectors: int, count: int) -> list[range]:
    first = 1_000_000
    return [range(first + i * count, first + (i + 1) * count) for i in range(detectors)]


def _memory(detectors: Sequence[str], count: int) -> dict[str, Any]:
    """Megabytes resident after each tenth, over texts of all sizes that never come twice."""
    from benchmarks import texts  # noqa: PLC0415 - before it, nothing of groundwire is in memory

    (name,) = detectors
    checker = _checker(name)
    every = max(1, count // 10)
    marks = [[0, _resident()]]
    started = time.perf_counter()
    sized = random.Random("sizes")
    items = (
        texts.interaction(seed, context_tokens=sized.randint(50, 1_000), answer_tokens=sized.randint(10, 150))
        for seed in range(count)
    )
    for done, _ in enumerate(checker.check_many(items), start=1):
        if done % every == 0:
            marks.append([done, _resident()])
            print(f"{name}: {done} interactions, {marks[-1][1]:.0f} MB", file=sys.stderr)
    return {"marks": marks, "seconds": time.perf_counter() - started, "peak_mb": _resident("VmHWM")}


def _length(detectors: Sequence[str], count: int) -> dict[str, Any]:
    """One check against one passage of ``count`` words, after a small one that loads what is loaded late."""
    from benchmarks import texts  # noqa: PLC0415 - before it, nothing of groundwire is in memory
    from groundwire import Interaction  # noqa: PLC0415

    (name,) = detectors
    checker = _checker(name)
    small = texts.interaction(0)
    checker.check(small)
    before = _resident()
    passage = texts.words(count)
    item = Interaction(answer=small.answer, contexts=[passage], question=small.question)
    clock, processor = _timed(partial(checker.check, item))
    return {
        "words": len(passage.split()),
        "seconds": clock,
        "processor_seconds": processor,
        "before_mb": before,
        "after_mb": _resident(),
        "peak_mb": _resident("VmHWM"),
    }


def _checker(name: str) -> Any:
    from groundwire import Checker, Policy  # noqa: PLC0415 - only once the process is as it is measured

    checker = Checker(name, policy=Policy(timeout=None))
    checker.detector.load()
    return checker


def _all(checker: Any, items: Sequence[Any]) -> None:
    for _ in checker.check_many(items):
        pass


def _timed(run: Callable[[], object]) -> list[float]:
    clock, processor = time.perf_counter(), time.process_time()
    run()
    return [time.perf_counter() - clock, time.process_time() - processor]


def _resident(field: str = "VmRSS") -> float:
    """Megabytes of this process in memory, as Linux counts them."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)[1]) / 1e3  # type: ignore[index]


if __name__ == "__main__":
    main()
