"""Trustworthiness: what a model says of an answer on reflection, and whether it would give the same again.

Only the plan lives here. What is said to the model is in ``prompts``; which model it is, in ``judge``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

from groundwire.core.interaction import Interaction
from groundwire.core.plan import Completed, Failed, Plan, Token, together
from groundwire.core.score import is_number
from groundwire.core.verdict import AbstentionReason, Outcome, Verdict
from groundwire.detectors.asking import Ask, PromptDetector, ask, ask_each, clean, whole_numbers
from groundwire.prompts.forms import AgreementEntry, ReflectionForm
from groundwire.prompts.replies import UnreadableError, read_entries, read_object, without_thoughts
from groundwire.prompts.schemas import entries_schema, object_schema


@dataclass(frozen=True, kw_only=True)
class Trustworthiness(PromptDetector):
    """Self-reflection, agreement between resampled answers and token probabilities, combined with weights.

    In one step the model is asked twice whether the answer can be trusted, in one reply, and answers the
    question itself from the same passages, ``samples`` times at ``temperature``. Then it says of each new
    answer whether it agrees with the one that is judged. That is ``samples`` + 2 calls. An answer to "yes",
    "no" or "unsure" counts 1, 0 or 1/2; ``probability`` is the geometric mean of the probabilities of the new
    answers' tokens, where the model tells them. The score is 1 minus the weighted mean of what there is.

    The default weights keep the source's 7 to 3 between agreement and reflection, with probability beside
    reflection. They are not fitted: without labels and a model's own replies nothing could be. Weights that
    are fitted on your labels go in as parameters. A question is needed, for there is none to answer again.

    Source: Chen and Mueller, 2023 (arXiv:2308.16175). Assumes that a model that knows an answer repeats it.
    Known failures: it costs many calls, repeats mistakes that the model makes consistently, takes an answer
    that is right and unlike the model's own for wrong, and does not say where the fault is.
    """

    name: ClassVar[str] = "trustworthiness"
    version: ClassVar[str] = "1"
    uses: ClassVar[tuple[str, ...]] = (
        "trustworthiness_reflection",
        "trustworthiness_answer",
        "trustworthiness_agreement",
    )

    samples: int = 5
    temperature: float = 1.0
    agreement: float = 0.7
    reflection: float = 0.3
    probability: float = 0.3

    def problems(self) -> list[str]:
        problems = super().problems() + whole_numbers(self, samples=1)
        for name in ("temperature", "agreement", "reflection", "probability"):
            value = getattr(self, name)
            if not (is_number(value) and 0 <= value < math.inf):
                problems.append(f"{name} must be a number from 0 on, not {value!r:.40}")
        if not problems and not self.temperature:
            problems.append("temperature must be above 0, or all resampled answers are the same")
        if not problems and not self.agreement + self.reflection > 0:
            problems.append("agreement and reflection must not both weigh nothing")
        return problems

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        if refused := self.refusal(interaction):
            return refused
        if not interaction.question.strip():
            detail = "there is no question, and so none that could be answered again"
            return self.abstain(AbstentionReason.UNREADABLE_INPUT, detail)
        reflected, again = yield from together(
            [_either(ask(self._reflecting(interaction))), _either(ask(self._answering(interaction)))]
        )
        for failed in (reflected, again):
            if isinstance(failed, Failed):
                return self.failed(failed)
        assert isinstance(reflected, ReflectionForm), "the plans keep their order"
        assert isinstance(again, Completed), "the plans keep their order"
        answers = dict(enumerate(again.texts, 1))
        found, trouble = yield from ask_each(
            tuple(answers), lambda ids: self._agreeing(interaction, answers, ids), per_call=len(answers)
        )
        if trouble:
            what = f"{len(answers) - len(found)} of {len(answers)} resampled answers got no usable verdict"
            return self.failed(trouble, what=what)
        return self._verdict(reflected, [_SURE[entry.agrees] for entry in found.values()], again.tokens)

    def _reflecting(self, interaction: Interaction) -> Ask[ReflectionForm]:
        return Ask(
            message=self.message("trustworthiness_reflection", self.material(interaction), judges=True),
            read=lambda reply: read_object(reply.texts[0], ReflectionForm),
            schema=object_schema(ReflectionForm),
        )

    def _answering(self, interaction: Interaction) -> Ask[Completed]:
        return Ask(
            message=self.message("trustworthiness_answer", self.material(interaction)),
            read=_whole,
            samples=self.samples,
            temperature=self.temperature,
            alternatives=1 if self.probability else 0,
        )

    def _agreeing(
        self, interaction: Interaction, answers: Mapping[int, str], ids: Sequence[int]
    ) -> Ask[Mapping[int, AgreementEntry]]:
        others = [(f"other answer {i}", answers[i]) for i in ids]
        return Ask(
            message=self.message(
                "trustworthiness_agreement", {**self.material(interaction), "others": others}
            ),
            read=lambda reply: read_entries(reply.texts[0], AgreementEntry, key="answers"),
            schema=entries_schema(AgreementEntry, key="answers"),
        )

    def _verdict(
        self, form: ReflectionForm, agreeing: Sequence[float], tokens: Iterable[Sequence[Token]]
    ) -> Verdict:
        reflected = (_SURE[form.correct] + _SURE[form.certain]) / 2
        agreed = math.fsum(agreeing) / len(agreeing)
        parts = [(self.reflection, reflected), (self.agreement, agreed)]
        told = f"Reflection {reflected:.2f}, agreement {agreed:.2f} of {len(agreeing)} resampled answers"
        likely = probability(tokens) if self.probability else None
        if likely is not None:
            parts.append((self.probability, likely))
            told += f", token probability {likely:.2f}"
        trust = combined(parts)
        score = min(1.0, max(0.0, 1 - trust))  # rounding alone can leave [0, 1]
        reason = f"{told}. {clean(form.reason)}".strip()
        return Verdict.graded(score, self.grading, raw=score, reason=reason, detector=self.spec)


def combined(parts: Iterable[tuple[float, float]]) -> float:
    """The mean of figures, each given with its weight before it."""
    kept = list(parts)
    return math.fsum(weight * value for weight, value in kept) / math.fsum(weight for weight, _ in kept)


def probability(tokens: Iterable[Sequence[Token]]) -> float | None:
    """The geometric mean of the probabilities of all tokens; None where there are none."""
    logprobs = [min(0.0, token.logprob) for text in tokens for token in text]
    return math.exp(math.fsum(logprobs) / len(logprobs)) if logprobs else None


def _whole(reply: Completed) -> Completed:
    """The new answers without thoughts, which are no part of what would be said."""
    answers = tuple(map(without_thoughts, reply.whole))
    if not all(answer.strip() for answer in answers):
        raise UnreadableError("one of the new answers is empty")
    return replace(reply, texts=answers)


def _either(
    plan: Plan[ReflectionForm | Failed] | Plan[Completed | Failed],
) -> Plan[ReflectionForm | Completed | Failed]:
    """Either of the two plans that run side by side, as one type."""
    return (yield from plan)


_SURE: Mapping[str, float] = MappingProxyType({"yes": 1.0, "no": 0.0, "unsure": 0.5})
