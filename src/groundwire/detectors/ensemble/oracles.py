"""The oracles of an ensemble: who is asked, under which name, by which of the judge's models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Complete, Failed, Plan, Reply, Request, T, asking, through
from groundwire.core.verdict import Abstention
from groundwire.detectors import settings
from groundwire.detectors.catalogue import METHODS
from groundwire.detectors.ensemble.claim_reader import ClaimReader
from groundwire.detectors.ensemble.opinions import Heard, Opinion, of_claim

# Providers keep no shorter beginnings of a prompt; the shortest limit known is 1,024 tokens.
_WORTH_KEEPING = 4_096


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """One oracle: a ClaimReader, or any detector that gives claims.

    ``model`` is one of the judge's further models by its name; "" is the judge's own. ``name`` is how votes
    and reliabilities name it; left out, it is the detector's name, and its model's. Raises ConfigurationError
    naming what is wrong.
    """

    detector: Detector
    model: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        # The class is frozen: only its constructor may set fields.
        object.__setattr__(self, "detector", settings.build(self.detector, nested=True))
        method = METHODS.get(self.detector.name)
        if method is not None and method.locates == "nothing":
            raise ConfigurationError(
                f"the {self.detector.name!r} detector judges the answer as a whole and gives no claims; "
                "use one that locates"
            )
        named = "@".join(one for one in (self.detector.name, self.model) if one)
        object.__setattr__(self, "name", self.name or named)

    @property
    def opinions(self) -> int:
        """How many opinions it gives."""
        one = self.detector
        return one.readings * one.samples if isinstance(one, ClaimReader) else 1

    @property
    def names(self) -> list[str]:
        """The names that its opinions vote under."""
        return [self.name] if self.opinions == 1 else [f"{self.name}/{i + 1}" for i in range(self.opinions)]

    def hear(self, interaction: Interaction) -> Plan[Heard]:
        """Ask it for all of its opinions."""
        if isinstance(self.detector, ClaimReader):
            plan = self.detector.hear(interaction, self.name)
        else:
            plan = self._by_detector(interaction)
        return (yield from asking(plan, self.model))

    def _by_detector(self, interaction: Interaction) -> Plan[Heard]:
        outcome = yield from self.detector.detect(interaction)
        if isinstance(outcome, Abstention):
            trouble = Failed(reason=outcome.why, detail=outcome.detail)
            return Heard(opinions=(Opinion(oracle=self.name, trouble=trouble),))
        said = tuple(of_claim(self.name, claim) for claim in outcome.claims)
        return Heard(opinions=(Opinion(oracle=self.name, said=said),), saved=outcome.usage.saved_tokens)


def read(given: Any) -> Oracle:
    """An oracle from what a settings file has: a detector's name, its table, or a table of an Oracle."""
    oracle: Oracle = settings.holding(Oracle, given, "oracles")
    return oracle


def primed(plan: Plan[T]) -> Plan[T]:
    """The same plan, sending one of the requests that begin alike ahead of the others.

    What they have in common is marked, so that a provider that keeps it reads it once: requests that go out
    together would each be read in full. Those of one model and one system message count as one kind, from
    4,096 characters in common on.
    """
    return through(plan, _one_ahead)


def _one_ahead(requests: Sequence[Request]) -> Plan[Sequence[Reply]]:
    marked, later = list(requests), set()
    for members in _kinds(requests):
        shared = _shared([one.user for _, one in members])
        if len(members) > 1 and shared >= _WORTH_KEEPING:
            for i, one in members:
                marked[i] = replace(one, prefix=shared)
            later |= {i for i, _ in members[1:]}
    rounds = [[i for i in range(len(marked)) if (i in later) == last] for last in (False, True)]
    found: dict[int, Reply] = {}
    for some in filter(None, rounds):
        replies = yield [marked[i] for i in some]
        found |= dict(zip(some, replies, strict=True))
    return [found[i] for i in range(len(marked))]


def _kinds(requests: Sequence[Request]) -> list[list[tuple[int, Complete]]]:
    asked = [(i, one) for i, one in enumerate(requests) if isinstance(one, Complete)]
    ordered = sorted(asked, key=lambda each: (each[1].model, each[1].system, each[0]))
    return [list(group) for _, group in groupby(ordered, key=lambda each: (each[1].model, each[1].system))]


def _shared(texts: Sequence[str]) -> int:
    """How many characters all texts begin with."""
    first, last = min(texts), max(texts)  # all others stand between these two
    return next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
