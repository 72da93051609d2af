"""How the lexical detector looks at an answer: claim by claim, for a few dozen figures and their places.

What is seen then is in ``lexical_seen``. No figure depends on the order of the passages.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from groundwire.core.span import Span
from groundwire.core.turns import give_way
from groundwire.detectors import lexical_records
from groundwire.detectors.lexical_background import Background, statements_above
from groundwire.detectors.lexical_cells import Reading, with_cells
from groundwire.detectors.lexical_code import Block, blocks, leads_in
from groundwire.detectors.lexical_contrast import Contrast, denied_beside
from groundwire.detectors.lexical_crossed import crossed
from groundwire.detectors.lexical_figures import Beside, Figures, Looked, those_found
from groundwire.detectors.lexical_mentions import mentioned
from groundwire.detectors.lexical_moves import moved
from groundwire.detectors.lexical_ratios import reversed_in
from groundwire.detectors.lexical_records import Mention
from groundwire.detectors.lexical_seen import CLAIM_FEATURES, Answer, Seen
from groundwire.detectors.lexical_settings import SAYING, without_told
from groundwire.detectors.lexical_words import ADVICE, CITES, EMPTY, HEDGES, PRAISE
from groundwire.text import facts, names, refusal
from groundwire.text.facts import Fact, Status
from groundwire.text.forms import NEGATIONS
from groundwire.text.overlap import Context
from groundwire.text.request import is_question
from groundwire.text.steps import Step, spoken_of, tells
from groundwire.text.units import LABELS
from groundwire.text.weekdays import WEEK
from groundwire.text.worded import Worded, pairs


def look(
    answer: str, spans: Sequence[Span], question: str, context: Context, weights: Mapping[str, float]
) -> Answer:
    """Look at each claim of an answer against its context; ``weights`` are those of ``telling``."""
    about = Background(
        context=context,
        asked=frozenset(_content_stems(context.word(question))) if question else frozenset(),
        question=question,
        told=weights,
    )
    claims: list[Seen] = []
    known: dict[str, Seen] = {}
    worked_out: list[Fact] = []
    told: dict[Span, list[Fact]] = {}
    shown = blocks(answer, question, context)
    for span in spans:
        give_way()
        text = answer[span.start : span.end]
        code = next((block for block in shown if block.holds(span)), None)
        seen = known.get(text) if code is None else None
        if seen is None:
            above = [claim.checked for claim in reversed(claims[-_BESIDE:])]
            told[span] = [*worked_out, *(those_found(claims[-1].checked) if claims else ())]
            stated = statements_above(answer, span.start, claims)
            seen = _Look(text, span, about, told[span], (above, ()), code=code, above=stated).seen()
            worked_out = [*worked_out, *(f for f, c, _ in seen.checked if c.derived)][-_REMEMBERED:]
            if leads_in(text, answer[span.end : span.end + _GAP]):
                seen = replace(seen, leads_in=True)
            elif code is None and not (seen.lacking or seen.cells or seen.moved):
                known[text] = seen  # others may be borne out by what another claim said before them
        claims.append(seen if seen.span == span else replace(seen, span=span))
    for i, seen in enumerate(claims):
        below = [claim.checked for claim in claims[i + 1 : i + 1 + _BESIDE]]
        if seen.lacking and not seen.illustrates and _may_add_up(seen, answer, below):
            stated = statements_above(answer, seen.span.start, claims[:i])
            text = seen.span.of(answer)
            below_it = _Look(text, seen.span, about, told[seen.span], ((), below), above=stated).seen()
            claims[i] = replace(below_it, leads_in=seen.leads_in)
    said = [seen.span.of(answer) for seen in claims]
    claims = [
        about.beside_siblings(seen, answer, said[max(0, i - _BESIDE) : i][::-1])
        for i, seen in enumerate(claims)
    ]
    figures = [claim.features for claim in claims]
    return Answer(
        claims=tuple(claims),
        features=answer_features(figures, context_features(context)),
        words=context.size,
        asked=is_question(question),
    )


def _may_add_up(seen: Seen, answer: str, below: Sequence[Sequence[Looked]]) -> bool:
    """Whether what follows may work out a figure that a claim comes to at once."""
    derived = [fact for looked in below for fact, checked, _ in looked if checked.derived]
    if any(facts.agree(fact, other) for fact in seen.lacking for other in derived):
        return True
    return any(below) and Step.SUM in spoken_of(seen.span.of(answer))


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


def telling(missing: Sequence[str], weights: Mapping[str, float]) -> tuple[float, float]:
    """How much missing stems tell of an invention: summed, and the most telling one.

    ``weights`` are log-odds; a stem that is not among them has the weight of "".
    """
    default = weights.get("", 0.0)
    told = [weights.get(stem, default) for stem in missing]
    return sum(told), max(told, default=0.0)


def context_features(context: Context) -> tuple[float, float]:
    """How many words the passages have, and which share of their sentences is short, as in a table."""
    short = sum(p.short for p in context.passages)
    words = min(_MOST_WORDS, context.size)
    return float(words), short / max(1, context.starts[-1])


class _Look:
    """One look at one claim."""

    def __init__(
        self,
        text: str,
        span: Span,
        about: Background,
        earlier: Sequence[Fact],
        beside: Beside,
        *,
        code: Block | None = None,
        above: Sequence[str] = (),
    ) -> None:
        self.above = above
        self.text, self.span, self.earlier, self.beside = text, span, earlier, beside
        self.about, self.context, self.asked = about, about.context, about.asked
        w = self.worded = self.context.word(text)
        self.code, self.illustrates = code, code is not None and code.illustrates(text)
        self.found = self._stated(facts.extract(text))
        figures = self._figures()
        self.content = tuple([i for i in w.content if i not in figures and not self._says_nothing(i)])
        self.weights = {w.stems[i]: self.context.weight(w.stems[i]) for i in self.content}
        self.matches = tuple(self.context.best(self._sought(figures)))
        self.missing = tuple([i for i in self.content if not self.context.places(w.stems[i])])

    def _stated(self, found: list[Fact]) -> list[Fact]:
        """The facts without those that only illustrate: code states what its comments do."""
        if self.code is None or not self.illustrates:
            return found
        said = self.code.said(self.span)
        return [fact for fact in found if any(map(fact.span.overlaps, said))]

    def _says_nothing(self, i: int) -> bool:
        """Whether a word only answers ("yes") or cites: the "passage" of "passage 2", the "C" of "20 °C"."""
        folded = self.worded.folded
        following = folded[i + 1] if i + 1 < len(folded) else ""
        if folded[i] in LABELS and (following[:1].isdigit() or following in ("and", "or")):
            return True
        return folded[i] in EMPTY

    def _figures(self) -> frozenset[int]:
        """The words that are part of an exact fact, its unit or month included: they are checked as such."""
        figures: set[int] = set()
        words, i = self.worded.words, 0
        for fact in self.found:
            while i < len(words) and words[i].end <= fact.span.start:
                i += 1
            while i < len(words) and words[i].start < fact.span.end:
                figures.add(i)
                i += 1
        digits = [i for i in self.worded.content if self.worded.folded[i][0].isdigit()]
        return frozenset(figures.union(digits))

    def _sought(self, figures: frozenset[int]) -> dict[str, float]:
        """What a sentence that the claim is about should have, weighed.

        The claim's words; its figures at less weight, for they may be wrong; and where it has few words
        ("25 EUR."), the question's.
        """
        w, weight = self.worded, self.context.weight
        sought = {w.stems[i]: _FIGURE * weight(w.stems[i]) for i in figures if w.folded[i][0].isdigit()}
        if len(self.weights) <= _FEW:
            sought.update((stem, _ASKED * weight(stem)) for stem in sorted(self.asked))
        return sought | self.weights

    def seen(self) -> Seen:
        set_to = () if self.code is not None else self.about.settings.told(self.text, self.found)
        tables = self.about.cells.read(self.text, self.found, self.above) if self.code is None else []
        checked = without_told(self._facts(tables), set_to)
        cells = self.about.cells.told(tables, checked)
        checked = with_cells(checked, cells)
        agreed = cells and all(one.agrees for one in cells) and len(self.missing) <= _CALLED
        if agreed and all(c.status is Status.FOUND for fact, c, _ in checked if not fact.soft):
            # What the figures of cells are called need not stand in a table: "revenue rose".
            self._leave_out(set(self.missing))
        if any(one.agrees for one in set_to):
            # What says that a setting has a value need not stand there: "is set to", of a file of settings.
            self._leave_out({i for i in self.missing if self.worded.stems[i] in SAYING})
        steps = {c.derived.step for _, c, _ in checked if c.derived is not None}
        if steps:
            # What says how a figure was worked out ("in total", "each") need not stand in the documents.
            self._leave_out({i for i in self.missing if tells(self.worded.folded[i], steps)})
        if any(fact.days and c.status is Status.FOUND for fact, c, _ in checked):
            # Documents may name the days themselves.
            self._leave_out({i for i in self.missing if self.worded.folded[i] in WEEK})
        entries = lexical_records.mentions(self.worded, self.text, self.context)
        # What names an entry ("outdoor seating") need not stand there in so many words ("OutdoorSeating").
        self._leave_out({i for entry in entries for i in entry.words})
        if any(entry.agrees for entry in entries):
            self._leave_out({i for i in self.missing if self.worded.folded[i] in lexical_records.STATES})
        count, missing_names = self._missing_names()
        beside = self._beside() if self.matches else None
        negation = beside.negation_differs() if beside else None
        negation = negation or denied_beside(self.worded, self.content, self.matches, self.context)
        opposite = beside.opposite() if beside else None
        opposite = opposite or crossed(self.text, self.worded, self.matches, self.context)
        declines = refusal.declines(self.text)
        return Seen(
            span=self.span,
            worded=self.worded,
            missing=self.missing,
            matches=self.matches,
            checked=checked,
            missing_names=missing_names,
            unknown_names=self._unknown_names(missing_names),
            opposite=opposite,
            replaced=beside.replaced(missing_names) if beside else None,
            negation_differs=negation,
            entries=tuple(entries),
            settings=set_to,
            cells=tuple(one for one in cells if not one.agrees),
            invented=self.code.invented(self.span) if self.code is not None else None,
            illustrates=self.illustrates,
            told=self.code is None or self.code.told,
            leads_in=False,
            moved=moved(self.text, checked, tables, self.context) if self.code is None else None,
            reversed=reversed_in(self.text, self.worded, self.context),
            mentioned=mentioned(self.text, self.context) if declines else None,
            declines=declines,
            verbatim=beside.verbatim() if beside else False,
            features=self._features(
                checked,
                (count, len(missing_names)),
                entries,
                opposite=opposite is not None,
                negation=negation is not None,
                declines=declines,
            ),
        )

    def _beside(self) -> Contrast:
        return Contrast(
            claim=self.worded,
            content=self.content,
            facts=self.found,
            sentence=self.context.sentence(self.matches[0]),
            match=self.matches[0],
            context=self.context,
        )

    def _features(
        self,
        checked: Sequence[Looked],
        names_: tuple[int, int],
        entries: Sequence[Mention],
        *,
        opposite: bool,
        negation: bool,
        declines: bool,
    ) -> tuple[float, ...]:
        w, context = self.worded, self.context
        total = sum(self.weights.values())
        missing_stems = {w.stems[i] for i in self.missing}
        spelled = sum([w.folded[i] in context.spelled for i in self.content])
        n = len(self.content)
        status = [c.status for f, c, _ in checked if not f.soft]
        two, three = self._runs()
        bounds = sum(bool(f.bound and c.nearest and c.nearest.bound == -f.bound) for f, c, _ in checked)
        return (
            float(n),
            float(len(self.missing)),
            spelled / n if n else 1.0,
            1 - len(self.missing) / n if n else 1.0,
            1 - sum(self.weights[s] for s in missing_stems) / total if total else 1.0,
            self._window(0) / total if self.matches and total else float(not n),
            self._window(1) / total if self.matches and total else float(not n),
            context.best_passage(self.weights) / total if total else 1.0,
            float(self._longest_gap()),
            two,
            three,
            float(len(status)),
            float(status.count(Status.ABSENT)),
            float(status.count(Status.DIFFERS)),
            float(names_[0]),
            float(names_[1]),
            float(bool(w.negated)),
            float(negation),
            float(opposite),
            float(len(HEDGES.intersection(w.folded))),
            float(len(PRAISE.intersection(w.stems))),
            float(len(ADVICE.intersection(w.stems))),
            len(self.asked.intersection(self.weights)) / max(1, len(self.weights)),
            float(len(missing_stems & self.asked)),
            *telling([w.stems[i] for i in self.missing], self.about.told),
            float(declines),
            float(not CITES.isdisjoint(w.folded)),
            float(bounds),
            *lexical_records.figures(entries),
        )

    def _window(self, width: int) -> float:
        """The weight found in the best sentence and so many neighbours on each side."""
        stems = {s for sentence in self.context.window(self.matches[0], width, width) for s in sentence.stems}
        return sum([weight for stem, weight in self.weights.items() if stem in stems])

    def _longest_gap(self) -> int:
        missing, longest, run = set(self.missing), 0, 0
        for i in self.content:
            run = run + 1 if i in missing else 0
            longest = max(longest, run)
        return longest

    def _runs(self) -> tuple[float, float]:
        """The shares of its neighbouring words, and of pairs of such pairs, that stand so in the context."""
        there = [pair in self.context.pairs for pair in pairs(self.worded.stems)]
        twice = [a and b for a, b in pairwise(there)]
        return sum(there) / len(there) if there else 1.0, sum(twice) / len(twice) if twice else 1.0

    def _facts(self, tables: Sequence[Reading]) -> tuple[Looked, ...]:
        """The exact facts of the claim, what the context says of each, and in which sentence."""
        if not self.found:
            return ()
        return Figures(
            text=self.text,
            found=self.found,
            weights=self.weights,
            asked=self.asked,
            matches=self.matches,
            context=self.context,
            known=self.context.known,
            negated=not NEGATIONS.isdisjoint(self.worded.folded),
            given=self.about.given,
            at_issue=self.about.at_issue,
            earlier=self.earlier,
            beside=self.beside,
            cells=[column for table in tables for column in table.cells()],
            in_place=frozenset(id(fact) for table in tables for fact in table.in_their_row()),
        ).checked()

    def _leave_out(self, words: Collection[int]) -> None:
        """Look for these words no more."""
        if words:
            self.content = tuple([i for i in self.content if i not in words])
            self.missing = tuple([i for i in self.missing if i not in words])
            stems = {self.worded.stems[i] for i in self.content}
            self.weights = {stem: weight for stem, weight in self.weights.items() if stem in stems}

    def _missing_names(self) -> tuple[int, tuple[range, ...]]:
        """How many names the claim has, and those with a word that the context hasn't."""
        w = self.worded
        content = frozenset(self.content)
        found = [run for run in names.find(w.words, w.folded, self.text) if not content.isdisjoint(run)]
        unknown = content.intersection(self.missing)
        missing = [run for run in found if not unknown.isdisjoint(run) and not self._abbreviates(run)]
        return len(found), tuple(missing)

    def _unknown_names(self, missing: Sequence[range]) -> tuple[range, ...]:
        """Names of two words or more, none of which the context or the question has."""
        w, missed = self.worded, frozenset(self.missing)
        found = []
        for run in missing:
            content = [i for i in run if i in w.content]
            new = [i for i in content if i in missed and w.stems[i] not in self.asked]
            if len(new) == len(content) >= _FULL_NAME:
                found.append(run)
        return tuple(found)

    def _abbreviates(self, run: range) -> bool:
        """Whether a name is the initials of words beside it: "Right Lower Quadrant (RLQ)"."""
        letters = self.worded.folded[run[0]]
        initials = "".join(folded[0] for folded in self.worded.folded)
        return len(run) == 1 and len(letters) >= 2 and letters in initials


def _content_stems(worded: Worded) -> list[str]:
    return [worded.stems[i] for i in worded.content]


_FULL_NAME = 2
# Between an announcement and the fence of what it announces.
_GAP = 12
# So many figures that an answer worked out are known to what it goes on to say.
_REMEMBERED = 48
# So many words of its own may call what a claim has from a table's cells.
_CALLED = 2
# So many statements before and after a claim may be the list that it adds up.
_BESIDE = 8
# What a figure and a word of the question weigh beside the claim's own words, when sentences are sought.
_FIGURE, _ASKED = 0.4, 0.1
# Claims with so few words of their own are looked up by the question's words too.
_FEW = 2
# No context of the fitting data is longer: what a longer one means was not learnt.
_MOST_WORDS = 1_000
_CONTENT = CLAIM_FEATURES.index("content_words")
_MISSING = CLAIM_FEATURES.index("missing_words")
_DECLINES = CLAIM_FEATURES.index("declines")
_WEIGHTED = CLAIM_FEATURES.index("weighted")
_WINDOW = CLAIM_FEATURES.index("best_window")
