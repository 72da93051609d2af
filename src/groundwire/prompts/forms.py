"""The forms that the prompt methods' replies fill in, read strictly: n things in, n verdicts out."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
)

from groundwire.prompts.replies import Entry, UnreadableError, identifier, listed_words, objects, on_scale
from groundwire.prompts.scores import read_score


def _word(value: object) -> object:
    return value.strip().strip(".").lower() if isinstance(value, str) else value


def _text(value: object) -> object:
    return "" if value is None else value


def _texts(value: object) -> object:
    return [] if value is None else value


def _share(value: object) -> float | None:
    """A share from 0 to 1; None where none is told, or none that can be read."""
    with suppress(ValueError):
        return read_score(value)
    return None


# What a model may say: that a claim is unverified is ours to say, of what can't be read.
_OF_A_MODEL = {"type": "string", "enum": ["supported", "inferred", "unsupported", "contradicted"]}

Text = Annotated[str, BeforeValidator(_text)]
Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
OneToFive = Annotated[float, on_scale(1.0, 5.0)]
Sureness = Annotated[Literal["yes", "no", "unsure"], BeforeValidator(_word)]


class Form(BaseModel):
    """One object that a reply is read as."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class LevelForm(Form):
    """A level, and two sentences on why."""

    level: Annotated[Literal["low", "medium", "high"], BeforeValidator(_word)]
    reason: Said


class ConfidenceForm(Form):
    """Thoughts, and a confidence from 1 to 5 in the end."""

    reasoning: Text = ""
    confidence: OneToFive


class ScoreForm(Form):
    """A score from 1 to 5, and why."""

    score: OneToFive
    reason: Text = ""


class StepsForm(Form):
    """The steps by which a score is come to."""

    steps: Annotated[list[Said], Field(min_length=1, max_length=20)]


class ReflectionForm(Form):
    """Two answers to whether an answer can be trusted."""

    reason: Text = ""
    correct: Sureness
    certain: Sureness


class PassageEntry(Entry):
    """How one passage bears on the answer."""

    verdict: Annotated[Literal["agrees", "contradicts", "unrelated"], BeforeValidator(_word)]
    quote: Text = ""
    words: Annotated[list[str], BeforeValidator(listed_words)] = Field(default_factory=list)


class SentenceEntry(Entry):
    """The statements that one sentence makes."""

    statements: list[Said]


class StatementEntry(Entry):
    """How the passages bear on one statement."""

    verdict: Annotated[Literal["supported", "unsupported", "contradicted"], BeforeValidator(_word)]
    quote: Text = ""
    reason: Text = ""


class AgreedEntry(Entry):
    """Whether another answer says what one statement says."""

    verdict: Annotated[Literal["agrees", "contradicts", "silent"], BeforeValidator(_word)]


class ReadClaimForm(Form):
    """One claim as a reading of the answer has it; "unverified" where what it says of it can't be read."""

    claim: Said
    words: Text = ""
    support: Annotated[
        Literal["supported", "inferred", "unsupported", "contradicted", "unverified"],
        BeforeValidator(_word),
        WithJsonSchema(_OF_A_MODEL),
    ]
    quote: Text = ""
    confidence: Annotated[float | None, BeforeValidator(_share)] = None

    @property
    def readable(self) -> bool:
        return self.support != "unverified"


class QuestionsForm(Form):
    """Questions that an answer answers, and whether it commits itself to anything."""

    noncommittal: bool
    questions: Annotated[list[Said], BeforeValidator(_texts)] = Field(default_factory=list)


class UseEntry(Entry):
    """What one passage was of use for: the numbers of the statements that rest on it."""

    statements: Annotated[list[Annotated[int, BeforeValidator(identifier)]], BeforeValidator(_texts)]
    quote: Text = ""


class AgreementEntry(Entry):
    """Whether one other answer says the same."""

    agrees: Sureness


def readings(text: str, expected: int) -> list[tuple[ReadClaimForm, ...]]:
    """The readings of a reply, at most as many as were ``expected``; empty where one can't be read.

    A claim that can't be read may have been a flag, and stays, unverified; where it doesn't even say what
    it is about, its reading can't be read. UnreadableError where no reading can.
    """
    listed = objects(text, _listed_readings)
    read = [_read_claims(one["claims"]) for one in listed[:expected]]
    if not any(read):
        raise UnreadableError("no reading has claims that can be read")
    return read


def _listed_readings(value: Any) -> list[dict[str, Any]] | None:
    found = value.get("readings") if isinstance(value, dict) else None
    if not isinstance(found, list):
        return None
    return [one for one in found if isinstance(one, dict) and isinstance(one.get("claims"), list)] or None


def _read_claims(given: list[Any]) -> tuple[ReadClaimForm, ...]:
    try:
        read = tuple(map(_read_claim, given))
    except ValidationError:
        return ()
    return read if any(one.readable for one in read) else ()


def _read_claim(given: Any) -> ReadClaimForm:
    try:
        return ReadClaimForm.model_validate(given)
    except ValidationError:
        told = given if isinstance(given, dict) else {}
        words = told["words"] if isinstance(told.get("words"), str) else ""
        return ReadClaimForm(claim=told.get("claim") or words, words=words, support="unverified")
