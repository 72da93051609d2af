"""One kept answer: as it is handed over, as the row it becomes, and as it is read back.

The only module that knows what stands in which column. Nothing here touches a database.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from numbers import Integral
from typing import Any
from uuid import UUID

from groundwire.core import wire
from groundwire.core.fork import renew_after_fork
from groundwire.core.grading import Level
from groundwire.core.interaction import Interaction, Passage, Role, Turn
from groundwire.core.plain import plain
from groundwire.core.redaction import Redact, masked_interaction, masked_outcome
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome
from groundwire.monitor.sampling import Why

LONGEST_TAG_NAME = 100
_LONGEST_TAG = 200
MOST_TAGS = 32
_PLAIN = (str, Integral, float, UUID)  # numpy's whole numbers are no int
_NULL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
TAG = "tag"
"""The name under which a list of bare tags, such as LangChain's, is kept."""


@dataclass(frozen=True, kw_only=True)
class Heard:
    """One outcome as the monitor was told of it, before anything is masked or encoded.

    ``at`` is in microseconds since 1970; ``chance`` is the random number that samples are drawn by.
    """

    id: str
    at: int
    interaction: Interaction | None
    outcome: Outcome
    why: Why
    chance: float
    run_id: str | None
    action: str | None
    attempt: int
    draft: bool


@dataclass(frozen=True, kw_only=True)
class Row:
    """One answer as the store holds it: columns of ``answers``, columns of ``bodies``, tags."""

    answer: Mapping[str, Any]
    body: Mapping[str, Any]
    tags: tuple[tuple[str, str], ...]

    def to_json(self) -> str:
        return json.dumps([self.answer, self.body, self.tags])

    @classmethod
    def from_json(cls, text: str) -> Row:
        """Raises ValueError for what is no row."""
        try:
            answer, body, tags = json.loads(text)
            return cls(answer=dict(answer), body=dict(body), tags=tuple((str(n), str(v)) for n, v in tags))
        except (TypeError, ValueError) as error:
            raise ValueError("no row of a spool") from error


@dataclass(frozen=True, kw_only=True)
class Line:
    """One kept answer in brief, for lists. ``reviews`` counts its feedback."""

    id: str
    at: datetime
    question: str
    answer: str
    score: float | None
    threshold: float | None
    hallucinated: bool | None
    level: Level | None
    abstention: AbstentionReason | None
    detector: str | None
    reviews: int


@dataclass(frozen=True, kw_only=True)
class Kept:
    """One kept answer whole. ``interaction`` is None when it could not be read; the outcome says why.

    ``tags`` are (name, value) pairs, of which a name may have several. ``sampled`` says that chance alone
    chose it to be kept.
    """

    id: str
    at: datetime
    interaction: Interaction | None
    outcome: Outcome
    tags: tuple[tuple[str, str], ...] = ()
    run_id: str | None = None
    action: str | None = None
    attempt: int = 1
    draft: bool = False
    sampled: bool = True


