"""What the address of a page asks for: which answers, in which order. It is read here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from groundwire.core.errors import ConfigurationError, InputError
from groundwire.monitor import Filter, Queue

_OUTCOMES: Mapping[str, Mapping[str, bool]] = {
    "": {},
    "hallucinated": {"hallucinated": True},
    "grounded": {"hallucinated": False},
    "unjudged": {"judged": False},
}
_REVIEWED = {"": None, "yes": True, "no": False}
_SEVERAL = ("level", "tag")
FIELDS = (
    "text",
    "outcome",
    "level",
    "score_from",
    "score_to",
    "abstention",
    "kind",
    "detector",
    "tag",
    "reviewed",
    "since",
    "until",
    "drafts",
)
"""The names under which an address narrows answers down."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The answers that are asked for, by the ``given`` words of an address, and in which order, if any."""

    wanted: Filter
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    queue: Queue | None = None

    def value(self, name: str) -> str:
        """What was given under this name, as it was given; "" for nothing."""
        return next(iter(self.given.get(name, ())), "")

    @property
    def narrowed(self) -> bool:
        """Whether anything is asked for but an order."""
        return bool(self.given)

    def query(self, **more: object) -> str:
        """The same as the end of an address, with ``more`` or with other values; None leaves a name out."""
        whole: dict[str, Iterable[object]] = {**self.given}
        if self.queue is not None:
            whole["queue"] = (self.queue,)
        whole |= {name: () if value is None else (value,) for name, value in more.items()}
        pairs = [(name, str(value)) for name, values in whole.items() for value in values]
        return f"?{urlencode(pairs)}" if pairs else ""


def read(params: QueryParams) -> Asked:
    """What an address asks for. Raises InputError, naming what can't be read."""
    given = {
        name: tuple(value for value in params.getlist(name) if value.strip())
        for name in FIELDS
        if any(value.strip() for value in params.getlist(name))
    }
    for name, values in given.items():
        if len(values) > 1 and name not in _SEVERAL:
            raise InputError(f"{name} is given {len(values)} times, and may be given once")
    return Asked(wanted=_filter(given), given=given, queue=_queue(params.get("queue", "")))


def _filter(given: Mapping[str, tuple[str, ...]]) -> Filter:
    first = {name: values[0] for name, values in given.items()}
    settings: dict[str, Any] = {
        **_one_of("outcome", _OUTCOMES, first),
        "reviewed": _one_of("reviewed", _REVIEWED, first),
        "text": first.get("text", ""),
        "levels": given.get("level", ()),
        "abstention": first.get("abstention"),
        "kind": first.get("kind"),
        "detector": first.get("detector"),
        "tags": _tags(given.get("tag", ())),
        "since": _moment("since", first),
        "until": _moment("until", first),
        "drafts": "drafts" in first,
    }
    if "score_from" in first or "score_to" in first:
        settings["score"] = (_number("score_from", first, 0.0), _number("score_to", first, 1.0))
    try:
        return Filter(**settings)
    except ConfigurationError as error:
        raise InputError(str(error)) from error


def _queue(name: str) -> Queue | None:
    try:
        return Queue(name) if name else None
    except ValueError:
        raise InputError(f"queue must be one of {', '.join(map(str, Queue))}, not {name!r:.60}") from None


def _one_of(name: str, known: Mapping[str, Any], given: Mapping[str, str]) -> Any:
    value = given.get(name, "")
    if value not in known:
        raise InputError(f"{name} must be one of {', '.join(filter(None, known))}, not {value!r:.60}")
    return known[value]


def _tags(texts: Iterable[str]) -> dict[str, str]:
    """A value for each name. Raises InputError for two, of which only one could be asked for."""
    found: dict[str, str] = {}
    for name, value in map(_tag, texts):
        if found.setdefault(name, value) != value:
            raise InputError(f"the tag {name!r:.60} is given two values, and may be given one")
    return found


def _tag(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise InputError(f"tag must be NAME=VALUE, not {text!r:.60}")
    return name.strip(), value.strip()


def _number(name: str, given: Mapping[str, str], otherwise: float) -> float:
    try:
        value = float(given.get(name, otherwise))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InputError(f"{name} must be a number from 0 to 1, not {given.get(name)!r:.60}")
    return value


def _moment(name: str, given: Mapping[str, str]) -> datetime | None:
    """A day or a moment; in UTC, like every time on the page."""
    if name not in given:
        return None
    try:
        at = datetime.fromisoformat(given[name])
    except ValueError:
        raise InputError(f"{name} must be a date such as 2026-11-01, not {given[name]!r:.60}") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
