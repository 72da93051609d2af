"""Contradiction: a model compares the answer with each passage, and the share that contradicts it counts.

Only the plan lives here. What is said to the model is in ``prompts``; which model it is, in ``judge``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from groundwire.core.claim import Claim, Evidence, Support
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Failed, Plan
from groundwire.core.span import Span
from groundwire.core.verdict import AbstentionReason, Outcome, Verdict
from groundwire.detectors.asking import Ask, PromptDetector, ask_each, whole_numbers
from groundwire.detectors.shown import Shown, cited
from groundwire.prompts.forms import PassageEntry
from groundwire.prompts.replies import read_entries
from groundwire.prompts.schemas import entries_schema


@dataclass(frozen=True, kw_only=True)
class Contradiction(PromptDetector):
    """Whether each passage agrees with the answer or contradicts it; the score is the share that contradicts.

    An answer that one passage contradicts is hallucinated: the default threshold lies below any share that
    can occur. Raise it where passages of several versions contradict each other. One call judges
    ``passages_per_call`` passages, all calls at once; a passage that got no verdict is asked for once more.
    Where every passage is about something else, nothing was compared, and the method abstains.

    The whole answer is the one claim, with what the contradicting passages say as its evidence and the
    contradicted words marked, as far as the model names them in the answer's own words.

    Source: the judge of contradicted contexts known from open evaluation tools (DeepEval's hallucination
    metric); Honovich et al., 2022 (arXiv:2204.04991), entailment over retrieved texts. Known failure, by
    definition: what the passages merely do not say is not seen; use ``faithfulness`` or ``judge`` for that.
    """

    name: ClassVar[str] = "contradiction"
    version: ClassVar[str] = "1"
    uses: ClassVar[tuple[str, ...]] = ("contradiction",)

    grading: Grading = Grading(threshold=0.001, medium=0.001, high=0.5)
    passages_per_call: int = 20

    def problems(self) -> list[str]:
        return super().problems() + whole_numbers(self, passages_per_call=1)

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        if refused := self.refusal(interaction):
            return refused
        texts = self.material(interaction)
        quotes = {int(label.rpartition(" ")[2]): (label, text) for label, text in texts["passages"]}

        def asking(ids: Sequence[int]) -> Ask[Mapping[int, PassageEntry]]:
            return Ask(
                message=self.message(
                    "contradiction", {**texts, "passages": [quotes[i] for i in ids]}, judges=True
                ),
                read=lambda reply: read_entries(reply.texts[0], PassageEntry, key="passages"),
                schema=entries_schema(PassageEntry, key="passages"),
            )

        found, trouble = yield from ask_each(tuple(quotes), asking, per_call=self.passages_per_call)
        return self._outcome(interaction, found, trouble, of=len(quotes))

    def _outcome(
        self, interaction: Interaction, found: Mapping[int, PassageEntry], trouble: Failed | None, *, of: int
    ) -> Outcome:
        against = {i: entry for i, entry in sorted(found.items()) if entry.verdict == "contradicts"}
        score = len(against) / of
        if trouble and score < self.grading.threshold:
            return self.failed(trouble, what=f"{of - len(found)} of {of} passages got no usable verdict")
        if not trouble and all(entry.verdict == "unrelated" for entry in found.values()):
            detail = f"none of {of} passages speaks of what the answer says"
            return self.abstain(AbstentionReason.NO_CONTEXT, detail)
        return Verdict.graded(
            score,
            self.grading,
            raw=score,
            claims=(_claim(interaction, against, of),) if against else (),
            reason=_reason(tuple(against), of),
            detector=self.spec,
        )


def _claim(interaction: Interaction, against: Mapping[int, PassageEntry], of: int) -> Claim:
    answer = Shown(interaction.answer)
    whole = Span(0, len(interaction.answer))
    evidence: list[Evidence] = []
    words: list[Span] = []
    for i, entry in against.items():
        evidence += cited(interaction, i - 1, entry.quote)
        words += [span for word in entry.words for span in answer.find(word)]
    return Claim(
        text=interaction.answer,
        span=whole,
        support=Support.CONTRADICTED,
        score=len(against) / of,
        evidence=tuple(evidence),
        words=tuple(sorted(set(words))),
        reason=_reason(tuple(against), of),
    )


def _reason(against: Sequence[int], of: int) -> str:
    if not against:
        return f"None of {of} passages contradicts the answer."
    named = ", ".join(map(str, against))
    return f"Contradicted by {len(against)} of {of} passages: {named}."