class Ids:
    """Makes ids that sort in the order in which they were made; 18 of their 32 digits are random."""

    def __init__(self) -> None:
        self._last = 0
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        # Reentrant: a garbage collection in here may end an abandoned stream, which this thread then keeps.
        self._lock = threading.RLock()

    def __call__(self) -> tuple[str, int]:
        """An id, and the time that it begins with, in microseconds since 1970."""
        with self._lock:
            self._last = now = max(time.time_ns() // 1000, self._last + 1)
        return f"{now:014x}{secrets.token_hex(9)}", now


def row(heard: Heard, redact: Redact | None, own: Mapping[str, str]) -> Row:
    """What is stored of an outcome, masked by ``redact``; ``own`` are the monitor's own tags."""
    interaction, outcome = heard.interaction, heard.outcome
    if redact is not None:
        interaction = None if interaction is None else masked_interaction(redact, interaction)
        outcome = masked_outcome(redact, outcome, interaction)
    body = {
        "answer_id": heard.id,
        "question": None if interaction is None else kept_text(interaction.question),
        "answer": None if interaction is None else kept_text(interaction.answer),
        "rest": _json({"outcome": wire.encode(outcome), **rest(interaction)}),
    }
    score, threshold = outcome.score, outcome.threshold
    answer = {
        "id": heard.id,
        "at": heard.at,
        "outcome_id": outcome.id and kept_text(outcome.id),
        "run_id": heard.run_id and kept_text(heard.run_id),
        # Of what was said before masking, so that masked texts that look alike don't pair.
        "pair": _hash(heard.interaction.question) if heard.interaction and interaction else None,
        "twin": _hash(heard.interaction.question, heard.interaction.answer) if heard.interaction else None,
        "judged": not isinstance(outcome, Abstention),
        "score": score,
        "threshold": threshold,
        "margin": None if score is None or threshold is None else abs(score - threshold),
        "hallucinated": outcome.hallucinated,
        "level": outcome.level and str(outcome.level),
        "kind": outcome.kind and str(outcome.kind),
        "abstention": str(outcome.why) if isinstance(outcome, Abstention) else None,
        "detector": outcome.detector and kept_text(outcome.detector.name),
        "fingerprint": outcome.detector and outcome.detector.fingerprint,
        "seconds": outcome.usage.seconds,
        "calls": outcome.usage.calls,
        "tokens": outcome.usage.input_tokens + outcome.usage.output_tokens,
        "cost": outcome.usage.cost,
        "action": heard.action,
        "attempt": heard.attempt,
        "draft": heard.draft,
        "why": str(heard.why),
        "chance": heard.chance,
        "size": sum(len(text) for text in body.values() if text is not None),
    }
    metadata = {} if interaction is None else interaction.metadata
    named = dict.fromkeys([*own.items(), *tags_of(metadata)])
    return Row(answer=answer, body=body, tags=tuple(named)[:MOST_TAGS])


def kept(answer: Mapping[str, Any], body: Mapping[str, Any], tags: tuple[tuple[str, str], ...]) -> Kept:
    """The answer of a row."""
    more = json.loads(body["rest"])
    return Kept(
        id=answer["id"],
        at=moment(answer["at"]),
        interaction=None if body["answer"] is None else _interaction(body, more),
        outcome=wire.decode(more["outcome"]),
        tags=tags,
        run_id=answer["run_id"],
        action=answer["action"],
        attempt=answer["attempt"],
        draft=answer["draft"],
        sampled=answer["why"] == Why.SAMPLE,
    )


def line(found: Mapping[str, Any]) -> Line:
    """The line of a row that holds its columns."""
    return Line(
        id=found["id"],
        at=moment(found["at"]),
        question=found["question"] or "",
        answer=found["answer"] or "",
        score=found["score"],
        threshold=found["threshold"],
        hallucinated=found["hallucinated"],
        level=Level(found["level"]) if found["level"] else None,
        abstention=AbstentionReason(found["abstention"]) if found["abstention"] else None,
        detector=found["detector"],
        reviews=found["reviews"],
    )


def moment(microseconds: int) -> datetime:
    """A time of the store, in UTC."""
    return datetime.fromtimestamp(microseconds / 1e6, UTC)


def microseconds(at: datetime) -> int:
    """A time as the store keeps it; one without a zone is local, as Python takes it."""
    try:
        seconds = at.timestamp()
    except (ValueError, OverflowError):  # ``datetime.min``, whose local time is of no year that there is
        seconds = at.replace(tzinfo=UTC).timestamp()
    return round(seconds * 1e6)


def tag_text(value: object) -> str:
    """A tag's value as it is kept, and looked up."""
    return kept_text(str(value))[:_LONGEST_TAG]


def tag(name: object, value: object) -> tuple[str, str]:
    """A tag as it is kept, and looked up."""
    return kept_text(str(name))[:LONGEST_TAG_NAME], tag_text(value)


def tags_of(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What answers can be counted by: every plain value, and every member of a list of texts named tags."""
    for name, value in metadata.items():
        if name == "tags" and isinstance(value, list | tuple):
            yield from ((TAG, tag_text(one)) for one in value if isinstance(one, str))
        elif isinstance(value, _PLAIN) and not (isinstance(value, str) and len(value) > _LONGEST_TAG):
            yield tag(name, value)


def rest(interaction: Interaction | None) -> dict[str, Any]:
    """All of an interaction but question and answer, as JSON holds it; nothing of what could not be read."""
    if interaction is None:
        return {}
    return {
        "id": plain(interaction.id),
        "contexts": [
            {name: plain(getattr(passage, name)) for name in ("text", "id", "metadata", "score")}
            for passage in interaction.contexts
        ],
        "history": [{"role": str(turn.role), "text": plain(turn.text)} for turn in interaction.history],
        "metadata": plain(interaction.metadata),
    }


def _interaction(body: Mapping[str, Any], more: Mapping[str, Any]) -> Interaction:
    return Interaction(
        question=body["question"],
        contexts=[Passage(**passage) for passage in more["contexts"]],
        answer=body["answer"],
        history=[Turn(role=Role(turn["role"]), text=turn["text"]) for turn in more["history"]],
        id=more["id"],
        metadata=more["metadata"],
    )


def _hash(*texts: str) -> str:
    whole = "\0".join(" ".join(text.casefold().split()) for text in texts)
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:16]


NO_QUESTION = _hash("")
"""The ``pair`` of whatever answers no question, such as a summary."""


def _json(value: Any) -> str:
    """JSON without the null character, which PostgreSQL's texts can't hold even as an escape."""
    text = json.dumps(value)
    return _NULL.sub(r"\1\\u2400", text) if r"\u0000" in text else text


def kept_text(text: str) -> str:
    """A text as every database can hold it: without lone surrogates, and without the null character."""
    return str(plain(text)).replace("\0", "␀")
