"""From figures to claims: which are flagged, which of their words, on what evidence, and why."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from groundwire.core.cached import cached_property
from groundwire.core.claim import Claim, Evidence, Support
from groundwire.core.grading import Grading, Level
from groundwire.core.interaction import Interaction
from groundwire.core.span import Span, touching, union
from groundwire.detectors.lexical_conflict import Conflict, conflict_in, quoted, whole
from groundwire.detectors.lexical_seen import BARE_KNOWN, BARE_UNKNOWN, HARMLESS, Answer, Seen
from groundwire.text import facts, itself
from groundwire.text.facts import Status
from groundwire.text.overlap import Context, Match

# The score of an answer that differs from the documents in an exact fact, or by a "not".
CONTRADICTED = 0.85
# From this share of missing words on, a flagged claim is flagged whole.
_MOSTLY_MISSING = 0.6
# Up to this share, an unknown figure is what it is flagged for.
_FEW_MISSING = 0.3
_WORDS_UNREAD = "judged by its figures alone: its words are in another language than the passages"


class Judging:
    """One answer's figures on their way to a verdict."""

    def __init__(
        self,
        interaction: Interaction,
        context: Context,
        answer: Answer,
        grading: Grading,
        scores: Sequence[float] = (),
    ) -> None:
        """``scores`` are the claims', in order; left out where only exact facts are to be compared."""
        self.interaction, self.context, self.seen, self.grading = interaction, context, answer.claims, grading
        self.scores = scores
        asked = context.word(interaction.question)
        self._asked = frozenset(asked.stems[i] for i in asked.content)

    @cached_property
    def _given(self) -> facts.Known:
        return facts.Known(facts.extract(self.interaction.question))

    def claims(self) -> tuple[Claim, ...]:
        """The answer's claims, judged. One is flagged exactly where its score reaches the threshold."""
        return tuple(self._claim_of(seen, score) for seen, score in zip(self.seen, self.scores, strict=True))

    def _claim_of(self, seen: Seen, score: float) -> Claim:
        conflict = conflict_in(seen, self.context)
        if conflict is not None and self._decides(conflict, seen):
            return self._contradicted(seen, conflict, max(score, CONTRADICTED, self.grading.threshold))
        if score >= self.grading.threshold:
            if conflict is not None:
                return self._contradicted(seen, conflict, score)
            return self._unsupported(seen, score)
        return self._supported(seen, score)

    def _decides(self, conflict: Conflict, seen: Seen) -> bool:
        """Whether a conflict decides by itself; else it is only what a claim that is flagged is flagged for.

        What works figures out has others than the documents, and a "not" among several statements mostly says
        something else (training/README.md).
        """
        if conflict.exact:
            return seen.says_otherwise
        return not conflict.denies or len(self.seen) == 1 or seen.is_denied

    def claims_by_facts(self) -> tuple[Claim, ...]:
        """The same where answer and passages share no language: only exact facts can be compared."""
        return tuple(map(self._claim_by_facts, self.seen))

    def _claim_by_facts(self, seen: Seen) -> Claim:
        conflict = conflict_in(seen, self.context)
        if conflict is not None and conflict.exact and self._decides(conflict, seen):
            return self._contradicted(seen, conflict, max(CONTRADICTED, self.grading.threshold))
        if seen.declines:
            return self._supported(seen, HARMLESS)
        if not any(not fact.soft for fact, _, _ in seen.checked):
            return self._claim(seen, Support.UNVERIFIED, None, reason="in another language than the passages")
        if seen.lacking:
            return self._by_facts(seen, max(seen.least, BARE_UNKNOWN))
        return self._by_facts(seen, BARE_KNOWN)

    def _by_facts(self, seen: Seen, score: float) -> Claim:
        if score >= self.grading.threshold:
            words = union(fact.span.shifted(seen.span.start) for fact in seen.lacking)
            why = f"{self._why_unsupported(seen, words)} ({_WORDS_UNREAD})"
            return self._claim(seen, Support.UNSUPPORTED, score, words=words, reason=why)
        stand = (self.context.place_of(checked.nearest) for _, checked, _ in seen.checked if checked.nearest)
        evidence = tuple(dict.fromkeys(self._cite(match) for match in stand if match))
        return self._claim(seen, Support.SUPPORTED, score, evidence=evidence, reason=_WORDS_UNREAD)

    def _contradicted(self, seen: Seen, conflict: Conflict, score: float) -> Claim:
        return self._claim(
            seen,
            conflict.support,
            score,
            evidence=(self._cite(conflict.where),),
            words=conflict.words,
            reason=conflict.reason,
        )

    def _unsupported(self, seen: Seen, score: float) -> Claim:
        words = self._untold(seen)
        return self._claim(
            seen, Support.UNSUPPORTED, score, words=words, reason=self._why_unsupported(seen, words)
        )

    def _untold(self, seen: Seen) -> tuple[Span, ...]:
        """The words and facts that are nowhere in the documents; all of the claim's where most are."""
        lacking = [fact.span.shifted(seen.span.start) for fact in seen.lacking]
        content = seen.worded.content
        if lacking and len(seen.missing) <= _FEW_MISSING * len(content):
            return tuple(union(lacking))
        if len(seen.missing) >= _MOSTLY_MISSING * len(content):
            return ()
        return tuple(union([*self._missing_runs(seen), *lacking]))

    def _missing_runs(self, seen: Seen) -> list[Span]:
        """The words and names that are nowhere in the documents, neighbours as one.

        Without the question's own words, and those that only say what the answer goes by ("according to the
        context"), where there are others: they are no invention of the answer's.
        """
        missing = {*seen.missing, *(i for run in seen.missing_names for i in run)}
        return self._runs(seen, self._invented(seen, missing) or missing)

    def _invented(self, seen: Seen, missing: AbstractSet[int]) -> set[int]:
        by = itself.attributions(seen.span.of(self.interaction.answer))
        own = {i for i in missing if not any(map(seen.worded.words[i].span.overlaps, by))}
        return {i for i in own if seen.worded.stems[i] not in self._asked} or own

    def _runs(self, seen: Seen, missing: Iterable[int]) -> list[Span]:
        words = seen.worded.words
        begin = sorted(words[i].start for i in seen.worded.content)
        runs: list[Span] = []
        for i in sorted(missing):
            span = words[i].span
            if runs and bisect_left(begin, runs[-1].end) == bisect_left(begin, span.start):
                runs[-1] = Span(runs[-1].start, span.end)
            else:
                runs.append(span)
        return [span.shifted(seen.span.start) for span in runs]

    def _why_unsupported(self, seen: Seen, words: Sequence[Span]) -> str:
        if words:
            if absent := touching(words, self._nowhere(seen)):
                return f"not in the documents: {self._quoted(absent)}"
            return f"the documents do not say this together: {self._quoted(words)}"
        return (
            "little of this is in the documents" if seen.missing else "the documents do not say this together"
        )

    def _nowhere(self, seen: Seen) -> list[Span]:
        """The words and facts of a claim that are nowhere in the documents."""
        missing = [seen.worded.words[i].span.shifted(seen.span.start) for i in seen.missing]
        return [*missing, *self._unknown(seen)]

    def _unknown(self, seen: Seen) -> list[Span]:
        """The facts that are nowhere in the documents: some are there, and are said of something else."""
        lacking = (fact for fact in seen.lacking if not self.context.known.has(fact))
        return [fact.span.shifted(seen.span.start) for fact in lacking]

    def _only_asked(self, seen: Seen) -> list[Span]:
        """The facts that the asker alone has told: the documents may have another, or none."""
        found = (f for f, c, _ in seen.checked if c.status is Status.FOUND and not (f.soft or c.derived))
        told = (fact for fact in found if self._given.has(fact) and not self.context.known.has(fact))
        return [fact.span.shifted(seen.span.start) for fact in told]

    def _quoted(self, words: Sequence[Span]) -> str:
        more = f" and {len(words) - 1} more" if len(words) > 1 else ""
        return f"{quoted(words[0].of(self.interaction.answer))}{more}"

    def _supported(self, seen: Seen, score: float) -> Claim:
        if seen.declines:
            return self._claim(seen, Support.SUPPORTED, score, reason="declines to answer")
        evidence = tuple(map(self._cite, self._support(seen)))
        if seen.derived:
            return self._worked_out(seen, score, evidence)
        reason = self._why_supported(seen, score, evidence)
        return self._claim(seen, Support.SUPPORTED, score, evidence=evidence, reason=reason)

    def _why_supported(self, seen: Seen, score: float, evidence: Sequence[Evidence]) -> str:
        if seen.verbatim and not self._doubtful(score):
            return "word for word in the document"
        if told := self._told_nowhere(seen):
            verb = "are" if len(told) > 1 else "is"
            return f"not flagged, though {self._quoted(told)} {verb} not in the documents"
        if not self._doubtful(score):
            return "its words are in the documents" if evidence else "nothing in it tells of an invention"
        if evidence:
            return "its words are in the documents, but may say something else there"
        return "there is little in it to compare with the documents"

    def _told_nowhere(self, seen: Seen) -> list[Span]:
        """The words and facts of a claim that are nowhere in the documents, the most telling first."""
        unknown = [*self._unknown(seen), *self._only_asked(seen)]
        missing = {*seen.missing, *(i for run in seen.missing_names for i in run)} if seen.missing else set()
        if not (missing or unknown):
            return []
        told = union([*self._runs(seen, self._invented(seen, missing)), *unknown])
        names = [seen.place(run) for run in seen.missing_names]
        return sorted(told, key=lambda span: [not any(map(span.overlaps, some)) for some in (unknown, names)])

    def _doubtful(self, score: float) -> bool:
        """Whether a claim that is not flagged makes its answer one that may not be supported."""
        return self.grading.level(score) is not Level.LOW

    def _worked_out(self, seen: Seen, score: float, evidence: tuple[Evidence, ...]) -> Claim:
        """The claim says what follows from the documents' figures, and those are its evidence."""
        more = f", and {len(seen.derived) - 1} more" if len(seen.derived) > 1 else ""
        reason = f"worked out from the documents' figures: {seen.derived[0].said}{more}"
        if unknown := self._unknown(seen):
            reason += f"; not in the documents: {self._quoted(unknown)}"
        there = {id(fact): checked.nearest for fact, checked, _ in seen.checked if checked.nearest}
        sources = [there.get(id(one), one) for derived in seen.derived for one in derived.sources]
        figures = [(match, one.span) for one in sources if (match := self.context.place_of(one))]
        cited = [Evidence.cite(self.interaction, match.passage, span) for match, span in figures]
        evidence = tuple(dict.fromkeys([*evidence, *cited]))
        return self._claim(seen, Support.INFERRED, score, evidence=evidence, reason=reason)

    def _support(self, seen: Seen) -> Sequence[Match]:
        """The best sentence, and a second one that adds a good part of what the first leaves open."""
        if not seen.matches:
            return ()
        stems = {seen.worded.stems[i] for i in seen.worded.content}
        best = seen.matches[0]
        left = stems.difference(self._stems(best))
        good = max(2, 0.25 * len(stems))
        for other in seen.matches[1:] if len(left) >= good else ():
            if len(left.intersection(self._stems(other))) >= good:
                return (best, other)
        return (best,)

    def _stems(self, match: Match) -> Sequence[str]:
        return self.context.passages[match.passage].worded[match.sentence].stems

    def _cite(self, match: Match) -> Evidence:
        span = self.context.passages[match.passage].sentences[match.sentence]
        return Evidence.cite(self.interaction, match.passage, span)

    def _claim(
        self, seen: Seen, support: Support, score: float | None, *, words: Iterable[Span] = (), **fields: Any
    ) -> Claim:
        answer = self.interaction.answer
        return Claim(
            text=seen.span.of(answer),
            span=seen.span,
            support=support,
            score=score,
            words=union(whole(answer, word) for word in words),
            **fields,
        )


