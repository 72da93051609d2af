"""The forms that the prompt methods' replies fill in, read strictly: n things in, n verdicts out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from groundwire.prompts.replies import Entry, on_scale


def _word(value: object) -> object:
    return value.strip().strip(".").lower() if isinstance(value, str) else value


def _text(value: object) -> object:
    return "" if value is None else value


def _texts(value: object) -> object:
    return [] if value is None else value


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

    confidence: OneToFive
    reasoning: Text = ""


class ScoreForm(Form):
    """A score from 1 to 5, and why."""

    score: OneToFive
    reason: Text = ""


class StepsForm(Form):
    """The steps by which a score is come to."""

    steps: Annotated[list[Said], Field(min_length=1, max_length=20)]


class ReflectionForm(Form):
    """Two answers to whether an answer can be trusted."""

    correct: Sureness
    certain: Sureness
    reason: Text = ""


class PassageEntry(Entry):
    """How one passage bears on the answer."""

    verdict: Annotated[Literal["agrees", "contradicts", "unrelated"], BeforeValidator(_word)]
    quote: Text = ""
    words: Annotated[list[str], BeforeValidator(_texts)] = Field(default_factory=list)


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


class QuestionsForm(Form):
    """Questions that an answer answers, and whether it commits itself to anything."""

    noncommittal: bool
    questions: Annotated[list[Said], BeforeValidator(_texts)] = Field(default_factory=list)


class UseEntry(Entry):
    """What one passage was of use for: the numbers of the statements that rest on it."""

    statements: Annotated[list[int], BeforeValidator(_texts)]
    quote: Text = ""


class AgreementEntry(Entry):
    """Whether one other answer says the same."""

    agrees: Sureness
