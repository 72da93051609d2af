"""How the embedded detectors begin: the answer is cut and looked at, and what needs no weighing is settled.

What is looked at is ``lexical_features``' business. Abstaining, declining answers and answers in another
language than the passages are decided here, the same for every detector that needs no key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from groundwire.core.cached import cached_property
from groundwire.core.claim import Claim, Support
from groundwire.core.detector import Detector
from groundwire.core.interaction import Interaction
from groundwire.core.span import Span
from groundwire.core.verdict import AbstentionReason, Outcome, Verdict
from groundwire.detectors import lexical_model
from groundwire.detectors.as_read import AsRead
from groundwire.detectors.bearing import bearing
from groundwire.detectors.lexical_features import look
from groundwire.detectors.lexical_mentions import mentioned
from groundwire.detectors.lexical_seen import HARMLESS, Answer, Seen
from groundwire.detectors.lexical_verdict import Judging, summary
from groundwire.text import courtesy, language, refusal
from groundwire.text.overlap import Context


@dataclass(frozen=True, kw_only=True)
class Opened:
    """An answer that has to be weighed: its interaction, the context worked through, and what was seen.

    Passages that don't bear on the answer are empty in both; ``size`` is how many words there are with them.
    """

    interaction: Interaction
    context: Context
    seen: Answer
    size: int

    @cached_property
    def spoken(self) -> str | None:
        """The language of the passages, or else of the answer, where it can be told and is not English.

        None as well where a passage is in English and a statement is, whatever others are in: nobody is read
        with less care for a sentence in Spanish. And where a passage is, and of most nothing can be told.
        """
        theirs = self.context.language
        if any(passage.language == "English" for passage in self.context.passages) and (
            theirs is None or any(_guessed([claim]) == "English" for claim in self.seen.claims)
        ):
            return None
        told = _guessed(self.seen.claims) if theirs in (None, "English") else theirs
        return None if told == "English" else told

    @property
    def unsure(self) -> str:
        """Why to be less sure of what is in another language."""
        return f"in {self.spoken}, other words for the same are hardly known"


def _guessed(claims: Sequence[Seen]) -> str | None:
    """The language of claims, but for capitalised words: the "Los" of Los Angeles speaks no Spanish."""
    words = (
        folded
        for claim in claims
        for word, folded in zip(claim.worded.words, claim.worded.folded, strict=True)
        if not word.text[0].isupper()
    )
    return language.guess(words, least=_LEAST_WORDS)


# So few function words tell a language well enough to be less sure.
_LEAST_WORDS = 2


def opened(read: AsRead, detector: Detector) -> Opened | Outcome:
    """What ``detector`` has to weigh, or its outcome where there is nothing to weigh."""
    interaction, spans = read.interaction, read.claims
    stated = [span.of(interaction.answer) for span in spans]
    nothing = _nothing_to_weigh(interaction, stated)
    if nothing is not None:
        return detector.abstain(*nothing)
    context = Context([passage.text for passage in interaction.contexts])
    if refusal.is_refusal(stated) and not any(mentioned(claim, context) for claim in stated):
        return _declined(interaction, spans, detector)
    size = context.size
    foreign = context.foreign(stated)
    if not foreign:
        interaction, context = _narrowed(interaction, stated, context)
    seen = look(interaction.answer, spans, interaction.question, context, lexical_model.load().telling)
    if not any(claim.checkable for claim in seen.claims):
        return detector.abstain(
            AbstentionReason.NO_CLAIMS, "the answer has no word or figure that could be looked up"
        )
    if foreign:
        judging = Judging(interaction, context, seen, detector.grading)
        return _across_languages(judging.claims_by_facts(), detector)
    return Opened(interaction=interaction, context=context, seen=seen, size=size)


def _nothing_to_weigh(interaction: Interaction, stated: Sequence[str]) -> tuple[AbstentionReason, str] | None:
    """Why nothing can be said of an answer, if so."""
    if not interaction.has_context:
        return AbstentionReason.NO_CONTEXT, "no passage holds any text to judge against"
    if not stated:
        return AbstentionReason.NO_CLAIMS, "the answer states nothing that could be checked"
    if all(map(courtesy.is_opening, stated)):
        return (
            AbstentionReason.NO_CLAIMS,
            "the answer affirms, in no words of its own that could be looked up",
        )
    return None


def _narrowed(
    interaction: Interaction, stated: Sequence[str], context: Context
) -> tuple[Interaction, Context]:
    """Without the texts of passages that don't bear on what is stated; each keeps its number."""
    kept = bearing([*stated, interaction.question or ""], context.passages)
    if len(kept) == len(context.passages):
        return interaction, context
    passages = [
        passage if i in kept else replace(passage, text="") for i, passage in enumerate(interaction.contexts)
    ]
    return replace(interaction, contexts=tuple(passages)), Context([passage.text for passage in passages])


def concluded(
    claims: tuple[Claim, ...], detector: Detector, *, raw: float | None, reason: str = "", note: str = ""
) -> Verdict:
    """The verdict on claims of which the worst decides; ``note`` is added to the reason."""
    return Verdict.graded(
        max(claim.score or 0.0 for claim in claims),
        detector.grading,
        raw=raw,
        detector=detector.spec,
        reason=f"{reason or summary(claims, detector.grading)} {note}".rstrip(),
        claims=claims,
    )


def _across_languages(claims: tuple[Claim, ...], detector: Detector) -> Outcome:
    """Facts speak every language: they can refute an answer, or bear it out if each claim has some."""
    unread = sum(claim.support is Support.UNVERIFIED for claim in claims)
    if unread and not any(claim.support.flagged for claim in claims):
        return detector.abstain(
            AbstentionReason.NO_CLAIMS,
            f"answer and passages are in different languages, and {unread} of {len(claims)} statements "
            "have no figure to compare: use a judge that reads both",
        )
    return concluded(claims, detector, raw=None, note=_FIGURES_ALONE)


_FIGURES_ALONE = "Answer and passages are in different languages: only figures and dates were compared."


def _declined(interaction: Interaction, spans: Sequence[Span], detector: Detector) -> Verdict:
    # Below the MEDIUM cut of any grading: who declines has said nothing that could be wrong.
    score = min(HARMLESS, detector.grading.cuts[0] / 2)
    claims = tuple(
        Claim(
            text=span.of(interaction.answer),
            span=span,
            support=Support.SUPPORTED,
            score=score,
            reason="declines to answer",
        )
        for span in spans
    )
    return concluded(claims, detector, raw=score, reason="The answer declines to answer, and claims nothing.")
