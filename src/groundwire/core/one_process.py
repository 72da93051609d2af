"""What is of one process alone, and shared by whatever is copied together with it."""

from __future__ import annotations

from typing import Any, NoReturn, Self, SupportsIndex


class OfOneProcess:
    """Something with threads, connections or limits: a copy of it is itself, and it can't be pickled.

    A second one would hear what the first one heard, and spend twice what was allowed.
    """

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        name = type(self).__name__
        raise TypeError(
            f"{name} can't be pickled: it has threads and connections, or limits, of one process. Build one "
            "in each process, from the same settings, as with Checker.from_config(settings), and send those "
            f"instead (copy.copy and copy.deepcopy share the {name})"
        )
