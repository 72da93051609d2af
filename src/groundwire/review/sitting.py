"""What a reviewer has done since the page was started: the way back, what was put off, what can be undone.

It is kept in memory. What matters longer, the reviews themselves, is in the store.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from groundwire.monitor import Feedback

_MOST_SITTINGS = 500
_LONGEST_TRAIL = 1000


@dataclass(kw_only=True)
class Sitting:
    """One reviewer at one queue. ``trail`` are the answers that were shown, in their order.

    ``put_off`` are those that were passed over; ``earlier`` is what the reviewer's last word on an answer
    replaced, for those reviewed here: None where it was the first.
    """

    trail: list[str] = field(default_factory=list)
    put_off: list[str] = field(default_factory=list)
    earlier: dict[str, Feedback | None] = field(default_factory=dict)

    def show(self, key: str) -> None:
        """Remember that an answer is shown."""
        if key not in self.trail:
            self.trail.append(key)
            del self.trail[:-_LONGEST_TRAIL]

    def pass_over(self, key: str) -> None:
        """Put an answer off until no other is left."""
        if key not in self.put_off:
            self.put_off.append(key)
            del self.put_off[:-_LONGEST_TRAIL]

    def reviewed(self, said: Feedback, earlier: Feedback | None) -> None:
        """Remember what a review replaced; one that is sent twice replaces nothing the second time."""
        key = said.answer_id
        if key not in self.earlier or earlier is None or _words(earlier) != _words(said):
            self.earlier[key] = earlier
        if key in self.put_off:
            self.put_off.remove(key)

    def before(self, key: str) -> str | None:
        """The answer that was shown before this one."""
        at = self.trail.index(key) if key in self.trail else len(self.trail)
        return self.trail[at - 1] if at else None

    def after(self, key: str) -> str | None:
        """The answer that was shown after this one; None at the end of the trail."""
        at = self.trail.index(key) + 1 if key in self.trail else len(self.trail)
        return self.trail[at] if at < len(self.trail) else None


def _words(said: Feedback) -> Feedback:
    """The same without when and where it was said."""
    return replace(said, at=datetime.min.replace(tzinfo=UTC), source="")


class Sittings:
    """The sittings of all reviewers; those that were idle longest are forgotten beyond 500."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], Sitting] = OrderedDict()

    def of(self, reviewer: str, query: str) -> Sitting:
        """The sitting of a reviewer at what an address asks for."""
        with self._lock:
            sitting = self._known.setdefault((reviewer, query), Sitting())
            self._known.move_to_end((reviewer, query))
            while len(self._known) > _MOST_SITTINGS:
                self._known.popitem(last=False)
            return sitting
