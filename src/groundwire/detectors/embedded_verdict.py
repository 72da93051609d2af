"""From readings to claims: which words, on what evidence, why, and when to be less sure.

What exact facts say stands in ``lexical_verdict`` and goes first. Weighing belongs to ``embedded_model``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from groundwire.core.claim import Claim, Evidence, Support
from groundwire.core.grading import Grading
from groundwire.core.plan import ReadClaim
from groundwire.core.span import Span, union
from groundwire.detectors import embedded_model
from groundwire.detectors.lexical_conflict import Conflict, quoted, said_of_another
from groundwire.detectors.lexical_figures import those_found
from groundwire.detectors.lexical_model import Weighed, logit
from groundwire.detectors.lexical_seen import Seen
from groundwire.detectors.lexical_verdict import Judging
from groundwire.detectors.opening import Opened
from groundwire.text.claims import holds_code


class ReadJudging(Judging):
    """One answer's readings on their way to a verdict."""

    def __init__(
        self,
        opened: Opened,
        grading: Grading,
        scores: Sequence[float],
        read: Mapping[int, ReadClaim],
        odds: Sequence[float],
        *,
        borrowed: AbstractSet[int] = frozenset(),
    ) -> None:
        """``read`` are the claims that were, by their number; ``odds`` are the lexical ones of all claims.

        ``borrowed`` are those that less speaks for without what is said of siblings.
        """
        super().__init__(opened.interaction, opened.context, opened.seen, grading, scores)
        self._abroad = opened.spoken is not None
        claims = opened.seen.claims
        self._read = {claims[i].span: claim for i, claim in read.items()}
        self._borrowed = {claims[i].span for i in borrowed}
        self._odds = {seen.span: known for seen, known in zip(claims, odds, strict=True)}

    def _unsupported(self, seen: Seen, score: float) -> Claim:
        read = self._read.get(seen.span)
        if read is None:
            return super()._unsupported(seen, score)
        words = self._words(seen, read)
        if seen.apart is not None and seen.span in self._borrowed:
            return self._claim(
                seen,
                Support.UNSUPPORTED,
                score,
                words=words,
                evidence=(self._cite(seen.apart.where),),
                reason=said_of_another("this", seen.apart.whose, seen.apart.of),
            )
        if self._contradicts(seen, read):
            (nearest,) = self._nearest(seen, read)
            verb = "do" if len(words) > 1 else "does"
            return self._claim(
                seen,
                Support.CONTRADICTED,
                score,
                words=words,
                evidence=(nearest,),
                reason=f"{self._listed(words or [seen.span])} {verb} not fit {quoted(nearest.quote)}",
            )
        reason = self._why_unsupported(seen, words)
        return self._claim(seen, Support.UNSUPPORTED, score, words=words, reason=reason)

    def _listed(self, words: Sequence[Span]) -> str:
        """The first three of them; the telling one is seldom the first."""
        shown = ", ".join(quoted(word.of(self.interaction.answer)) for word in words[:3])
        return f"{shown} and {len(words) - 3} more" if len(words) > 3 else shown

    def _contradicts(self, seen: Seen, read: ReadClaim) -> bool:
        """Whether a sentence speaks of the same, and otherwise."""
        spoken_of = bool(seen.matches) and seen.spoken_of and not self._abroad
        return spoken_of and read.reading.contradicted > read.reading.unsupported

    def _supported(self, seen: Seen, score: float) -> Claim:
        claim = super()._supported(seen, score)
        read = self._read.get(seen.span)
        if read is None or seen.declines or seen.derived:
            return claim
        evidence = claim.evidence or self._nearest(seen, read)
        if seen.missing and read.reading.supported > max(read.reading.unsupported, read.reading.contradicted):
            claim = replace(claim, support=Support.INFERRED)
            told = self._told_nowhere(seen)
            if told and not (self._unknown(seen) or seen.missing_names or self._doubtful(score)):
                said = self._listed(told)
                claim = replace(claim, reason=f"follows from the documents, in other words: {said}")
        return replace(claim, evidence=evidence)

    def _contradicted(self, seen: Seen, conflict: Conflict, score: float) -> Claim:
        """A claim that has one thing wrong may have others, which nothing contradicts."""
        claim = super()._contradicted(seen, conflict, score)
        read = self._read.get(seen.span)
        if read is None:
            return claim
        doubted = self._doubted(seen, read, self._likely(seen, read))
        return replace(claim, words=tuple(union([*claim.words, *doubted])))

    def _words(self, seen: Seen, read: ReadClaim) -> tuple[Span, ...]:
        """The words read as unsupported, and the exact facts and names that no passage has.

        Where there are none, the likeliest of those that no passage has, or of all: none where that is a fact
        which the passages bear out.
        """
        likely = self._likely(seen, read)
        words = [fact.span.shifted(seen.span.start) for fact in seen.lacking]
        words += [seen.place(run) for run in seen.missing_names]
        words += self._doubted(seen, read, likely)
        if words:
            return tuple(union(words))
        runs = self._missing_runs(seen) or [word.span for word in read.words]
        worst = max(runs, key=lambda run: _worst(run, read, likely), default=None)
        return () if worst is None or any(map(worst.overlaps, self._borne_out(seen))) else (worst,)

    def _borne_out(self, seen: Seen) -> list[Span]:
        return [fact.span.shifted(seen.span.start) for fact in those_found(seen.checked)]

    def _likely(self, seen: Seen, read: ReadClaim) -> list[float]:
        return embedded_model.load().words(self._odds[seen.span], read)

    def _doubted(self, seen: Seen, read: ReadClaim, likely: Sequence[float]) -> list[Span]:
        """The stretches of words read as unsupported.

        None begins or ends with what the documents bear out or with the question's own words, or ends with an
        article.
        """
        start = seen.span.start
        worded = list(zip(seen.worded.words, seen.worded.stems, strict=True))
        asked = [word.span.shifted(start) for word, stem in worded if stem in self._asked]
        articles = frozenset(word.span.shifted(start) for word, _ in worded if word.text.lower() in _ARTICLES)
        spared = self._borne_out(seen)
        flagged = embedded_model.unsupported_words(read, likely, embedded_model.load().sure)
        return [span for run in flagged if (span := _trimmed(run, read, [*spared, *asked], articles))]

    def _nearest(self, seen: Seen, read: ReadClaim) -> tuple[Evidence, ...]:
        """The sentence that shares most with the claim; else what the encoder read first."""
        if seen.matches:
            return (self._cite(seen.matches[0]),)
        return tuple(Evidence.cite(self.interaction, passage, span) for passage, span in read.evidence[:1])


