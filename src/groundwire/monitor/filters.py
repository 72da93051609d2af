"""Which kept answers are meant: conditions that everything that reads the store understands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import sqlalchemy as sa

from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Level
from groundwire.core.verdict import AbstentionReason
from groundwire.monitor.answer import microseconds, tag
from groundwire.monitor.schema import answers, bodies, feedback, tags


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Kept answers that meet every condition given; all of them where none is.

    ``since`` is the first moment and ``until`` the first beyond. ``tags`` are names with the value each must
    have. ``score`` is a lowest and a highest. ``detector`` is a name or a fingerprint. ``text`` must stand in
    the question or the answer, in whatever case. ``drafts`` includes answers that nobody was given, because
    another attempt followed. Raises ConfigurationError, naming every mistake at once.
    """

    since: datetime | None = None
    until: datetime | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    hallucinated: bool | None = None
    judged: bool | None = None
    levels: tuple[Level, ...] = ()
    abstention: AbstentionReason | None = None
    kind: str | None = None
    score: tuple[float, float] | None = None
    reviewed: bool | None = None
    detector: str | None = None
    text: str = ""
    drafts: bool = False

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be a datetime, not {value!r}"
            for name, value in (("since", self.since), ("until", self.until))
            if value is not None and not isinstance(value, datetime)
        ]
        problems += [
            f"{name} must be True or False, not {value!r:.60}"
            for name in ("hallucinated", "judged", "reviewed", "drafts")
            if not isinstance(value := getattr(self, name), bool | None)
        ]
        problems += [
            f"{name} must be a text, not {value!r:.60}"
            for name in ("detector", "kind", "text")
            if not isinstance(value := getattr(self, name), str | None)
        ]
        if not isinstance(self.tags, Mapping):
            problems.append(f"tags must be a dict of names and values, not {self.tags!r:.60}")
        levels = (self.levels,) if isinstance(self.levels, str) else self.levels
        try:
            object.__setattr__(self, "levels", tuple(Level(level) for level in levels))
        except (TypeError, ValueError):
            known = ", ".join(repr(str(level)) for level in Level)
            problems.append(f"levels must be some of {known}, not {self.levels!r:.60}")
        try:
            if self.abstention is not None:
                object.__setattr__(self, "abstention", AbstentionReason(self.abstention))
        except ValueError as error:
            problems.append(str(error))
        if self.score is not None and not _is_range(self.score):
            problems.append(f"score must be a lowest and a highest, not {self.score!r}")
        if problems:
            raise ConfigurationError(*problems)

    @property
    def fair(self) -> bool:
        """Whether it asks nothing that depends on the outcome, so that a sample of it is a fair one."""
        asked = (self.hallucinated, self.judged, self.abstention, self.kind, self.score, self.reviewed)
        return all(one is None for one in asked) and not self.levels and not self.text

    @property
    def narrow(self) -> bool:
        """Whether it leaves out answers of some time, tag or detector: no fair sample of the others."""
        return bool(self.tags) or any(one is not None for one in (self.since, self.until, self.detector))

    @property
    def for_reviews(self) -> Filter:
        """The same for figures of reviewed answers alone, of which it asks nothing that they are reviewed."""
        return replace(self, reviewed=None) if self.reviewed else self

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        """The same for a query of the table ``answers``."""
        c = answers.c
        found: list[sa.ColumnElement[bool]] = [] if self.drafts else [c.draft.is_(sa.false())]
        if self.since is not None:
            found.append(c.at >= microseconds(self.since))
        if self.until is not None:
            found.append(c.at < microseconds(self.until))
        if self.detector is not None:
            found.append((c.detector == self.detector) | (c.fingerprint == self.detector))
        found += [tagged(name, value) for name, value in self.tags.items()]
        return [*found, *self._about_the_outcome()]

    def _about_the_outcome(self) -> Iterator[sa.ColumnElement[bool]]:
        c = answers.c
        for column, wanted in ((c.hallucinated, self.hallucinated), (c.judged, self.judged)):
            if wanted is not None:
                yield column.is_(sa.true() if wanted else sa.false())
        if self.levels:
            yield c.level.in_([str(level) for level in self.levels])
        for column, named in ((c.abstention, self.abstention), (c.kind, self.kind)):
            if named is not None:
                yield column == str(named)
        if self.score is not None:
            yield c.score.between(*self.score)
        # Under names of their own: a query that joins these tables must not take them for its own.
        if self.reviewed is not None:
            said = feedback.alias()
            some = sa.exists().where(said.c.answer_id == c.id)
            yield some if self.reviewed else ~some
        if self.text:
            body = bodies.alias()
            found = (text.icontains(self.text, autoescape=True) for text in (body.c.question, body.c.answer))
            yield sa.exists().where((body.c.answer_id == c.id) & sa.or_(*found))


def _is_range(score: object) -> bool:
    if not isinstance(score, tuple | list) or not all(isinstance(one, int | float) for one in score):
        return False
    return len(score) == 2 and score[0] <= score[1]


def tagged(name: str, value: object) -> sa.ColumnElement[bool]:
    """Whether an answer has a tag."""
    own = tags.alias()
    same = sa.tuple_(own.c.name, own.c.value) == tag(name, value)
    return sa.exists().where(own.c.answer_id == answers.c.id, same)
