"""Levels: a model grades an answer low, medium or high, and says why in two sentences.

Only the plan lives here. What is said to the model is in ``prompts``; which model it is, in ``judge``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

from groundwire.core.claim import Kind
from groundwire.core.grading import Grading, Level, Wording
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Failed, Plan
from groundwire.core.verdict import AbstentionReason, Outcome, Verdict
from groundwire.detectors.asking import Ask, PromptDetector, ask, clean
from groundwire.prompts.forms import LevelForm
from groundwire.prompts.replies import read_object
from groundwire.prompts.schemas import object_schema
from groundwire.text.claims import cut

SCORES: Mapping[Level, float] = MappingProxyType({Level.LOW: 0.0, Level.MEDIUM: 0.5, Level.HIGH: 1.0})
"""Each level's score. By the default cuts, or a threshold from 0.17 to 0.83, it is read as that level."""

ALONE: Mapping[Level, Wording] = MappingProxyType(
    {
        Level.LOW: Wording(
            label="GREEN", title="Answers the question; no documents to check it by", warning=""
        ),
        Level.MEDIUM: Wording(
            label="YELLOW",
            title="Answers only in part; no documents to check it by",
            warning="This answer may miss the question, and there were no documents to check it by.",
        ),
        Level.HIGH: Wording(
            label="RED",
            title="Does not answer the question",
            warning="This answer does not answer the question, and there were no documents to check it by.",
        ),
    }
)
"""What people are shown where there was nothing to check by: never that documents support the answer."""


@dataclass(frozen=True, kw_only=True)
class LevelDetector(PromptDetector):
    """Low, medium or high, with a reason of two sentences. One call.

    With passages, only their support is graded: never outside knowledge, truth, or what they could have
    added. Without any, another prompt grades whether the answer answers the question at all; its verdict
    says that nothing was checked, in its reason and its words. ``alone=False`` abstains there, as all other
    methods do. Low scores 0, medium 0.5 and high 1: medium is hallucinated up to a threshold of 0.5.

    Both prompts ("level" and "level_alone") can be replaced, system and user each, with ``$input_text``,
    ``$contexts_text``, ``$history_messages_text`` and ``$output_text``.

    Source: a strong model as judge (Zheng et al., 2023, arXiv:2306.05685). Known failures: three levels rank
    answers coarsely, a model's own knowledge may pass for support, and the words at fault are not located.
    """

    name: ClassVar[str] = "level"
    version: ClassVar[str] = "1"
    uses: ClassVar[tuple[str, ...]] = ("level", "level_alone")

    grading: Grading = Grading(threshold=0.5, medium=0.25, high=0.75)
    alone: bool = True

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        by_passages = interaction.has_context
        if not cut(interaction.answer):
            return self.abstain(AbstentionReason.NO_CLAIMS, "the answer states nothing that can be graded")
        if not by_passages and not (self.alone and interaction.question.strip()):
            detail = "there is no passage to grade the answer by" + (
                ", and no question" if self.alone else ""
            )
            return self.abstain(AbstentionReason.NO_CONTEXT, detail)
        texts = self.material(interaction)
        quotes = {
            "input_text": texts["question"],
            "contexts_text": texts["passages"],
            "history_messages_text": texts["history"],
            "output_text": texts["answer"],
        }
        form = yield from ask(
            Ask(
                message=self.message("level" if by_passages else "level_alone", quotes, judges=by_passages),
                read=lambda reply: read_object(reply.texts[0], LevelForm),
                schema=object_schema(LevelForm),
            )
        )
        if isinstance(form, Failed):
            return self.failed(form)
        return self._verdict(form, by_passages=by_passages)

    def _verdict(self, form: LevelForm, *, by_passages: bool) -> Verdict:
        level = Level(form.level)
        told = "" if by_passages else "There were no documents to check by, only the question. "
        verdict = Verdict.graded(
            SCORES[level],
            self.grading,
            raw=SCORES[level],
            kind=_KINDS[level] if by_passages or level is Level.LOW else Kind.IRRELEVANT,
            reason=told + clean(form.reason),
            detector=self.spec,
        )
        if by_passages:
            return verdict
        words = self.grading.wording.get(verdict.level, ALONE[verdict.level])
        return replace(verdict, wording=words)


_KINDS: Mapping[Level, Kind | None] = MappingProxyType(
    {Level.LOW: None, Level.MEDIUM: Kind.PARTIALLY_CORRECT, Level.HIGH: Kind.CONTEXT_CONFLICTING}
)
