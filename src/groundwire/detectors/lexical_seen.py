"""What was seen of a claim and of an answer: the lexical detector's figures, and the places they come from.

How it is looked for belongs to ``lexical_features``, how it is weighed to ``lexical_model``, and what is
said about it to ``lexical_verdict``.
"""

from __future__ import annotations

from dataclasses import dataclass

from groundwire.core.span import Span
from groundwire.detectors.lexical_cells import Celled
from groundwire.detectors.lexical_code import Invented
from groundwire.detectors.lexical_figures import Looked
from groundwire.detectors.lexical_mentions import Mentioned
from groundwire.detectors.lexical_moves import Moved
from groundwire.detectors.lexical_ratios import Reversed
from groundwire.detectors.lexical_records import Mention
from groundwire.detectors.lexical_settings import Told
from groundwire.detectors.lexical_siblings import Apart, Borrowed
from groundwire.text.facts import Fact, Kind, Status
from groundwire.text.overlap import Match
from groundwire.text.steps import Derived
from groundwire.text.worded import Worded

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
    "pairs_of_pairs",
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
    "telling",
    "most_telling",
    "declines",
    "cites",
    "bounds_differ",
    "entries_right",
    "entries_differing",
    "entries_open",
    "entries_named",
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


HARMLESS = 0.02
BARE_KNOWN = 0.05
BARE_UNKNOWN = 0.85
A_FEW = 6
"""In words: an answer of no more is brief."""


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A word of the claim, by its place, and what a sentence of the documents has instead.

    Both are the same word where one of them denies it.
    """

    at: int
    mine: str
    theirs: str
    where: Match


@dataclass(frozen=True, slots=True)
class Seen:
    """A claim looked at: its figures, and what they are about."""

    span: Span
    worded: Worded
    missing: tuple[int, ...]
    matches: tuple[Match, ...]
    checked: tuple[Looked, ...]
    missing_names: tuple[range, ...]
    unknown_names: tuple[range, ...]
    opposite: Otherwise | None
    replaced: tuple[range, str] | None
    negation_differs: Otherwise | None
    entries: tuple[Mention, ...]
    settings: tuple[Told, ...]
    cells: tuple[Celled, ...]
    reversed: Reversed | None
    moved: Moved | None
    invented: Invented | None
    illustrates: bool
    told: bool
    leads_in: bool
    mentioned: Mentioned | None
    declines: bool
    verbatim: bool
    features: tuple[float, ...]
    borrowed: Borrowed | None = None
    apart: Apart | None = None

    def place(self, run: range) -> Span:
        """Where a run of its words stands in the answer."""
        words = self.worded.words
        return Span(words[run[0]].start, words[run[-1]].end).shifted(self.span.start)

    @property
    def checkable(self) -> bool:
        """Whether it has a word, a fact or an entry of a record that could be looked up."""
        return bool(self.features[_CONTENT] or self.checked or any(self.features[_ENTRIES:]))

    @property
    def lacking(self) -> tuple[Fact, ...]:
        """Its exact facts that the documents don't bear out."""
        return tuple(f for f, c, _ in self.checked if c.status is not Status.FOUND and not f.soft)

    @property
    def figures(self) -> int:
        """How many exact facts it states, vague ones aside."""
        return sum(not fact.soft for fact, _, _ in self.checked)

    @property
    def says_otherwise(self) -> bool:
        """Whether a fact that differs stands for another, and isn't one that the claim works out.

        A time of day or a telephone number is hardly worked out, nor is one figure among several of one
        sentence. Else the claim states few figures, and says what the documents do but for the one, or
        nothing in their words: it is in another language.
        """
        differing = [(f, c) for f, c, _ in self.checked if c.status is Status.DIFFERS]
        if any(fact.kind is Kind.TIME or fact.is_phone for fact, _ in differing):
            return True
        if self.figures > _FEW_FIGURES:
            return self._differs_alone
        share = self.features[_MISSING] / max(1.0, self.features[_CONTENT])
        return not _CLOSE <= share < _NOT_ITS_WORDS or any(c.shared >= _ALIKE for _, c in differing)

    @property
    def _differs_alone(self) -> bool:
        """Whether all its facts but one are those of the sentence that has another in place of that one."""
        stated = [(fact.text, c, at) for fact, c, at in self.checked if not fact.soft]
        differing = {text for text, c, _ in stated if c.status is Status.DIFFERS}
        in_one_place = len({at for _, _, at in stated}) == 1 and stated[0][2] is not None
        worked_out = any(c.derived for _, c, _ in stated)
        return len(differing) == 1 and in_one_place and not worked_out

    @property
    def is_denied(self) -> bool:
        """Whether it affirms, in some words of its own, what a sentence denies."""
        return not self.worded.negated and self.features[_CONTENT] >= _SOMETHING

    @property
    def denied(self) -> Mention | None:
        """What a record plainly says otherwise, or nothing of."""
        return next((entry for entry in self.entries if entry.differs), None)

    @property
    def restated(self) -> tuple[Span, ...]:
        """What holds, and doesn't stand in the documents as it is put: exact facts, entries and settings."""
        facts_ = [
            fact.span.shifted(self.span.start)
            for fact, checked, _ in self.checked
            if checked.status is Status.FOUND
            and (checked.nearest is None or _plain(checked.nearest) != _plain(fact))
        ]
        entries = [self.place(entry.words) for entry in self.entries if entry.agrees]
        settings = [one.span.shifted(self.span.start) for one in self.settings if one.agrees]
        return (*facts_, *entries, *settings)

    @property
    def derived(self) -> tuple[Derived, ...]:
        """How its figures that no document has are worked out."""
        return tuple(c.derived for _, c, _ in self.checked if c.derived is not None)

    @property
    def least(self) -> float:
        """The score that one unknown exact fact or full name gives the claim, however well the rest fits.

        Each is the share of such claims that annotators marked, over all of RAGTruth.
        """
        return max([self.least_by_name, *(_UNKNOWN.get(fact.kind, 0.0) for fact in self.lacking)])

    @property
    def least_by_name(self) -> float:
        """The same for full names alone.

        RAGTruth has no claims that say a sentence over again with another name in place of its own: those are
        taken for unknown names.
        """
        return _UNKNOWN_NAME if self.unknown_names or self.replaced else 0.0

    @property
    def is_new(self) -> bool:
        """Whether it says something of which hardly a word is in the documents."""
        content, missing = self.features[_CONTENT], self.features[_MISSING]
        return self.settled is None and content >= _SOMETHING and missing >= _HARDLY_A_WORD * content

    @property
    def spoken_of(self) -> bool:
        """Whether some sentences side by side have most of the claim's words, weighed by their rarity."""
        return self.features[_BEST_WINDOW] >= _SPOKEN_OF

    @property
    def brief(self) -> bool:
        """Whether it is a few words without an unknown figure: mostly, its question says what it states."""
        other = self.leads_in or self.declines or self.illustrates or self.lacking
        return not other and len(self.worded.words) <= A_FEW

    @property
    def settled(self) -> float | None:
        """The claim's odds where no weighing is needed, else None.

        Declining, quoting word for word and announcing code are harmless. Code that uses the documents' names
        illustrates them, and only its comments state anything. A figure and hardly anything else
        ("42 million") stands or falls with the figure.
        """
        if self.verbatim or self.leads_in or (self.declines and not self.lacking):
            return HARMLESS
        if self.illustrates and (self.told or self.lacking):
            return BARE_UNKNOWN if self.lacking else BARE_KNOWN
        if self.checked and self.features[_CONTENT] <= 1:
            return BARE_UNKNOWN if self.lacking else BARE_KNOWN
        return None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer looked at, claim by claim, beside a context of so many ``words``.

    ``asked`` says whether it answers a question: a summary answers none, nor does what is made of a record.
    """

    claims: tuple[Seen, ...]
    features: tuple[float, ...]
    words: int
    asked: bool


def _plain(fact: Fact) -> str:
    """Its words, whatever their case and the breaks between them."""
    return " ".join(fact.text.split()).lower()


_UNKNOWN = {Kind.MONEY: 0.75, Kind.TIME: 0.75, Kind.DATE: 0.7, Kind.MEASURE: 0.65}
_UNKNOWN_NAME = 0.6
_SPOKEN_OF = 0.6
_FEW_FIGURES, _ALIKE = 2, 4
_CLOSE, _NOT_ITS_WORDS = 0.3, 0.75
_CONTENT, _MISSING = CLAIM_FEATURES.index("content_words"), CLAIM_FEATURES.index("missing_words")
_SOMETHING, _HARDLY_A_WORD = 3, 0.9
_BEST_WINDOW = CLAIM_FEATURES.index("best_window")
_ENTRIES = CLAIM_FEATURES.index("entries_right")
