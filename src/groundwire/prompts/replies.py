"""What models reply with, read strictly: it is right, or it is refused. Nothing is guessed or evaluated.

Looking for the JSON is tolerant, because models wrap it in prose, fences and thoughts; what is inside is not,
but for a comma too many at the end of a list or an object, and a backslash that a quotation had.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from groundwire.core.claim import Support
from groundwire.core.thoughts import without_thoughts
from groundwire.prompts.scores import read_score, score_in_prose

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
E = TypeVar("E", bound="Entry")

__all__ = [
    "ClaimReply",
    "Entry",
    "Score",
    "UnreadableError",
    "claim_replies",
    "identifier",
    "objects",
    "on_scale",
    "read_entries",
    "read_object",
    "read_score",
    "score_reply",
    "without_thoughts",
]

_DOUBTFUL = 0.5  # the score from which on a claim counts as not supported
_LONGEST = 200_000  # characters of a reply; no model is asked for a tenth of it
_MOST_STARTS = 100  # places at which JSON is looked for


class UnreadableError(ValueError):
    """A reply that can't be read, and why."""


def objects(text: str, wanted: Callable[[Any], T | None]) -> T:
    """The one JSON value in a reply that is ``wanted`` (it says so by returning something of it).

    UnreadableError when there is none, or when there are two that differ: which of them is meant would be
    a guess, and one may be quoted from the text that is judged. So it may be where JSON follows that can't be
    read, for a verdict comes last.
    """
    found: list[T] = []
    lacking = "no JSON of the kind asked for"
    for value in _values(without_thoughts(text)):
        if isinstance(value, UnreadableError):
            lacking = str(value)
            found.clear()
        elif (one := wanted(value)) is not None and one not in found:
            found.append(one)
    if len(found) != 1:
        raise UnreadableError(lacking if not found else "two different JSON replies")
    return found[0]


def read_object(text: str, kind: type[M]) -> M:
    """The one JSON object in a reply that has what ``kind`` needs, read as one.

    UnreadableError when there is none, when there are two that differ, or when it is not of its kind.
    """
    needed = {name for name, field in kind.model_fields.items() if field.is_required()}
    found = objects(text, lambda value: value if isinstance(value, dict) and needed & value.keys() else None)
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        raise UnreadableError(_told(error)) from error


def read_entries(text: str, kind: type[E], *, key: str) -> dict[int, E]:
    """What a reply says of each numbered thing, by its ``id``: from ``{key: [...]}`` or a bare list.

    An entry that can't be read is left out, and so is one whose id stands twice, even where only one of the
    two can be read: it has to be asked again. UnreadableError when the reply as a whole can't be read.
    """
    entries = objects(text, lambda value: _listed(value, key))
    ids = [identifier(entry.get("id")) for entry in entries]
    named = Counter(id_ for id_ in ids if isinstance(id_, int | float))
    read: dict[int, E] = {}
    for entry in entries:
        try:
            one = kind.model_validate(entry)
        except ValidationError:
            continue
        if named[one.id] == 1:
            read[one.id] = one
    return read


def score_reply(text: str, *, key: str = "score", lowest: float = 0.0, highest: float = 1.0) -> float:
    """The score of a reply that gives one: under ``key`` in its JSON object, else in its prose.

    UnreadableError when it can't be read in one way only, or is out of its scale. JSON that was cut off is
    never read as prose.
    """
    said = without_thoughts(text)
    try:
        if "{" in said:
            found = objects(said, lambda value: value if isinstance(value, dict) and key in value else None)
            return read_score(found[key], lowest=lowest, highest=highest)
        return score_in_prose(_FENCE.sub("", said), label=key, lowest=lowest, highest=highest)
    except UnreadableError:
        raise
    except ValueError as error:
        raise UnreadableError(str(error)) from error


def on_scale(lowest: float, highest: float) -> BeforeValidator:
    """Makes a field of a reply a score on a scale of its own, from ``lowest`` to ``highest``."""
    return BeforeValidator(lambda value: read_score(value, lowest=lowest, highest=highest))


def identifier(value: Any) -> Any:
    """A number that may be written as a text, and with our own word for what it numbers before it."""
    if isinstance(value, str) and (match := _NUMBERED.fullmatch(value.strip().lower())):
        return int(match[1])
    return value


