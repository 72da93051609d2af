"""G-Eval: a model scores an answer by a criterion and its steps, weighted by how likely each score was.

Only the plan lives here. What is said to the model is in ``prompts``; which model it is, in ``judge``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from groundwire import prompts
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Completed, Failed, Plan, Token
from groundwire.core.verdict import AbstentionReason, Outcome, Verdict
from groundwire.detectors.asking import Ask, PromptDetector, ask, clean, whole_numbers
from groundwire.prompts.forms import ScoreForm, StepsForm
from groundwire.prompts.replies import UnreadableError, read_object
from groundwire.prompts.schemas import object_schema

_ALTERNATIVES = 5  # scores from 1 to 5


@dataclass(frozen=True, kw_only=True)
class GEval(PromptDetector):
    """A score from 1 to 5 by a criterion and the steps to it; the score is ``(5 - weighted) / 4``.

    Where the model tells the probabilities of its tokens, one call is weighted by those of the five scores.
    Where it does not, ``samples`` replies are made in all, and their mean counts; at least half of them must
    be readable.

    ``criterion`` and ``steps`` are what is scored by, and how. Without either, the kept ones are used, for
    support by the passages. A criterion without steps has them written by the model first, in one more call
    for every answer, unless the judge's memory has it; ``prepared`` writes them once and keeps them in the
    detector, and so in every verdict. A criterion instructs the model: never put untrusted text there.

    Source: Liu et al., 2023 (arXiv:2303.16634). Assumes that a model scores better by steps. Known failures:
    scores are coarse and crowd around 4, models favour fluent answers and texts of models, and nothing
    says where the fault is.
    """

    name: ClassVar[str] = "g_eval"
    version: ClassVar[str] = "1"
    uses: ClassVar[tuple[str, ...]] = ("g_eval", "g_eval_steps")

    criterion: str = ""
    steps: tuple[str, ...] = ()
    samples: int = 5

    def problems(self) -> list[str]:
        problems = super().problems() + whole_numbers(self, samples=1)
        if not isinstance(self.criterion, str):
            problems.append(f"criterion must be a text, not {type(self.criterion).__qualname__}")
        if isinstance(self.steps, str) or not isinstance(self.steps, Sequence):
            problems.append(f"steps must be a list of texts, not {type(self.steps).__qualname__}")
        elif not all(isinstance(step, str) and step.strip() for step in self.steps):
            problems.append("steps must all be texts, and none of them empty")
        else:
            object.__setattr__(self, "steps", tuple(self.steps))  # a settings file has a list
        return problems

    def prepared(self) -> Plan[GEval | Failed]:
        """The same detector with its steps written; run it once, by ``groundwire.judge.drivers.run``."""
        steps = yield from self._steps()
        return steps if isinstance(steps, Failed) else replace(self, steps=steps)

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        if refused := self.refusal(interaction):
            return refused
        steps = yield from self._steps()
        if isinstance(steps, Failed):
            return self.failed(steps, what="the steps could not be written")
        scoring = Ask(
            message=self.message(
                "g_eval",
                self.material(interaction),
                words={"criterion": self._criterion, "steps": _numbered(steps)},
                judges=True,
            ),
            read=_read,
            temperature=1.0,
            alternatives=_ALTERNATIVES,
        )
        first = yield from ask(scoring)
        if isinstance(first, Failed):
            return self.failed(first)
        if first.weighted is not None:
            return self._verdict(first.weighted, first, "weighted by the model's probabilities")
        return (yield from self._sampled(scoring, first))

    def _sampled(self, scoring: Ask[_Scored], first: _Scored) -> Plan[Outcome]:
        """By the mean of the first reply and of the others that it takes to make ``samples``."""
        scores = [first.score]
        if self.samples > 1:
            (reply,) = yield [replace(scoring, samples=self.samples - 1, alternatives=0).request()]
            if isinstance(reply, Failed):
                return self.failed(reply)
            scores += _readable(reply.whole) if isinstance(reply, Completed) else []
        if 2 * len(scores) < self.samples:
            detail = f"only {len(scores)} of {self.samples} replies could be read"
            return self.abstain(AbstentionReason.UNREADABLE_REPLY, detail)
        return self._verdict(math.fsum(scores) / len(scores), first, f"the mean of {len(scores)} replies")

    def _steps(self) -> Plan[tuple[str, ...] | Failed]:
        if self.steps:
            return self.steps
        if not self.criterion:
            return tuple(prompts.get("g_eval_kept_steps").user.splitlines())
        message = self.message("g_eval_steps", {}, words={"criterion": self._criterion})
        form = yield from ask(
            Ask(
                message=message,
                read=lambda reply: read_object(reply.texts[0], StepsForm),
                schema=object_schema(StepsForm),
            )
        )
        return form if isinstance(form, Failed) else tuple(clean(step) for step in form.steps)

    @property
    def _criterion(self) -> str:
        return self.criterion or prompts.get("g_eval_criterion").user

    def _verdict(self, weighted: float, first: _Scored, how: str) -> Verdict:
        score = min(1.0, max(0.0, (5 - weighted) / 4))  # rounding alone can leave [0, 1]
        reason = f"{weighted:.2f} of 5, {how}. {first.reason}".strip()
        return Verdict.graded(score, self.grading, raw=score, reason=reason, detector=self.spec)


@dataclass(frozen=True, kw_only=True)
class _Scored:
    score: float
    weighted: float | None
    reason: str


def _read(reply: Completed) -> _Scored:
    form = read_object(reply.texts[0], ScoreForm)
    tokens = reply.tokens[0] if reply.tokens else ()
    return _Scored(score=form.score, weighted=weighted_score(tokens, form.score), reason=clean(form.reason))


def _readable(texts: Iterable[str]) -> list[float]:
    scores = []
    for text in texts:
        try:
            scores.append(read_object(text, ScoreForm).score)
        except UnreadableError:
            continue
    return scores


def weighted_score(tokens: Sequence[Token], written: float) -> float | None:
    """The mean of the scores from 1 to 5, each weighted by its probability where the score was written.

    None where the tokens do not show the score ``written``, where it is no whole number, or where nothing is
    told of what else was likely.
    """
    text = "".join(token.text for token in tokens)
    places = [match for match in _SCORE.finditer(text) if float(match["score"]) == written]
    if not places:
        return None
    at = 0
    for token in tokens:
        if at <= places[-1].start("score") < at + len(token.text):
            return _weighted(token) if token.alternatives else None
        at += len(token.text)
    return None


def _weighted(token: Token) -> float | None:
    likely: dict[int, dict[str, float]] = {}
    for text, logprob in ((token.text, token.logprob), *token.alternatives):
        if match := _ONE_SCORE.fullmatch(text):
            likely.setdefault(int(match[1]), {})[text] = math.exp(min(0.0, logprob))
    weights = {score: math.fsum(spelled.values()) for score, spelled in likely.items()}
    total = math.fsum(weights.values())
    return math.fsum(score * weight for score, weight in weights.items()) / total if total > 0 else None


def _numbered(steps: Sequence[str]) -> str:
    return "\n".join(f"{i}. {step}" for i, step in enumerate(steps, 1))


_SCORE = re.compile(r'"score"\s*:\s*"?(?P<score>[1-5])(?!\d|[.,]\d)')
_ONE_SCORE = re.compile(r"[^\w.,]*([1-5])[^\w.,]*", re.ASCII)
