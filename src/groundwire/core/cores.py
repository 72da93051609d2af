"""How many cores this process may keep busy: those it is bound to, or fewer where a container has a limit.

A container with two CPUs on a machine with 64 sees all 64. What it may use stands in its control group.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

# A group without a limit has no such file, or "max" in it.
_NO_LIMIT = OSError, ValueError, ZeroDivisionError
_GROUPS, _OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def usable_cores(groups: Path = _GROUPS, own: Path = _OWN) -> int:
    """The cores that this process may use, at least 1; half a core more counts as one."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([bound, *(math.ceil(limit) for limit in _limits(groups, own))]))


def _limits(groups: Path, own: Path) -> Iterator[float]:
    """The limits of this process's control group and of those around it, in cores."""
    for folder in _around(groups, own):
        with suppress(*_NO_LIMIT):
            quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
            yield float(quota) / float(period)
    first_version = groups / "cpu"
    with suppress(*_NO_LIMIT):
        quota, period = (
            (first_version / f"cpu.cfs_{name}_us").read_text(encoding="ascii") for name in ("quota", "period")
        )
        if float(quota) > 0:  # -1 for no limit
            yield float(quota) / float(period)


def _around(groups: Path, own: Path) -> Iterator[Path]:
    """The folder of this process's group, as it sees it, and those of the groups around it."""
    yield groups
    with suppress(OSError, ValueError):
        for line in own.read_text(encoding="utf-8").splitlines():
            if line.startswith("0::/"):
                group = PurePosixPath(line.removeprefix("0::/"))
                yield from (groups / part for part in (group, *group.parents) if ".." not in part.parts)