def _word(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def listed_words(value: Any) -> Any:
    """Words of the answer: none, or one text that should have been a list, are a list, too."""
    return [] if value is None else [value] if isinstance(value, str) else value


def _absent(empty: Any) -> Callable[[Any], Any]:
    return lambda value: empty if value is None else value


Score = Annotated[float, on_scale(0.0, 1.0)]


class Entry(BaseModel):
    """What a reply says of one numbered thing."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")

    id: Annotated[int, BeforeValidator(identifier)]


class ClaimReply(Entry):
    """What a judge says of one claim: below 0.5 where the passages support it, from 0.5 on where not."""

    support: Annotated[
        Literal["supported", "inferred", "unsupported", "contradicted"], BeforeValidator(_word)
    ]
    quote: Annotated[str, BeforeValidator(_absent(""))] = ""
    words: Annotated[list[str], BeforeValidator(listed_words)] = []
    reason: Annotated[str, BeforeValidator(_absent(""))] = ""
    score: Score

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if Support(self.support).flagged != (self.score >= _DOUBTFUL):
            raise ValueError(f"{self.support!r} denies a score of {self.score:g}")
        return self


def claim_replies(text: str) -> dict[int, ClaimReply]:
    """What a reply says of each claim, by id; see ``read_entries``."""
    return read_entries(text, ClaimReply, key="claims")


def _listed(value: Any, key: str) -> list[Any] | None:
    """The list of entries, from ``{key: [...]}`` or a bare list of objects."""
    entries = value.get(key) if isinstance(value, dict) else value
    if isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries):
        return entries
    return None


def _told(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg'].lower()}"
        for one in error.errors(include_url=False, include_input=False)
    )


_NUMBERED = re.compile(r"(?:(?:claim|sentence|statement|passage|(?:other )?answer)\s*)?#?([0-9]{1,6})")
_FENCE = re.compile(r"^[^\S\n]*+```[\w-]*+[^\S\n]*+$", re.MULTILINE)


def _values(text: str) -> Iterator[Any]:
    """Every outermost JSON object and list in the text, in order; an UnreadableError for each broken one."""
    if len(text) > _LONGEST:
        raise UnreadableError(f"the reply has {len(text)} characters")
    at, mended = 0, False
    for _ in range(_MOST_STARTS):
        start = _START.search(text, at)
        if start is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            if isinstance(error, json.JSONDecodeError) and (
                error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
            ):
                yield _CUT_OFF  # what stands inside was never finished
                return
            at = start.end()
            if not _LIKE_JSON.match(text, start.start()):
                continue
            if not mended:  # once is enough for all that follows, and soon done
                mended = True
                text, at = text[: start.start()] + _mended(text[start.start() :]), start.start()
                continue
            yield UnreadableError(f"the JSON can't be read: {error}")
        else:
            yield value
    if _START.search(text, at):
        yield UnreadableError("the JSON can't be found among so many brackets")


def _mended(text: str) -> str:
    """JSON without the commas, outside of its strings, that nothing follows in a list or an object.

    And with no backslashes but JSON's own: a quotation may have had others, of LaTeX, Markdown or a path. An
    apostrophe's is the model's, for other languages than JSON want it.
    """
    return _STRING_OR_LAST_COMMA.sub(r"\1", _BACKSLASH.sub(_escaped, text))


def _escaped(backslash: re.Match[str]) -> str:
    if backslash[0] == r"\'":
        return "'"
    return backslash[0] if backslash[1] else "\\\\"


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_CUT_OFF = UnreadableError("the JSON is cut off; where that goes on, the model needs a higher max_tokens")
_START = re.compile(r"[{\[]")
_LIKE_JSON = re.compile(r"(?:\[\s*+)?\{\s*+\"")
_BACKSLASH = re.compile(r"""\\(["'\\/bfnrt]|u[0-9a-fA-F]{4})?""")
# A comma that also nothing precedes stays: what stood there may be lost.
_STRING_OR_LAST_COMMA = re.compile(r'("(?>(?:[^"\\]|\\.)*)"?|[{\[]\s*+,)|,(?=\s*+[}\]])', re.DOTALL)
# Not strict: a quotation that runs over lines is often copied with its line breaks as they are.
_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant, strict=False)