def _worst(run: Span, read: ReadClaim, likely: Sequence[float]) -> float:
    """How likely the likeliest of a run's words is unsupported."""
    read_as = zip(read.words, likely, strict=True)
    return max((p for word, p in read_as if word.span.overlaps(run)), default=0.0)


_ARTICLES = frozenset({"a", "an", "the"})


def _trimmed(run: Span, read: ReadClaim, spared: Sequence[Span], articles: AbstractSet[Span]) -> Span | None:
    """A run of words without those at its ends that are in spared spans, or articles that it would end with.

    None where all are.
    """
    words = [word.span for word in read.words if word.span.overlaps(run)]
    while words and words[-1] in articles:
        words.pop()
    kept = [word for word in words if not any(word.overlaps(span) for span in spared)]
    return Span(kept[0].start, kept[-1].end) if kept else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Caution:
    """Text unlike what the detector was calibrated on: its score moves towards the threshold, and it says so.

    Towards, and never across: who is less sure has no new reason to flag an answer, or to clear it.
    """

    said: str

    def applied(self, weighed: Weighed, threshold: float) -> Weighed:
        """Half the way in log-odds: with a threshold of .5, a probability of .9 is .75."""
        z = (logit(weighed.score) + logit(threshold)) / 2
        score = 1 / (1 + math.exp(-z))
        return (
            replace(weighed, score=score) if (score >= threshold) == (weighed.score >= threshold) else weighed
        )


def caution(opened: Opened) -> Caution | None:
    """Why to be less sure of an answer than what was read and weighed says, or None."""
    unlike = [] if opened.spoken is None else [opened.unsure]
    if opened.size > _LONG_CONTEXT:
        unlike.append(f"the passages have more than {_LONG_CONTEXT:,} words")
    if holds_code(opened.interaction.answer):
        unlike.append("the answer holds code")
    if not unlike:
        return None
    return Caution(said=f"Less sure than usual: {' and '.join(unlike)}.")


# Far more than any context that it was fitted or calibrated on.
_LONG_CONTEXT = 10_000
