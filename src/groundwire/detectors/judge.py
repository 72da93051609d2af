"""The judge detector: a language model reads the passages and says, claim by claim, what they support.

Only the plan lives here. What is said to the model is in ``prompts``; which model it is, in ``judge``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from groundwire.core.aggregation import Aggregation, AnyUnsupported
from groundwire.core.claim import Claim, Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Completed, Plan, together
from groundwire.core.score import score_problems
from groundwire.core.span import Span
from groundwire.core.verdict import AbstentionReason, Outcome, Verdict
from groundwire.detectors import held_against, settings
from groundwire.detectors.asking import Ask, PromptDetector, ask_each, concluded, listed, whole_numbers
from groundwire.detectors.canary import canary as the_canary
from groundwire.detectors.cascade import exact
from groundwire.detectors.cascade.stages import Facts
from groundwire.detectors.shown import Shown, ShownPassages
from groundwire.detectors.statements import aggregation_problems, share
from groundwire.prompts.message import Quote
from groundwire.prompts.quoting import neutral
from groundwire.prompts.replies import ClaimReply, claim_replies
from groundwire.prompts.schemas import entries_schema
from groundwire.text.claims import cut


@dataclass(frozen=True, kw_only=True)
class JudgeDetector(PromptDetector):
    """Asks a language model, in one call, how the passages bear on each claim of the answer.

    "Supported" counts only with a quotation that stands in a passage, word for word, and bears on the claim:
    the two share a content word, and the quotation has three of them or shares more than half of the claim's.
    A claim of fewer than three ("Yes, they are.") may be read together with the question, and where no
    passage is in the answer's language, a quotation only needs to have three. "Unsupported" and
    "contradicted" are believed without a quotation, and so is "inferred", which clears a claim on the model's
    word alone. Claims that got no usable verdict are asked for once more, and are unverified after that.

    Source: a strong model as judge (Zheng et al., 2023, arXiv:2306.05685), over single claims (Min et al.,
    2023, arXiv:2305.14251). Assumes that a claim can be judged from one sentence and the answer around it.
    Known failures: the model's own knowledge passes for support, sums and dates are compared by feel, a
    quotation on the subject of a claim need not state it, the scores are verbalised and not calibrated, and
    a model may obey what a passage says.

    ``claims_per_call`` keeps replies short enough to be finished; longer answers take several calls, made
    at once. An answer of more than ``max_claims`` is not judged. A question need not be known.

    Three checks hold whatever the model says. ``facts``: a claim whose figure, date or amount is another in
    the passages is contradicted; "decide" does not ask the model then. ``cross_check`` is a detector that
    asks no model, or its name: where it gives an answer that the model clears a score of ``doubt`` or more,
    the verdict says so and recommends a review. With ``canary``, a sentence that no passage can state is put
    among the claims of each call, and a reply that does not flag it is not believed: some 20 tokens more to
    the model and 50 from it (see docs/security.md).
    """

    name: ClassVar[str] = "judge"
    version: ClassVar[str] = "2"
    uses: ClassVar[tuple[str, ...]] = ("judge",)

    aggregation: Aggregation = field(default_factory=AnyUnsupported)
    claims_per_call: int = 40
    max_claims: int = 400
    facts: Facts | str = Facts.BIND
    cross_check: Detector | str | None = None
    doubt: float = 0.7
    canary: bool = False

    def problems(self) -> list[str]:
        problems = super().problems() + whole_numbers(self, claims_per_call=1, max_claims=1)
        problems += aggregation_problems(self)
        problems += settings.choice_problems(self, "facts", Facts) + settings.switch_problems(self, "canary")
        return problems + self._cross_check_problems()

    def _cross_check_problems(self) -> list[str]:
        problems = score_problems(doubt=self.doubt)
        if self.cross_check is None:
            return problems
        try:
            object.__setattr__(self, "cross_check", settings.build(self.cross_check))
        except ConfigurationError as error:
            return [*problems, *(f"cross_check: {one}" for one in error.problems)]
        if isinstance(self.cross_check, Detector) and self.cross_check.takes_model:
            problems.append(
                f"cross_check must ask no model, so that nobody can talk to it, such as 'embedded', not "
                f"{self.cross_check.name!r}"
            )
        return problems

    @property
    def second(self) -> Detector | None:
        """The detector that verdicts are held against."""
        return self.cross_check if isinstance(self.cross_check, Detector) else None

    @property
    def needs_encoder(self) -> bool:  # type: ignore[override]  # what it is held against decides
        return self.second is not None and self.second.needs_encoder

    def load(self) -> None:
        if self.second is not None:
            self.second.load()

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        if refused := self.refusal(interaction):
            return refused
        refuted = () if self.facts is Facts.OFF else exact.refuted(interaction, self.grading)
        if refuted and self.facts is Facts.DECIDE:
            return held_against.refutation(self, refuted)
        if self.second is None:
            outcome = yield from self._judged(interaction)
        else:
            outcome, other = yield from together([self._judged(interaction), self.second.detect(interaction)])
            if isinstance(outcome, Verdict):
                outcome = held_against.other(outcome, other, self.second, self.doubt)
        if refuted and isinstance(outcome, Verdict):
            return held_against.facts(outcome, refuted, self)
        return outcome

    def _judged(self, interaction: Interaction) -> Plan[Outcome]:
        sheet = _Sheet(interaction, cut(interaction.answer), canary=self.canary)
        if len(sheet.ids) > self.max_claims:
            detail = f"the answer makes {len(sheet.ids)} claims, more than max_claims={self.max_claims}"
            return self.abstain(AbstentionReason.OVER_BUDGET, detail)
        judged, trouble = yield from ask_each(
            sheet.ids, lambda ids: self._asking(sheet, ids), per_call=self.claims_per_call
        )
        claims = [judged.get(i) or sheet.unverified(i) for i in sheet.ids]
        return concluded(self, claims, trouble, noun="claim", reason=_reason(claims))

    def _asking(self, sheet: _Sheet, ids: Sequence[int]) -> Ask[Mapping[int, Claim]]:
        quotes = self.material(sheet.interaction)
        question: list[Quote] = [*quotes["history"]]
        question += quotes["question"] or [("question", "(it was not recorded)")]
        return Ask(
            message=self.message(
                "judge",
                {**quotes, "question": question, "claims": [("claims", sheet.listed(ids))]},
                judges=True,
            ),
            read=lambda reply: sheet.read(ids, reply),
            schema=entries_schema(ClaimReply, key="claims"),
        )


class _Sheet:
    """One interaction as it is put before the judge, and the judge's words as claims about it."""

    def __init__(self, interaction: Interaction, spans: Sequence[Span], *, canary: bool) -> None:
        self._canary = the_canary(interaction, claims=len(spans)) if canary else None
        numbers = range(1, len(spans) + 1 + canary)
        self.ids = [i for i in numbers if self._canary is None or i != self._canary.place]
        self.interaction = interaction
        self._passages = ShownPassages(interaction)
        self._spans = dict(zip(self.ids, spans, strict=True))

    def listed(self, ids: Sequence[int]) -> str:
        texts = {i: self._text(i) for i in ids}
        if self._canary is not None:
            texts[self._canary.place] = self._canary.text
        return listed(dict(sorted(texts.items())))

    def read(self, ids: Sequence[int], reply: Completed) -> Mapping[int, Claim]:
        """The claims among ``ids`` that the reply says something usable of."""
        replies = claim_replies(reply.texts[0])
        if self._canary is not None:
            self._canary.check(replies)
        read = {i: self._claim(i, replies[i]) for i in ids if i in replies}
        return {i: claim for i, claim in read.items() if claim is not None}

    def unverified(self, i: int) -> Claim:
        return Claim(
            text=self._text(i),
            span=self._spans[i],
            support=Support.UNVERIFIED,
            reason="The judge gave no usable verdict on this claim.",
        )

    def _claim(self, i: int, reply: ClaimReply) -> Claim | None:
        """The judge's words as a claim; None for support that it can't show."""
        support = Support(reply.support)
        evidence = self._passages.evidence(reply.quote)
        if support is Support.SUPPORTED and not (
            evidence and self._passages.bears(reply.quote, self._text(i))
        ):
            return None
        return Claim(
            text=self._text(i),
            span=self._spans[i],
            support=support,
            score=reply.score,
            evidence=evidence,
            words=self._words(i, reply.words) if support.flagged else (),
            reason=neutral(reply.reason).strip(),
        )

    def _words(self, i: int, words: Sequence[str]) -> tuple[Span, ...]:
        shown = Shown(self._text(i))
        return tuple(span.shifted(self._spans[i].start) for word in words for span in shown.find(word))

    def _text(self, i: int) -> str:
        return self._spans[i].of(self.interaction.answer)


def _reason(claims: Sequence[Claim]) -> str:
    flagged = [claim for claim in claims if claim.support.flagged]
    if not flagged:
        return f"Supported: {share(len(claims), len(claims), 'claim')}."
    worst = max(flagged, key=lambda claim: claim.score or 0.0)
    return f"Not supported: {share(len(flagged), len(claims), 'claim')}. {worst.reason}".strip()
