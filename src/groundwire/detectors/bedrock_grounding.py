"""Amazon Bedrock Guardrails' contextual grounding check as a method.

Only the plan lives here. The service is asked by ``judge.adapters.guardrail``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from groundwire.core.claim import Claim, Kind, Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Failed, Ground, Grounded, Plan
from groundwire.core.score import score_problems
from groundwire.core.span import Span
from groundwire.core.verdict import AbstentionReason, Outcome, Verdict
from groundwire.detectors.statements import no_ground
from groundwire.text.claims import cut

# What the service takes in one request, in characters.
_SOURCES, _QUERY, _TEXT = 100_000, 1_000, 5_000

_NO_QUESTION = (
    AbstentionReason.UNREADABLE_INPUT,
    "there is no question, and so no relevance to it; leave out 'relevance' to judge by grounding alone",
)
_NO_RELEVANCE = (
    AbstentionReason.MODEL_FAILED,
    "the guardrail gave no relevance score: switch its relevance check on, or leave 'relevance' out",
)


@dataclass(frozen=True, kw_only=True)
class BedrockGrounding(Detector):
    """1 minus the grounding confidence of a Bedrock guardrail; an answer off its question is told apart.

    One request for each 5,000 characters of the answer, cut between sentences; the worst part decides, and
    where there are several, each is a claim. Needs ``Judge("bedrock-guardrail:GUARDRAIL_ID:VERSION")``, a
    guardrail whose contextual grounding check is switched on, and the permission bedrock:ApplyGuardrail. The
    default threshold is the service's own usual one: hallucinated below a confidence of 0.7. With
    ``relevance`` set, an answer whose relevance confidence is lower counts as irrelevant; then the higher of
    the two scores is the answer's, and a grounded answer of which the service tells no relevance, as without
    a question, is not judged.

    Source: Amazon Bedrock Guardrails, contextual grounding check. Assumes one exchange: the service does not
    judge conversations, so earlier turns are not shown to it. Known failures: it gives no reason and no
    place, its model is not disclosed and may change, a question is cut off after 1,000 characters, and
    passages of more than 100,000 in all are not judged.
    """

    name: ClassVar[str] = "bedrock_grounding"
    version: ClassVar[str] = "2"
    needs_model: ClassVar[bool] = True

    grading: Grading = Grading(threshold=0.3)
    relevance: float | None = None

    def __post_init__(self) -> None:
        if problems := score_problems(relevance=self.relevance):
            raise ConfigurationError(*problems)

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        spans = cut(interaction.answer)
        if refused := no_ground(interaction, spans, self):
            return refused
        sources = tuple(passage.text for passage in interaction.contexts if passage.text.strip())
        parts = list(_parts(spans))
        if too_long := _too_long(sources, parts):
            return self.abstain(AbstentionReason.OVER_BUDGET, too_long)
        query = interaction.question[:_QUERY]
        replies = yield [Ground(sources=sources, query=query, text=p.of(interaction.answer)) for p in parts]
        for reply in replies:
            if isinstance(reply, Failed):
                return self.abstain(reply.reason, reply.detail)
        grounded = [reply for reply in replies if isinstance(reply, Grounded)]
        return self._verdict(interaction, parts, grounded)

    def _verdict(self, interaction: Interaction, parts: list[Span], replies: list[Grounded]) -> Outcome:
        unsupported = [round(1 - reply.grounding, 12) for reply in replies]
        told = [reply.relevance for reply in replies if reply.relevance is not None]
        # The parts of an answer answer together: the one that meets the question best speaks for all.
        relevance = max(told) if told else None
        score, kind = max(unsupported), None
        if score >= self.grading.threshold:
            kind = Kind.CONTEXT_CONFLICTING
        if self.relevance is not None and relevance is None and kind is None:
            return self.abstain(*(_NO_RELEVANCE if interaction.question.strip() else _NO_QUESTION))
        if self.relevance is not None and relevance is not None and relevance < self.relevance:
            score, kind = max(score, round(1 - relevance, 12)), kind or Kind.IRRELEVANT
        reason = f"Grounding confidence {min(reply.grounding for reply in replies):.2f}"
        reason += "." if relevance is None else f", relevance {relevance:.2f}."
        claims = tuple(
            self._claim(interaction, part, one) for part, one in zip(parts, unsupported, strict=True)
        )
        return Verdict.graded(
            score,
            self.grading,
            raw=score,
            claims=claims if len(claims) > 1 else (),
            kind=kind,
            reason=reason,
            detector=self.spec,
        )

    def _claim(self, interaction: Interaction, part: Span, score: float) -> Claim:
        flagged = score >= self.grading.threshold
        return Claim(
            text=part.of(interaction.answer),
            span=part,
            support=Support.UNSUPPORTED if flagged else Support.SUPPORTED,
            score=score,
        )


def _parts(spans: list[Span]) -> Iterator[Span]:
    """Neighbouring claims, together as long as one request may hold them."""
    start, end = spans[0].start, spans[0].end
    for span in spans[1:]:
        if span.end - start > _TEXT:
            yield Span(start, end)
            start = span.start
        end = span.end
    yield Span(start, end)


def _too_long(sources: tuple[str, ...], parts: list[Span]) -> str:
    if (length := sum(map(len, sources))) > _SOURCES:
        return f"the passages have {length} characters, and the service takes {_SOURCES}"
    if (length := max(part.end - part.start for part in parts)) > _TEXT:
        return f"a sentence of the answer has {length} characters, and the service takes {_TEXT}"
    return ""