def summary(claims: Sequence[Claim], grading: Grading) -> str:
    """One sentence on an answer's claims, which never says more than the level does."""
    contradicted = [c for c in claims if c.support is Support.CONTRADICTED]
    unsupported = [c for c in claims if c.support is Support.UNSUPPORTED]
    doubtful = [c for c in claims if c.score is not None and grading.level(c.score) is not Level.LOW]
    sure = any(_is_high(c, grading) for c in [*contradicted, *unsupported])
    # A contradiction that only may be one doesn't make an answer HIGH.
    told = [c for c in contradicted if _is_high(c, grading) or not sure]
    if told:
        reason = told[0].reason
        return (
            f"The documents {'' if sure else 'may '}say otherwise: "
            f"{reason}{'' if reason.endswith(_STOPPED) else '.'}"
        )
    if flagged := [*contradicted, *unsupported]:
        verb = "are" if len(flagged) > 1 else "is"
        return f"{_share(flagged, claims)} {verb} not supported by the documents."
    if doubtful:
        return f"{_share(doubtful, claims)} may not be supported by the documents."
    if len(claims) == 1:
        return "The statement is supported by the documents."
    return f"{_all(claims)} are supported by the documents."


def _is_high(claim: Claim, grading: Grading) -> bool:
    return claim.score is None or grading.level(claim.score) is Level.HIGH


_STOPPED = (".”", "!”", "?”")


def _share(some: Sequence[Claim], claims: Sequence[Claim]) -> str:
    if len(claims) == 1:
        return "The statement"
    return f"{len(some)} of {len(claims)} statements" if len(some) < len(claims) else _all(claims)


def _all(claims: Sequence[Claim]) -> str:
    return "Both statements" if len(claims) == _BOTH else f"All {len(claims)} statements"


_BOTH = 2
