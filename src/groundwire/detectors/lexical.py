"""The first embedded detector: words and exact facts, weighed by a small fitted model.

Here is the order of things. How it begins is in ``opening``, what is looked at in ``lexical_features``, the
fitted weights in ``lexical_model``, and how figures become claims in ``lexical_verdict``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from groundwire.core.detector import Detector
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Plan
from groundwire.core.verdict import Outcome
from groundwire.detectors import lexical_model
from groundwire.detectors.as_read import AsRead
from groundwire.detectors.lexical_verdict import Judging
from groundwire.detectors.opening import Opened, concluded, opened
from groundwire.text import tokens


@dataclass(frozen=True, kw_only=True)
class Lexical(Detector):
    """Judges by word overlap, rare words and names, exact facts and negation. Offline, in milliseconds.

    Each claim is compared with its best sentence, its best passage and all passages together; boosted
    trees weigh the figures (Friedman, 2001), fitted on RAGTruth (Niu et al., 2024) and calibrated on
    sources that were not used for fitting. A number, date, time or amount in the place of the one that the
    documents give is a contradiction whatever the trees say.

    Assumes that a supported answer mostly uses the documents' words. Known failures: free paraphrase in
    other words looks unsupported, swapped roles ("A paid B") and invented claims made of the documents'
    own words look supported, what takes two steps to work out mostly looks invented, and a claim that
    something is not mentioned is believed.
    """

    name: ClassVar[str] = "lexical"
    version: ClassVar[str] = "21"

    # Near the best F1 on the sources that it was calibrated on; see training/README.md.
    grading: Grading = Grading(threshold=0.44)

    def load(self) -> None:
        """Read the fitted model and import the stemmer."""
        lexical_model.load()
        tokens.stem("loading")

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """Judge by words and exact facts; asks nothing of anybody."""
        read = AsRead.of(interaction)
        return read.told(self._judged(read))
        yield ()  # a plan is a generator, also where there is nothing to ask

    def _judged(self, read: AsRead) -> Outcome:
        first = opened(read, self)
        if not isinstance(first, Opened):
            return first
        weighed, note = lexical_model.load().weigh(first.seen), ""
        if first.spoken is not None:
            weighed = lexical_model.in_other_words(weighed, first.seen)
            note = f"Less sure than usual: {first.unsure}."
        judging = Judging(first.interaction, first.context, first.seen, self.grading, weighed.scores())
        return concluded(judging.claims(), self, raw=weighed.raw, note=note)
