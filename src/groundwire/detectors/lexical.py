"""The first embedded detector: words and exact facts, weighed by a small fitted model.

What is looked at lives in ``lexical_features``, the fitted weights in ``lexical_model``. Here the figures
become a verdict: which claims are flagged, which of their words, on what evidence, and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from groundwire.core.claim import Claim, Evidence, Support
from groundwire.core.detector import Detector
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Plan
from groundwire.core.span import Span, union
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome, Verdict
from groundwire.detectors import lexical_model
from groundwire.detectors.lexical_features import Answer, Seen, look
from groundwire.text import claims as claim_text
from groundwire.text.facts import Fact, Known, Status
from groundwire.text.overlap import NEGATIONS, Context, Match

# The score of an answer that differs from the documents in an exact fact, or by a "not".
_CONTRADICTED = 0.85
_HARMLESS = 0.02
# From this share of missing weight on, a flagged claim is flagged whole.
_MOSTLY_MISSING = 0.6


@dataclass(frozen=True, kw_only=True)
class Lexical(Detector):
    """Judges by word overlap, rare words and names, exact facts and negation. Offline, no model, milliseconds.

    Each claim is compared with its best sentence, its best passage and all passages together; boosted
    trees weigh the figures (Friedman, 2001), fitted on RAGTruth (Niu et al., 2024) and calibrated on
    sources that were not used for fitting. A number, date, time or amount that differs from the one the
    documents give in the same place is a contradiction whatever the trees say.

    Assumes that a supported answer mostly uses the documents' words. Known failures: free paraphrase in
    other words looks unsupported, swapped roles ("A paid B") and invented claims made of the documents'
    own words look supported, and a claim that something is not mentioned is believed.
    """

    name: ClassVar[str] = "lexical"
    version: ClassVar[str] = "1"

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """Judge by words and exact facts; asks nothing of anybody."""
        return self._judged(interaction)
        yield ()  # a plan is a generator, also where there is nothing to ask

    def _judged(self, interaction: Interaction) -> Outcome:
        if not interaction.has_context:
            return self._abstain(AbstentionReason.NO_CONTEXT, "no passage holds any text to judge against")
        spans = claim_text.cut(interaction.answer)
        if not spans:
            return self._abstain(
                AbstentionReason.NO_CLAIMS, "the answer states nothing that could be checked"
            )
        context = Context([passage.text for passage in interaction.contexts])
        known = Known(fact for p in context.passages for facts in p.facts for fact in facts)
        seen = look(interaction.answer, spans, interaction.question, context, known)
        if all(claim.declines for claim in seen.claims):
            return self._declined(interaction, seen.claims)
        return _Judging(self, interaction, context, seen).verdict()

    def _abstain(self, why: AbstentionReason, detail: str) -> Abstention:
        return Abstention(why=why, detail=detail, detector=self.spec)

    def _declined(self, interaction: Interaction, seen: Sequence[Seen]) -> Verdict:
        score = min(_HARMLESS, self.grading.cuts[0] / 2)
        return Verdict.graded(
            score,
            self.grading,
            raw=score,
            detector=self.spec,
            reason="The answer declines to answer, and claims nothing.",
            claims=tuple(
                Claim(
                    text=claim.span.of(interaction.answer),
                    span=claim.span,
                    support=Support.SUPPORTED,
                    score=score,
                    reason="declines to answer",
                )
                for claim in seen
            ),
        )


class _Judging:
    """One answer's figures on their way to a verdict."""

    def __init__(self, detector: Lexical, interaction: Interaction, context: Context, answer: Answer) -> None:
        self.detector, self.interaction, self.context, self.seen = (
            detector,
            interaction,
            context,
            answer.claims,
        )
        fitted = lexical_model.load()
        features = [claim.features for claim in answer.claims]
        odds = [
            _HARMLESS if claim.verbatim or claim.declines else p
            for claim, p in zip(answer.claims, fitted.claims(features), strict=True)
        ]
        if max(odds) <= _HARMLESS:
            self.raw = self.score = _HARMLESS
        else:
            (self.raw,) = fitted.answer([lexical_model.pooled(odds, features, answer.features)])
            self.score = fitted.calibration(self.raw)
        # The worst claim has the answer's score and the others their share of it, so that an answer is
        # flagged exactly where one of its claims is.
        self.scores = [self.score * p / max(odds) for p in odds]

    def verdict(self) -> Verdict:
        threshold = self.detector.grading.threshold
        claims = []
        for seen, score in zip(self.seen, self.scores, strict=True):
            conflict = _conflict(seen)
            if conflict is not None:
                claims.append(self._contradicted(seen, conflict, max(score, _CONTRADICTED, threshold)))
            elif score >= threshold:
                claims.append(self._unsupported(seen, score))
            else:
                claims.append(self._supported(seen, score))
        return Verdict.graded(
            max(claim.score or 0.0 for claim in claims),
            self.detector.grading,
            raw=self.raw,
            detector=self.detector.spec,
            reason=_summary(claims),
            claims=tuple(claims),
        )

    def _contradicted(self, seen: Seen, conflict: _Conflict, score: float) -> Claim:
        evidence = (self._cite(conflict.where),)
        return self._claim(seen, Support.CONTRADICTED, score, evidence, conflict.words, conflict.reason)

    def _unsupported(self, seen: Seen, score: float) -> Claim:
        words = _unsupported_words(seen)
        return self._claim(
            seen,
            Support.UNSUPPORTED,
            score,
            (),
            words,
            _why_unsupported(seen, words, self.interaction.answer),
        )

    def _supported(self, seen: Seen, score: float) -> Claim:
        if seen.declines:
            return self._claim(seen, Support.SUPPORTED, score, (), (), "declines to answer")
        evidence = tuple(map(self._cite, self._support(seen)))
        reason = "word for word in the document" if seen.verbatim else "its words are in the document"
        return self._claim(
            seen, Support.SUPPORTED, score, evidence, (), reason if evidence else "nothing in it to check"
        )

    def _support(self, seen: Seen) -> Sequence[Match]:
        """The best sentence, and a second one that adds a good part of what the first leaves open."""
        if not seen.matches:
            return ()
        stems = {seen.worded.stems[i] for i in seen.worded.content}
        best = seen.matches[0]
        left = stems.difference(self._stems(best))
        for other in seen.matches[1:]:
            if len(left.intersection(self._stems(other))) >= max(2, 0.25 * len(stems)):
                return (best, other)
        return (best,)

    def _stems(self, match: Match) -> Sequence[str]:
        return self.context.passages[match.passage].worded[match.sentence].stems

    def _cite(self, match: Match) -> Evidence:
        span = self.context.passages[match.passage].sentences[match.sentence]
        return Evidence.cite(self.interaction, match.passage, span)

    def _claim(
        self,
        seen: Seen,
        support: Support,
        score: float,
        evidence: tuple[Evidence, ...],
        words: tuple[Span, ...],
        reason: str,
    ) -> Claim:
        return Claim(
            text=seen.span.of(self.interaction.answer),
            span=seen.span,
            support=support,
            score=score,
            evidence=evidence,
            words=words,
            reason=reason,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Conflict:
    """What the claim says, and what the document says instead."""

    words: tuple[Span, ...]
    where: Match
    reason: str


def _conflict(seen: Seen) -> _Conflict | None:
    """The first exact fact that differs; else a "not" too many or too few; else an opposite."""
    differing = [
        (fact, checked.nearest, where)
        for fact, checked, where in seen.checked
        if checked.status is Status.DIFFERS and checked.nearest is not None and where is not None
    ]
    if differing:
        fact, nearest, where = differing[0]
        return _Conflict(
            words=union(f.span.shifted(seen.span.start) for f, _, _ in differing),
            where=where,
            reason=f"{_say(fact)} here, {_say(nearest)} in the document",
        )
    if seen.negation_differs:
        here = bool(seen.worded.negated)
        reason = f"“not” here, but not in the document: {seen.negation_differs[1]}"
        if not here:
            reason = f"“not” in the document, but not here: {seen.negation_differs[1]}"
        return _Conflict(words=_negation_words(seen), where=seen.matches[0], reason=reason)
    if seen.opposite:
        i, mine, theirs = seen.opposite
        word = seen.worded.words[i].span.shifted(seen.span.start)
        return _Conflict(
            words=(word,), where=seen.matches[0], reason=f"“{mine}” here, “{theirs}” in the document"
        )
    return None


def _say(fact: Fact) -> str:
    return " ".join(fact.shown.split())


def _negation_words(seen: Seen) -> tuple[Span, ...]:
    at, _ = seen.negation_differs or (0, "")
    words = seen.worded.words
    negations = [i for i, folded in enumerate(seen.worded.folded) if folded in NEGATIONS]
    first = min([at, *(i for i in negations if i < at)][-1:] + [at])
    return (Span(words[first].start, words[at].end).shifted(seen.span.start),)


def _unsupported_words(seen: Seen) -> tuple[Span, ...]:
    """The words and facts that are nowhere in the documents; all of the claim's where that is most of it."""
    worded, start = seen.worded, seen.span.start
    lacking = [
        fact.span for fact, checked, _ in seen.checked if checked.status is not Status.FOUND and not fact.soft
    ]
    if len(seen.missing) >= _MOSTLY_MISSING * len(worded.content):
        return ()
    missing = sorted({*seen.missing, *(i for run in seen.missing_names for i in run)})
    content = set(worded.content)
    runs: list[Span] = []
    for i in missing:
        span = worded.words[i].span
        if runs and not any(runs[-1].end <= worded.words[j].start < span.start for j in content):
            runs[-1] = Span(runs[-1].start, span.end)
        else:
            runs.append(span)
    return tuple(span.shifted(start) for span in union([*runs, *lacking]))


def _why_unsupported(seen: Seen, words: Sequence[Span], answer: str) -> str:
    if not words:
        return (
            "little of this is in the documents" if seen.missing else "the documents do not say this together"
        )
    shown = " ".join(words[0].of(answer).split())
    more = f" and {len(words) - 1} more" if len(words) > 1 else ""
    return f"not in the documents: “{shown[:60]}”{more}"


def _summary(claims: Sequence[Claim]) -> str:
    contradicted = [c for c in claims if c.support is Support.CONTRADICTED]
    unsupported = [c for c in claims if c.support is Support.UNSUPPORTED]
    if contradicted:
        return f"The documents say otherwise: {contradicted[0].reason}."
    if unsupported:
        share = f"{len(unsupported)} of {len(claims)} statements" if len(claims) > 1 else "The statement"
        verb = "are" if len(unsupported) > 1 else "is"
        return f"{share} {verb} not supported by the documents."
    if len(claims) == 1:
        return "The statement is supported by the documents."
    return f"All {len(claims)} statements are supported by the documents."
