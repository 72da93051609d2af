"""Faithfulness: an answer is taken apart into statements, and each is checked against the passages.

Only the plan lives here. What is said to the model is in ``prompts``; which model it is, in ``judge``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from groundwire.core.aggregation import Aggregation, Fraction
from groundwire.core.claim import Claim, Evidence, Support
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Failed, Plan
from groundwire.core.span import Span
from groundwire.core.verdict import AbstentionReason, Outcome
from groundwire.detectors.asking import Ask, PromptDetector, ask_each, clean, concluded, listed, whole_numbers
from groundwire.detectors.shown import cited
from groundwire.detectors.statements import aggregation_problems, share
from groundwire.prompts.forms import SentenceEntry, StatementEntry
from groundwire.prompts.replies import read_entries
from groundwire.prompts.schemas import entries_schema
from groundwire.text.claims import cut


@dataclass(frozen=True, kw_only=True)
class Faithfulness(PromptDetector):
    """The share of the answer's statements that the passages do not support. Two calls.

    The first call takes each sentence apart into statements; a sentence that it leaves out, or has none for,
    stands for itself, so nothing that was said escapes the check. The second judges every statement: as
    many verdicts as statements, those missing asked for once more, and unverified after that.

    The default threshold lies below any share that can occur: one unsupported statement makes a hallucinated
    answer, and the score still tells how much of it is at fault. ``Grading(threshold=0.5)`` is the rule of
    the fraction. Each statement is a claim whose span is its sentence, and whose reason names the statement.

    Source: Es et al., 2023 (RAGAS, arXiv:2309.15217); Min et al., 2023 (FActScore, arXiv:2305.14251). Assumes
    that statements keep what a sentence says. Known failures: a model that softens a wrong figure while it
    takes a sentence apart hides it; the words at fault are not located within the sentence; models pass off
    what they know as support.

    ``per_call`` is how many sentences or statements one call takes. An answer of more than
    ``max_statements`` is not judged.
    """

    name: ClassVar[str] = "faithfulness"
    version: ClassVar[str] = "1"
    uses: ClassVar[tuple[str, ...]] = ("faithfulness_statements", "faithfulness_verdicts")

    grading: Grading = Grading(threshold=0.001, medium=0.001, high=0.5)
    aggregation: Aggregation = field(default_factory=Fraction)
    per_call: int = 40
    max_statements: int = 400

    def problems(self) -> list[str]:
        problems = super().problems() + whole_numbers(self, per_call=1, max_statements=1)
        problems += aggregation_problems(self)
        return problems

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        if refused := self.refusal(interaction):
            return refused
        spans = cut(interaction.answer)
        if len(spans) > self.max_statements:
            return self._too_many(f"the answer has {len(spans)} sentences")
        statements = yield from self._statements(interaction, spans)
        if isinstance(statements, Failed):
            return self.failed(statements, what="the answer could not be taken apart")
        if len(statements) > self.max_statements:
            return self._too_many(f"the answer makes {len(statements)} statements")
        numbered = dict(enumerate(statements, 1))
        found, trouble = yield from ask_each(
            tuple(numbered),
            lambda ids: self._verify(interaction, {i: numbered[i][1] for i in ids}),
            per_call=self.per_call,
        )
        claims = [_claim(interaction, *numbered[i], found.get(i)) for i in numbered]
        return concluded(self, claims, trouble, noun="statement", reason=_reason(claims))

    def _statements(
        self, interaction: Interaction, spans: Sequence[Span]
    ) -> Plan[list[tuple[Span, str]] | Failed]:
        """Every statement with the sentence that makes it, in the order of the answer."""
        sentences = {i: span.of(interaction.answer) for i, span in enumerate(spans, 1)}
        found, trouble = yield from ask_each(
            tuple(sentences),
            lambda ids: self._take_apart(interaction, {i: sentences[i] for i in ids}),
            per_call=self.per_call,
        )
        if trouble and not found:
            return trouble
        made = {i: found[i].statements if i in found else [] for i in sentences}
        return [
            (span, statement) for i, span in enumerate(spans, 1) for statement in made[i] or [sentences[i]]
        ]

    def _take_apart(
        self, interaction: Interaction, sentences: Mapping[int, str]
    ) -> Ask[Mapping[int, SentenceEntry]]:
        quotes = {**self.material(interaction), "sentences": [("sentences", listed(sentences))]}
        return Ask(
            message=self.message("faithfulness_statements", quotes),
            read=lambda reply: read_entries(reply.texts[0], SentenceEntry, key="sentences"),
            schema=entries_schema(SentenceEntry, key="sentences"),
        )

    def _verify(
        self, interaction: Interaction, statements: Mapping[int, str]
    ) -> Ask[Mapping[int, StatementEntry]]:
        quotes = {**self.material(interaction), "statements": [("statements", listed(statements))]}
        return Ask(
            message=self.message("faithfulness_verdicts", quotes, judges=True),
            read=lambda reply: read_entries(reply.texts[0], StatementEntry, key="statements"),
            schema=entries_schema(StatementEntry, key="statements"),
        )

    def _too_many(self, what: str) -> Outcome:
        return self.abstain(
            AbstentionReason.OVER_BUDGET, f"{what}, more than max_statements={self.max_statements}"
        )


def _claim(interaction: Interaction, span: Span, statement: str, entry: StatementEntry | None) -> Claim:
    support = Support(entry.verdict) if entry else Support.UNVERIFIED
    told = f"“{clean(statement)}”"
    return Claim(
        text=span.of(interaction.answer),
        span=span,
        support=support,
        score=float(support.flagged) if entry else None,
        evidence=_evidence(interaction, entry.quote) if entry else (),
        reason=f"{told}: {clean(entry.reason) or support}" if entry else f"{told}: no usable verdict",
    )


def _evidence(interaction: Interaction, quote: str) -> tuple[Evidence, ...]:
    """The quotation from the first passage that has it."""
    for i in range(len(interaction.contexts)):
        if found := cited(interaction, i, quote):
            return found
    return ()


def _reason(claims: Sequence[Claim]) -> str:
    flagged = [claim for claim in claims if claim.support.flagged]
    if not flagged:
        return f"Supported: {share(len(claims), len(claims), 'statement')}."
    return f"Not supported: {share(len(flagged), len(claims), 'statement')}. {flagged[0].reason}"
