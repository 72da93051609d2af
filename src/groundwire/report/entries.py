"""What is reported: an interaction and its outcome, with the name that a reader knows it by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from groundwire.core.claim import Claim, Support
from groundwire.core.grading import Level
from groundwire.core.interaction import Interaction
from groundwire.core.score import shown
from groundwire.core.verdict import Outcome, Verdict


class Judged(Protocol):
    """Anything with an interaction and an outcome, such as a record of the LangChain handler."""

    @property
    def interaction(self) -> Interaction | None: ...

    @property
    def outcome(self) -> Outcome: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One judged answer. ``interaction`` is None when it could not be read; the outcome then says why.

    ``label`` is 1 for an answer known to be hallucinated, 0 for a grounded one, None when nobody knows.
    """

    interaction: Interaction | None
    outcome: Outcome
    name: str = ""
    label: int | None = None

    @classmethod
    def of(cls, judged: Judged) -> Entry:
        if isinstance(judged, Entry):
            return judged
        return cls(interaction=judged.interaction, outcome=judged.outcome)

    @property
    def shown_name(self) -> str:
        return self.name or (self.interaction and self.interaction.id) or self.outcome.id or ""

    @property
    def group(self) -> Group:
        return group_of(self.outcome)


class Group(StrEnum):
    """The four kinds of outcome a reader counts. Every outcome belongs to exactly one."""

    HALLUCINATED = "hallucinated"
    TO_CHECK = "to check"
    GROUNDED = "grounded"
    NOT_JUDGED = "not judged"


KINDS: Mapping[Group, str] = {
    Group.HALLUCINATED: "high",
    Group.TO_CHECK: "medium",
    Group.GROUNDED: "low",
    Group.NOT_JUDGED: "none",
}
"""What each is called in the style of a page."""


def group_of(outcome: Outcome) -> Group:
    """TO_CHECK is below the threshold, and yet not of the lowest level."""
    if not isinstance(outcome, Verdict):
        return Group.NOT_JUDGED
    if outcome.hallucinated:
        return Group.HALLUCINATED
    return Group.GROUNDED if outcome.level is Level.LOW else Group.TO_CHECK


def foremost(claims: Sequence[Claim], most: int) -> list[Claim]:
    """At most so many of an answer's claims, those to look at before others, in the answer's order."""
    if len(claims) <= most:
        return list(claims)
    fine = (Support.SUPPORTED, Support.INFERRED)
    weighed = sorted(enumerate(claims), key=lambda one: (one[1].support in fine, -(one[1].score or 0.0)))
    return [claim for _, claim in sorted(weighed[:most], key=lambda one: one[0])]


_NAMING = ("source", "title", "file_name", "file_path", "url")


def passage_name(interaction: Interaction, index: int) -> str:
    """What a reader calls a passage: its id, else where it came from, else its number."""
    if index >= len(interaction.contexts):
        return f"passage {index + 1}"
    passage = interaction.contexts[index]
    named = (passage.metadata.get(key) for key in _NAMING)
    return passage.id or next((str(name) for name in named if name), f"passage {index + 1}")


def shown_score(outcome: Outcome) -> str:
    """The score on its side of the threshold, in few digits; nothing where there is none."""
    return shown(outcome.score, outcome.threshold) if isinstance(outcome, Verdict) else ""
