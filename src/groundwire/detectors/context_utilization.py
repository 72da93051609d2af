"""Context utilization: how much of the answer comes from the passages, and whether from those in front.

Only the plan lives here. What is said to the model is in ``prompts``; which model it is, in ``judge``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from groundwire.core.claim import Claim, Support
from groundwire.core.grading import Grading, Level, Wording
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Completed, Plan
from groundwire.core.span import Span
from groundwire.core.verdict import AbstentionReason, Outcome, Verdict
from groundwire.detectors.asking import (
    Ask,
    PromptDetector,
    ask_each,
    listed,
    no_examples,
    whole_numbers,
)
from groundwire.detectors.shown import cited
from groundwire.prompts.forms import UseEntry
from groundwire.prompts.replies import read_entries
from groundwire.prompts.schemas import entries_schema
from groundwire.text.claims import cut
from groundwire.text.refusal import is_refusal

_WORDING = {
    Level.LOW: Wording(label="GREEN", title="Drawn from the first documents", warning=""),
    Level.MEDIUM: Wording(
        label="YELLOW",
        title="Partly drawn from the documents, or from late ones",
        warning="Parts of this answer may come from elsewhere than the documents. Please check them.",
    ),
    Level.HIGH: Wording(
        label="RED",
        title="Hardly drawn from the documents",
        warning="This answer hardly uses the documents that were found. Do not rely on it.",
    ),
}


@dataclass(frozen=True, kw_only=True)
class ContextUtilization(PromptDetector):
    """1 minus the share of claims that a passage was of use for, times how early the useful passages rank.

    A model names, for each passage, the claims that it was of use for. A passage is useful when it served
    one. The ranks count by average precision: the mean, over the useful passages, of the share of useful ones
    from the first down to each. It is 1 when they stand in front, whatever their number, and 1/k when the one
    useful passage is the k-th. When every claim was served, the score is 1 minus that figure, which is the
    source's. One call for ``passages_per_call`` passages, all at once; those without a usable entry are asked
    for once more.

    A claim that was served has the quotations as evidence; one that was not is unsupported. The default
    threshold is high, for late passages alone are the retriever's fault and no hallucination: an answer is
    flagged when little or nothing of it comes from the passages. An answer that declines draws on nothing,
    and is not judged.

    Source: context utilization of RAGAS (Es et al., 2023, arXiv:2309.15217, and the library's documentation);
    average precision as in information retrieval. Known failures: a passage can serve a claim that distorts
    it, so this measures use and not support; blank passages have no rank.

    Raises ConfigurationError naming every parameter that can't work.
    """

    name: ClassVar[str] = "context_utilization"
    version: ClassVar[str] = "1"
    uses: ClassVar[tuple[str, ...]] = ("context_utilization",)

    grading: Grading = Grading(threshold=0.9, medium=0.5, wording=_WORDING)
    passages_per_call: int = 20
    max_claims: int = 400

    def problems(self) -> list[str]:
        return super().problems() + no_examples(self) + whole_numbers(self, passages_per_call=1, max_claims=1)

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        if refused := self.refusal(interaction):
            return refused
        spans = cut(interaction.answer)
        if is_refusal([span.of(interaction.answer) for span in spans]):
            return self.abstain(AbstentionReason.NO_CLAIMS, "the answer declines, and draws on nothing")
        if len(spans) > self.max_claims:
            detail = f"the answer makes {len(spans)} claims, more than max_claims={self.max_claims}"
            return self.abstain(AbstentionReason.OVER_BUDGET, detail)
        ranked = [i for i, passage in enumerate(interaction.contexts, 1) if passage.text.strip()]
        found, trouble = yield from ask_each(
            ranked, lambda ids: self._asking(interaction, spans, ids), per_call=self.passages_per_call
        )
        if trouble:
            what = f"{len(ranked) - len(found)} of {len(ranked)} passages got no usable entry"
            return self.failed(trouble, what=what)
        return self._verdict(interaction, spans, {i: found[i] for i in ranked})

    def _asking(
        self, interaction: Interaction, spans: Sequence[Span], ids: Sequence[int]
    ) -> Ask[Mapping[int, UseEntry]]:
        texts = {i: span.of(interaction.answer) for i, span in enumerate(spans, 1)}
        passages = [(f"passage {i}", interaction.contexts[i - 1].text) for i in ids]
        quotes = {
            **self.material(interaction),
            "passages": passages,
            "statements": [("statements", listed(texts))],
        }

        def read(reply: Completed) -> Mapping[int, UseEntry]:
            entries = read_entries(reply.texts[0], UseEntry, key="passages")
            return {i: entry for i, entry in entries.items() if texts.keys() >= set(entry.statements)}

        return Ask(
            message=self.message("context_utilization", quotes),
            read=read,
            schema=entries_schema(UseEntry, key="passages"),
        )

    def _verdict(
        self, interaction: Interaction, spans: Sequence[Span], found: Mapping[int, UseEntry]
    ) -> Verdict:
        claims = [_claim(interaction, i, span, found) for i, span in enumerate(spans, 1)]
        served = sum(not claim.support.flagged for claim in claims)
        useful = [bool(entry.statements) for entry in found.values()]
        early = average_precision(useful)
        score = min(1.0, max(0.0, 1.0 - served / len(claims) * early))
        return Verdict.graded(
            score,
            self.grading,
            raw=score,
            claims=tuple(claims),
            reason=f"{served} of {len(claims)} claims draw on {sum(useful)} of {len(useful)} passages, "
            f"whose ranks have an average precision of {early:.2f}.",
            detector=self.spec,
        )


def average_precision(useful: Sequence[bool]) -> float:
    """The mean, over the useful ones, of the share of useful ones from the first down to each; 0 for none."""
    ranks = [rank for rank, one in enumerate(useful, 1) if one]
    return math.fsum(n / rank for n, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0


def _claim(interaction: Interaction, i: int, span: Span, found: Mapping[int, UseEntry]) -> Claim:
    serving = {rank: entry for rank, entry in found.items() if i in entry.statements}
    named = ", ".join(map(str, serving))
    return Claim(
        text=span.of(interaction.answer),
        span=span,
        support=Support.SUPPORTED if serving else Support.UNSUPPORTED,
        score=0.0 if serving else 1.0,
        evidence=tuple(
            evidence
            for rank, entry in serving.items()
            for evidence in cited(interaction, rank - 1, entry.quote)
        ),
        reason=f"drawn from passage {named}" if serving else "no passage was of use for it",
    )
