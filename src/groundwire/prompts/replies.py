"""What models reply with, read strictly: it is right, or it is refused. Nothing is guessed or evaluated.

Looking for the JSON is tolerant, because models wrap it in prose, fences and thoughts; what is inside is not.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from groundwire.core.claim import Support

T = TypeVar("T")

_DOUBTFUL = 0.5  # the score from which on a claim counts as not supported
_LONGEST = 200_000  # characters of a reply; no model is asked for a tenth of it
_MOST_STARTS = 100  # places at which JSON is looked for


class UnreadableError(ValueError):
    """A reply that can't be read, and why."""


def objects(text: str, wanted: Callable[[Any], T | None]) -> T:
    """The one JSON value in a reply that is ``wanted`` (it says so by returning something of it).

    UnreadableError when there is none, or when there are two that differ: which of them is meant would be
    a guess, and one may be quoted from the text that is judged.
    """
    found: list[T] = []
    for value in _values(_without_thoughts(text)):
        one = wanted(value)
        if one is not None and one not in found:
            found.append(one)
    if len(found) != 1:
        raise UnreadableError("no JSON of the kind asked for" if not found else "two different JSON replies")
    return found[0]


def read_score(value: Any) -> float:
    """A figure in [0, 1]: a JSON number, or a text such as "0.7", "0,7", "95.5 %" or "8 out of 10".

    ValueError for everything else; nothing out of range is brought into it.
    """
    score = _figure(value) if isinstance(value, str) else value
    if not isinstance(score, int | float) or isinstance(score, bool) or not 0 <= score <= 1:
        raise ValueError(f"expected a number from 0 to 1, not {value!r:.60}")
    return float(score)


_NUMBER = r"([0-9]*[.,]?[0-9]+)"
_FIGURE = re.compile(
    rf"(?:score\s*[:=]\s*)?{_NUMBER}\s*(?:(%|percent)|(?:/|out\s+of)\s*{_NUMBER})?\s*\.?", re.IGNORECASE
)


def _figure(text: str) -> float:
    match = _FIGURE.fullmatch(text.strip()) if len(text) < 60 else None
    if match is None:
        raise ValueError(f"expected a number from 0 to 1, not {text!r:.60}")
    figure, percent, whole = match.groups()
    if percent:
        return _decimal(figure) / 100
    if whole:
        if _decimal(whole) == 0:
            raise ValueError(f"expected a number from 0 to 1, not {text!r:.60}")
        return _decimal(figure) / _decimal(whole)
    return _decimal(figure)


def _decimal(digits: str) -> float:
    # "1,000" is a thousand to some and one to others.
    if re.fullmatch(r"[1-9][0-9]*,[0-9]{3}", digits):
        raise ValueError(f"{digits!r} can be read in two ways")
    return float(digits.replace(",", "."))


def _identifier(value: Any) -> Any:
    if isinstance(value, str) and (
        match := re.fullmatch(r"(?:claim\s*)?#?([0-9]{1,6})", value.strip().lower())
    ):
        return int(match[1])
    return value


def _word(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _absent(empty: Any) -> Callable[[Any], Any]:
    return lambda value: empty if value is None else value


Score = Annotated[float, BeforeValidator(read_score)]


class ClaimReply(BaseModel):
    """What a judge says of one claim: below 0.5 where the passages support it, from 0.5 on where not."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")

    id: Annotated[int, BeforeValidator(_identifier)]
    support: Annotated[
        Literal["supported", "inferred", "unsupported", "contradicted"], BeforeValidator(_word)
    ]
    score: Score
    quote: Annotated[str, BeforeValidator(_absent(""))] = ""
    words: Annotated[list[str], BeforeValidator(_absent([]))] = []
    reason: Annotated[str, BeforeValidator(_absent(""))] = ""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if Support(self.support).flagged != (self.score >= _DOUBTFUL):
            raise ValueError(f"{self.support!r} denies a score of {self.score:g}")
        return self


def claim_replies(text: str) -> dict[int, ClaimReply]:
    """What a reply says of each claim, by id.

    A claim whose entry can't be read is left out, and so is one that was judged twice, even where only one
    of the two can be read: it has to be asked again.
    UnreadableError when the reply as a whole can't be read.
    """
    entries = objects(text, _claims)
    ids = [_identifier(entry.get("id")) for entry in entries]
    named = Counter(id_ for id_ in ids if isinstance(id_, int | float))
    replies: dict[int, ClaimReply] = {}
    for entry in entries:
        try:
            reply = ClaimReply.model_validate(entry)
        except ValidationError:
            continue
        if named[reply.id] == 1:
            replies[reply.id] = reply
    return replies


def _claims(value: Any) -> list[Any] | None:
    """The list of entries, from ``{"claims": [...]}`` or a bare list of objects."""
    entries = value.get("claims") if isinstance(value, dict) else value
    if isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries):
        return entries
    return None


_THOUGHT = r"(?:think|thinking|thought|reasoning)"
_THOUGHT_BEGINS = re.compile(rf"<{_THOUGHT}>", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(rf"</{_THOUGHT}>", re.IGNORECASE)


def _without_thoughts(text: str) -> str:
    """The reply after its thinking. Some prompts open the thinking, so that only its end is seen."""
    text = text.strip()
    if text.startswith(("{", "[", "`")):
        return text
    if ends := _THOUGHT_ENDS.search(text):
        return text[ends.end() :]
    return "" if _THOUGHT_BEGINS.match(text) else text


def _values(text: str) -> Iterator[Any]:
    """Every outermost JSON object and list in the text, in order."""
    if len(text) > _LONGEST:
        raise UnreadableError(f"the reply has {len(text)} characters")
    at = 0
    for _ in range(_MOST_STARTS):
        start = _START.search(text, at)
        if start is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
                return  # cut off: what stands inside was never finished
            at = start.end()
        except (ValueError, RecursionError):
            at = start.end()
        else:
            yield value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_START = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant)
