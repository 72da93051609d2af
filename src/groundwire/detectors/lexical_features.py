"""What the lexical detector sees of a claim: a few dozen figures, and the places they come from.

Figures alone. How they are weighed belongs to ``lexical_model``, what is said about them to ``lexical``.
No figure depends on the order of the passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.core.span import Span
from groundwire.text import arithmetic, facts, names, refusal, tokens
from groundwire.text.facts import Checked, Fact, Known, Status
from groundwire.text.overlap import Context, Match, Worded, word

CLAIM_FEATURES = (
    "content_words",
    "missing_words",
    "spelled",
    "stemmed",
    "weighted",
    "best_sentence",
    "best_window",
    "best_passage",
    "longest_gap",
    "pairs",
    "triples",
    "numbers",
    "numbers_missing",
    "numbers_differing",
    "names",
    "names_missing",
    "negated",
    "negation_differs",
    "opposites",
    "hedges",
    "praise",
    "advice",
    "asked",
    "missing_asked",
    "rarest_missing",
    "missing_weight",
    "position",
    "declines",
    "cites",
    "bounds_differ",
)
ANSWER_FEATURES = (
    "claims",
    "answer_words",
    "mean_weighted",
    "worst_weighted",
    "worst_window",
    "answer_missing",
    "context_words",
    "structured",
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A claim looked at: its figures, and what they are about."""

    span: Span
    worded: Worded
    missing: tuple[int, ...]
    matches: tuple[Match, ...]
    checked: tuple[tuple[Fact, Checked, Match | None], ...]
    missing_names: tuple[range, ...]
    opposite: tuple[int, str, str] | None
    negation_differs: tuple[int, str] | None
    declines: bool
    verbatim: bool
    features: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer looked at, claim by claim."""

    claims: tuple[Seen, ...]
    features: tuple[float, ...]


def look(answer: str, spans: Sequence[Span], question: str, context: Context, known: Known) -> Answer:
    """Look at each claim of an answer against its context."""
    asked = frozenset(_content_stems(word(question))) if question else frozenset()
    given = Known(facts.extract(question))
    worded = [word(answer[s.start : s.end]) for s in spans]
    claims = tuple(
        _Look(
            answer[span.start : span.end], span, w, i / max(1, len(spans) - 1), asked, given, context, known
        ).seen()
        for i, (span, w) in enumerate(zip(spans, worded, strict=True))
    )
    figures = [claim.features for claim in claims]
    return Answer(claims=claims, features=answer_features(figures, context_features(context)))


def answer_features(claims: Sequence[Sequence[float]], context: tuple[float, float]) -> tuple[float, ...]:
    """The figures of a whole answer, from those of its claims and ``context_features``."""
    judged = [c for c in claims if c[_CONTENT] and not c[_DECLINES]] or list(claims)
    weighted = [c[_WEIGHTED] for c in judged]
    content = sum(c[_CONTENT] for c in judged)
    return (
        float(len(claims)),
        content,
        sum(sorted(weighted)) / max(1, len(weighted)),
        min(weighted, default=1.0),
        min((c[_WINDOW] for c in judged), default=1.0),
        sum(c[_MISSING] for c in judged) / max(1.0, content),
        *context,
    )


def context_features(context: Context) -> tuple[float, float]:
    """How many words the passages have, and which share of their sentences is short, as in a table."""
    short = sum(len(w.folded) <= 6 for p in context.passages for w in p.worded)
    words = sum(len(w.folded) for p in context.passages for w in p.worded)
    return float(words), short / max(1, context.sentences)


class _Look:
    """One look at one claim."""

    def __init__(
        self,
        text: str,
        span: Span,
        worded: Worded,
        position: float,
        asked: frozenset[str],
        given: Known,
        context: Context,
        known: Known,
    ) -> None:
        self.text, self.span, self.worded, self.position = text, span, worded, position
        self.asked, self.given, self.context, self.known = asked, given, context, known
        w = worded
        self.figures = frozenset(i for i in w.content if w.folded[i][0].isdigit())
        self.content = tuple(i for i in w.content if i not in self.figures)
        self.weights = {w.stems[i]: context.weight(w.stems[i]) for i in self.content}
        self.matches = tuple(context.best(self.weights)) if self.weights else ()
        self.missing = tuple(i for i in self.content if not context.has(w.stems[i]))

    def seen(self) -> Seen:
        checked = self._facts()
        missing_names = self._missing_names()
        opposite = self._opposite()
        negation = self._negation_differs()
        declines = refusal.declines(self.text)
        verbatim = self._verbatim()
        features = self._features(checked, missing_names, opposite is not None, negation, declines)
        return Seen(
            span=self.span,
            worded=self.worded,
            missing=self.missing,
            matches=self.matches,
            checked=checked,
            missing_names=missing_names[1],
            opposite=opposite,
            negation_differs=negation,
            declines=declines,
            verbatim=verbatim,
            features=features,
        )

    def _features(
        self,
        checked: Sequence[tuple[Fact, Checked, Match | None]],
        found_names: tuple[int, tuple[range, ...]],
        opposite: bool,
        negation: tuple[int, str] | None,
        declines: bool,
    ) -> tuple[float, ...]:
        w, context = self.worded, self.context
        total = sum(self.weights.values())
        missing_stems = {w.stems[i] for i in self.missing}
        spelled = sum(context.spells(w.folded[i]) for i in self.content)
        n = len(self.content)
        status = [c.status for f, c, _ in checked if not f.soft]
        pairs, triples = self._runs()
        rarity = [_rarity(w.stems[i]) for i in self.missing]
        bounds = sum(bool(f.bound and c.nearest and c.nearest.bound == -f.bound) for f, c, _ in checked)
        return (
            float(n),
            float(len(self.missing)),
            spelled / n if n else 1.0,
            1 - len(self.missing) / n if n else 1.0,
            1 - sum(self.weights[s] for s in missing_stems) / total if total else 1.0,
            self.matches[0].weight / total if self.matches and total else float(not n),
            self._window(0) / total if self.matches and total else float(not n),
            self._best_passage() / total if total else 1.0,
            float(self._longest_gap()),
            pairs,
            triples,
            float(len(status)),
            float(status.count(Status.ABSENT)),
            float(status.count(Status.DIFFERS)),
            float(found_names[0]),
            float(len(found_names[1])),
            float(bool(w.negated)),
            float(bool(negation)),
            float(opposite),
            float(len(_HEDGES.intersection(w.folded))),
            float(len(_PRAISE.intersection(w.stems))),
            float(len(_ADVICE.intersection(w.stems))),
            len(self.asked.intersection(self.weights)) / max(1, len(self.weights)),
            float(len(missing_stems & self.asked)),
            max(rarity, default=0.0),
            sum(rarity),
            self.position,
            float(declines),
            float(not _CITES.isdisjoint(w.folded)),
            float(bounds),
        )

    def _window(self, i: int) -> float:
        """The weight found in the best sentence and its two neighbours."""
        match = self.matches[i]
        passage = self.context.passages[match.passage]
        near = passage.worded[max(0, match.sentence - 1) : match.sentence + 2]
        stems = {s for sentence in near for s in sentence.stems}
        return sum(weight for stem, weight in self.weights.items() if stem in stems)

    def _best_passage(self) -> float:
        return max(
            (
                sum(weight for stem, weight in self.weights.items() if stem in passage.postings)
                for passage in self.context.passages
            ),
            default=0.0,
        )

    def _longest_gap(self) -> int:
        missing, longest, run = set(self.missing), 0, 0
        for i in self.content:
            run = run + 1 if i in missing else 0
            longest = max(longest, run)
        return longest

    def _runs(self) -> tuple[float, float]:
        stems = self.worded.stems
        pairs = list(zip(stems, stems[1:], strict=False))
        triples = list(zip(stems, stems[1:], stems[2:], strict=False))
        passages = self.context.passages
        two = sum(any(pair in p.pairs for p in passages) for pair in pairs)
        three = sum(any(triple in p.triples for p in passages) for triple in triples)
        return two / len(pairs) if pairs else 1.0, three / len(triples) if triples else 1.0

    def _facts(self) -> tuple[tuple[Fact, Checked, Match | None], ...]:
        """The exact facts of the claim, what the context says of each, and in which sentence."""
        found = facts.extract(self.text)
        if not found:
            return ()
        near: list[Fact] = []
        where: dict[int, Match] = {}
        for match in self.matches:
            for fact in self.context.passages[match.passage].facts[match.sentence]:
                near.append(fact)
                where[id(fact)] = match
        results = [(fact, facts.check(fact, self.known, near=near)) for fact in found]
        borne_out = [fact for fact, checked in results if checked.status is Status.FOUND]
        results = [(fact, self._follows(fact, checked, borne_out)) for fact, checked in results]
        return tuple((fact, checked, where.get(id(checked.nearest))) for fact, checked in results)

    def _follows(self, fact: Fact, checked: Checked, borne_out: Sequence[Fact]) -> Checked:
        """A fact that the question gives, or that follows from borne out ones, is none to miss."""
        if checked.status is Status.FOUND:
            return checked
        if self.given.has(fact) or arithmetic.follows(fact, borne_out):
            return Checked(status=Status.FOUND)
        return checked

    def _missing_names(self) -> tuple[int, tuple[range, ...]]:
        w = self.worded
        found = list(names.find(w.words, w.folded, self.text))
        missing = tuple(
            run
            for run in found
            if any(i in self.figures or not self.context.has(w.stems[i]) for i in run if i in set(w.content))
        )
        return len(found), missing

    def _negation_differs(self) -> tuple[int, str] | None:
        """The word that is negated here and not in the best sentence, or the other way round."""
        if not self._restates():
            return None
        mine, theirs = self.worded, self._best_sentence()
        if bool(mine.negated) == bool(theirs.negated) or _NEGATIVE.intersection(mine.stems + theirs.stems):
            return None
        for stem in sorted(mine.negated | theirs.negated):
            if mine.stems.count(stem) == theirs.stems.count(stem) == 1:
                at = mine.stems.index(stem)
                return at, mine.words[at].text
        return None

    def _best_sentence(self) -> Worded:
        match = self.matches[0]
        return self.context.passages[match.passage].worded[match.sentence]

    def _restates(self) -> bool:
        """Whether the claim says the best sentence over again, in its order, but for a word or two.

        Only then is a "not" more or less, or an opposite, told from two things said side by side: on
        real answers with a looser match, one such difference in fifteen was an error.
        """
        if not self.matches or not self.weights:
            return False
        sentence = self._best_sentence()
        theirs = [sentence.stems[i] for i in sentence.content]
        mine = [self.worded.stems[i] for i in self.worded.content]
        shared = set(mine).intersection(theirs)
        if len(set(mine) - shared) > max(1, 0.15 * len(mine)) or len(set(theirs) - shared) > max(
            2, 0.5 * len(mine)
        ):
            return False
        return [s for s in dict.fromkeys(mine) if s in shared] == [
            s for s in dict.fromkeys(theirs) if s in shared
        ]

    def _opposite(self) -> tuple[int, str, str] | None:
        """A word of the claim whose opposite stands in the best sentence instead of it."""
        if not self._restates():
            return None
        there = set(self._best_sentence().folded)
        for i, folded in enumerate(self.worded.folded):
            for other in _OPPOSITES.get(folded, ()):
                if other in there and folded not in there and other not in self.worded.folded:
                    return i, folded, other
        return None

    def _verbatim(self) -> bool:
        """Whether the claim's words stand in this order, one after the other, in a passage."""
        if not self.matches:
            return False
        match = self.matches[0]
        passage = self.context.passages[match.passage]
        near = passage.worded[max(0, match.sentence - 1) : match.sentence + 3]
        there = " ".join(f for sentence in near for f in sentence.folded)
        return f" {' '.join(self.worded.folded)} " in f" {there} "


