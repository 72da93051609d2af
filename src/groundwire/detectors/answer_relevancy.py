"""Answer relevancy: whether the answer answers what was asked, seen by the questions that it would answer.

Only the plan lives here. What is said to the model is in ``prompts``; cosines are in ``vectors``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import ClassVar

from groundwire.core.claim import Kind
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Completed, Failed, Plan
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome, Verdict
from groundwire.detectors import settings
from groundwire.detectors.asking import Ask, PromptDetector, ask, clean, no_examples, whole_numbers
from groundwire.detectors.vectors import embed
from groundwire.prompts.forms import QuestionsForm
from groundwire.prompts.replies import UnreadableError, read_object
from groundwire.prompts.schemas import object_schema
from groundwire.text.claims import cut
from groundwire.text.refusal import is_refusal


class NonCommittal(StrEnum):
    """What is made of an answer that evades: it is irrelevant, or there is nothing to judge."""

    IRRELEVANT = "irrelevant"
    ABSTAIN = "abstain"


@dataclass(frozen=True, kw_only=True)
class AnswerRelevancy(PromptDetector):
    """1 minus the mean cosine between what was asked and ``questions`` that a model writes from the answer.

    The score is irrelevance: 0 answers just what was asked. One call writes the questions and says whether
    the answer is noncommittal; one request embeds them beside the real question. A noncommittal answer
    scores 1, as in the source, or abstains with NO_CLAIMS where ``noncommittal`` says so; one that declines
    in so many words is recognised without a call. Passages are not looked at, so none are needed. A question
    is. Nothing is located.

    Source: answer relevance of RAGAS (Es et al., 2023, arXiv:2309.15217). Assumes that like questions have
    like vectors. Known failures: whether the answer is true or supported is not seen at all; an answer that
    says more than was asked moves away from the question; where cosines lie differs from model to model, so
    the threshold has to be set for yours.

    Raises ConfigurationError naming every parameter that can't work.
    """

    name: ClassVar[str] = "answer_relevancy"
    version: ClassVar[str] = "1"
    uses: ClassVar[tuple[str, ...]] = ("answer_relevancy",)

    questions: int = 3
    noncommittal: NonCommittal | str = NonCommittal.IRRELEVANT

    def problems(self) -> list[str]:
        problems = super().problems() + no_examples(self) + whole_numbers(self, questions=1)
        return problems + settings.choice_problems(self, "noncommittal", NonCommittal)

    @property
    def needs_embeddings(self) -> bool:
        return True

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        if refused := self.refusal(interaction):
            return refused
        declines = is_refusal([span.of(interaction.answer) for span in cut(interaction.answer)])
        form = _DECLINED if declines else (yield from ask(self._asking(interaction)))
        if isinstance(form, Failed):
            return self.failed(form)
        if form.noncommittal:
            return self._evading()
        question, written = interaction.question.strip(), form.questions[: self.questions]
        vectors = yield from embed([question, *written])
        if isinstance(vectors, Failed):
            return self.failed(vectors)
        if not all(map(vectors.known, [question, *written])):
            return self.abstain(
                AbstentionReason.MODEL_FAILED, "the embedding model gave a vector of zeros for a question"
            )
        return self._verdict(written, [float(cosine) for cosine in vectors.cosines([question], written)[0]])

    def refusal(self, interaction: Interaction) -> Abstention | None:
        if not cut(interaction.answer):
            return self.abstain(AbstentionReason.NO_CLAIMS, "the answer says nothing that could be relevant")
        if not interaction.question.strip():
            detail = "there is no question to compare the answer with"
            return self.abstain(AbstentionReason.UNREADABLE_INPUT, detail)
        return None

    def _asking(self, interaction: Interaction) -> Ask[QuestionsForm]:
        return Ask(
            message=self.message(
                "answer_relevancy", self.material(interaction), words={"count": str(self.questions)}
            ),
            read=self._read,
            schema=object_schema(QuestionsForm),
        )

    def _read(self, reply: Completed) -> QuestionsForm:
        form = read_object(reply.texts[0], QuestionsForm)
        if not form.noncommittal and len(form.questions) < self.questions:
            raise UnreadableError(f"{len(form.questions)} questions came back, not {self.questions}")
        return form

    def _verdict(self, written: Sequence[str], cosines: Sequence[float]) -> Verdict:
        score = min(1.0, max(0.0, 1.0 - fmean(cosines)))
        _, nearest = max(zip(cosines, written, strict=True))
        return self._graded(
            score,
            f"The questions that the answer would answer are {score:.2f} away from the one that was asked; "
            f"the nearest is “{clean(nearest)}”.",
        )

    def _evading(self) -> Outcome:
        if self.noncommittal is NonCommittal.ABSTAIN:
            return self.abstain(AbstentionReason.NO_CLAIMS, "the answer is noncommittal")
        return self._graded(1.0, "The answer is noncommittal: it does not answer the question.")

    def _graded(self, score: float, reason: str) -> Verdict:
        return Verdict.graded(
            score,
            self.grading,
            raw=score,
            kind=Kind.IRRELEVANT if score >= self.grading.threshold else None,
            reason=reason,
            detector=self.spec,
        )


_DECLINED = QuestionsForm(noncommittal=True)
