"""Reviewed examples: answers that a person has judged, to be shown to a judge before it judges.

Only what an example is lives here. How it is put before a model is in ``prompts.examples``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from groundwire.core.errors import ConfigurationError
from groundwire.core.interaction import Interaction
from groundwire.core.redaction import may_be
from groundwire.core.score import check_score


@dataclass(frozen=True, kw_only=True)
class Example:
    """One reviewed answer. ``score`` is the hallucination score it should get, 1 for hallucinated."""

    interaction: Interaction
    score: float
    reason: str = ""

    def __post_init__(self) -> None:
        check_score("score", self.score)


class Examples:
    """Reviewed examples as a parameter of a detector, in the order in which they are shown.

    Built from Examples, or from mappings with ``answer``, ``contexts``, ``score`` and perhaps ``question``
    and ``reason``, as a settings file has them. A verdict names them by their number and fingerprint alone:
    its detector's parameters travel with every answer, and their texts must not. Raises ConfigurationError
    naming every example that can't be read.
    """

    def __init__(self, examples: Iterable[Example | Mapping[str, Any]] = ()) -> None:
        self._examples: tuple[Example, ...] = ()
        problems: list[str] = []
        for i, given in enumerate(examples):
            try:
                self._examples += (given if isinstance(given, Example) else _read(given),)
            except (TypeError, ValueError) as error:
                problems.append(f"examples[{i}]: {error}")
        if problems:
            raise ConfigurationError(*problems)

    def __iter__(self) -> Iterator[Example]:
        return iter(self._examples)

    def __len__(self) -> int:
        return len(self._examples)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Examples) and self._examples == other._examples

    def __hash__(self) -> int:
        return hash(self._examples)

    def __repr__(self) -> str:
        return f"Examples({len(self)}, fingerprint={self.fingerprint!r})"

    def without(self, question: str, answer: str) -> Examples:
        """Those that are not this very answer, which no judge may know beforehand; a mask is any letter."""
        if not any(_same(one.interaction, question, answer) for one in self):
            return self
        return Examples(one for one in self if not _same(one.interaction, question, answer))

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change with every word of every example."""
        told = repr([_told(example) for example in self])
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _same(shown: Interaction, question: str, answer: str) -> bool:
    same_question = not shown.question.strip() or may_be(shown.question.strip(), question.strip())
    return same_question and may_be(shown.answer.strip(), answer.strip())


def _told(example: Example) -> tuple[object, ...]:
    one = example.interaction
    return one.question, [passage.text for passage in one.contexts], one.answer, example.score, example.reason


def _read(given: Mapping[str, Any]) -> Example:
    if not isinstance(given, Mapping):
        raise TypeError(f"expected an Example or a mapping, not {type(given).__name__}")
    if unknown := given.keys() - {"question", "contexts", "answer", "score", "reason"}:
        raise ValueError(f"unknown key {min(map(str, unknown))!r}")
    if missing := {"answer", "contexts", "score"} - given.keys():
        raise ValueError(f"needs {', '.join(repr(name) for name in sorted(missing))}")
    interaction = Interaction(
        question=given.get("question"), contexts=given["contexts"], answer=given["answer"]
    )
    return Example(interaction=interaction, score=given["score"], reason=given.get("reason") or "")