def _content_stems(worded: Worded) -> list[str]:
    return [worded.stems[i] for i in worded.content]


def _rarity(stem: str) -> float:
    return COMMON.get(stem, 1.0)


# How rare a stem is in English prose, in [0, 1]; filled from the model's file, 1 for what is not in it.
COMMON: dict[str, float] = {}

_CONTENT = CLAIM_FEATURES.index("content_words")
_MISSING = CLAIM_FEATURES.index("missing_words")
_DECLINES = CLAIM_FEATURES.index("declines")
_WEIGHTED = CLAIM_FEATURES.index("weighted")
_WINDOW = CLAIM_FEATURES.index("best_window")
_HEDGES = frozenset(
    [
        "may",
        "might",
        "could",
        "perhaps",
        "possibly",
        "likely",
        "probably",
        "generally",
        "typically",
        "usually",
        "often",
        "seems",
        "appears",
        "suggests",
        "suggesting",
        "implies",
        "implying",
        "indicating",
        "indicates",
        "potentially",
    ]
)
_PRAISE = frozenset(
    tokens.stem(w)
    for w in [
        "popular",
        "great",
        "excellent",
        "friendly",
        "cozy",
        "delicious",
        "popular",
        "favorite",
        "ideal",
        "perfect",
        "wide",
        "variety",
        "vibrant",
        "charming",
        "renowned",
        "enjoyable",
        "convenient",
        "unique",
        "overall",
        "atmosphere",
        "experience",
        "customers",
        "known",
        "quality",
        "comfortable",
        "relaxing",
        "welcoming",
    ]
)
_ADVICE = frozenset(
    tokens.stem(w)
    for w in [
        "important",
        "recommend",
        "recommended",
        "essential",
        "ensure",
        "consult",
        "consider",
        "remember",
        "always",
        "note",
        "additionally",
        "helpful",
        "advisable",
        "careful",
        "professional",
        "proper",
        "properly",
        "safe",
        "necessary",
    ]
)
_CITES = frozenset(
    [
        "passage",
        "passages",
        "according",
        "source",
        "sources",
        "document",
        "documents",
        "based",
        "mentioned",
        "provided",
        "context",
    ]
)
_PAIRS = (
    "always never",
    "all none",
    "all some",
    "every no",
    "before after",
    "more less",
    "more fewer",
    "most least",
    "above below",
    "over under",
    "increase decrease",
    "increased decreased",
    "increases decreases",
    "rise fall",
    "rose fell",
    "free charged",
    "free paid",
    "include exclude",
    "included excluded",
    "includes excludes",
    "allowed forbidden",
    "allowed prohibited",
    "permitted prohibited",
    "permitted forbidden",
    "open closed",
    "opens closes",
    "arrival departure",
    "first last",
    "earliest latest",
    "highest lowest",
    "higher lower",
    "high low",
    "maximum minimum",
    "inside outside",
    "indoor outdoor",
    "early late",
    "earlier later",
    "left right",
    "north south",
    "east west",
    "northern southern",
    "eastern western",
    "accept refuse",
    "accepted refused",
    "accepted rejected",
    "won lost",
    "wins loses",
    "true false",
    "hot cold",
    "mandatory optional",
    "required optional",
    "refundable non-refundable",
    "with without",
    "male female",
    "men women",
    "positive negative",
    "adults children",
    "buy sell",
    "bought sold",
    "up down",
    "same different",
    "longer shorter",
    "larger smaller",
    "bigger smaller",
    "faster slower",
    "both neither",
    "everyone nobody",
    "daily weekly",
    "weekly monthly",
    "morning evening",
    "weekdays weekends",
    "online offline",
    "domestic international",
    "inbound outbound",
)


def _opposites() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for pair in _PAIRS:
        a, b = pair.split()
        found[a] = (*found.get(a, ()), b)
        found[b] = (*found.get(b, ()), a)
    return found


_OPPOSITES = _opposites()
# Words that negate by their meaning: with one of these about, a missing "not" is no difference.
_NEGATIVE = frozenset(
    tokens.stem(w)
    for w in [
        "avoid",
        "refuse",
        "unable",
        "unaware",
        "unless",
        "fail",
        "lack",
        "prevent",
        "prohibit",
        "hardly",
        "decline",
        "except",
        "false",
    ]
)
