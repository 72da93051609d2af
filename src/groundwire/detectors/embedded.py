"""The embedded detector: a small encoder reads each claim, and its words and facts are weighed with that.

Here is the order of things. How it begins is in ``opening``, what the encoder reads in ``groundwire.local``,
how readings are weighed in ``embedded_model``, and how they become claims in ``embedded_verdict``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from groundwire.core.detector import Detector
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Encode, Encoded, Failed, Plan, ReadClaim
from groundwire.core.verdict import Abstention, Outcome
from groundwire.detectors import embedded_model, lexical_model
from groundwire.detectors.as_read import AsRead
from groundwire.detectors.embedded_verdict import ReadJudging, caution
from groundwire.detectors.lexical_seen import Answer
from groundwire.detectors.opening import Opened, concluded, opened
from groundwire.local.embedded import READER
from groundwire.text import tokens


@dataclass(frozen=True, kw_only=True)
class Embedded(Detector):
    """Judges offline, on a CPU, in tens of milliseconds. What ``gw.Checker()`` uses.

    A MiniLM encoder (Wang et al., 2020) of 22 million weights reads the claims that words and facts leave in
    doubt, each beside the sentences of the context that bear on it, and labels the claim and each of its
    words as supported, unsupported or contradicted. It was trained on entailment, on answers with marked
    words (RAGTruth; Niu et al., 2024), on corrupted ones and on documents of our own. A logistic regression
    weighs what it reads together with the figures of the ``lexical`` detector, and is calibrated on sources
    that neither was fitted on. Answers to a question have one of their own, which goes by what is read, and
    so have digests, which tell a long text over in words of their own; in the one for all others, readings
    tell the more the more of the context was shown. An exact fact in the place of another one is a
    contradiction whatever the encoder says.

    English. What is in another language is hardly flagged but for exact facts, code and contexts much longer
    than any that it was fitted on lower the confidence, and the verdict says so. See the model card for where
    it fails.
    """

    name: ClassVar[str] = "embedded"
    version: ClassVar[str] = "32"
    needs_encoder: ClassVar[bool] = True

    # Half of the F1 that it reaches, where probabilities that are right have their best one (Lipton et al.,
    # 2014, arXiv:1402.1892); on the sources that it was calibrated on, it does. See training/README.md.
    grading: Grading = Grading(threshold=0.37)

    def load(self) -> None:
        """Load the encoder and the fitted weights. Raises EncoderError where it can not be used."""
        READER.load()
        embedded_model.load()
        lexical_model.load()
        tokens.stem("loading")

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """Look at words and facts, have the claims read, and weigh both."""
        read = AsRead.of(interaction)
        return read.told((yield from self._judged(read)))

    def _judged(self, as_read: AsRead) -> Plan[Outcome]:
        first = opened(as_read, self)
        if not isinstance(first, Opened):
            return first
        lexical = lexical_model.load().weigh(first.seen)
        # Digests are told apart in English alone.
        elsewhere = first.spoken is not None and not first.seen.asked
        which = embedded_model.suspected if elsewhere else embedded_model.to_read
        numbers = which(first.seen, lexical)
        read = (yield from self._read(first, numbers)) if numbers else _Read({}, frozenset())
        if isinstance(read, Abstention):
            return read
        left = without_known(first.seen, read.claims)
        doubt = caution(first)
        if first.spoken is not None:
            weighed = embedded_model.in_other_words(lexical, first.seen, left)
        else:
            weighed = embedded_model.load().weigh(lexical, first.seen, left)
            weighed = doubt.applied(weighed, self.grading.threshold) if doubt else weighed
        # What is said of a claim as a whole is what was read of it.
        told = {i: replace(claim, words=left[i].words) for i, claim in read.claims.items()}
        judging = ReadJudging(
            first, self.grading, weighed.scores(), told, lexical.odds, borrowed=read.borrowed
        )
        claims = judging.claims()
        return concluded(claims, self, raw=weighed.raw, note="" if doubt is None else doubt.said)

    def _read(self, first: Opened, numbers: Sequence[int]) -> Plan[_Read | Abstention]:
        """What is read of the claims of these ``numbers``.

        A claim about one of siblings is read without what the passages say of the others, too.
        """
        apart: dict[tuple[str, ...], list[int]] = {}
        for i in numbers:
            if (without := first.seen.claims[i].apart) is not None:
                apart.setdefault(without.passages, []).append(i)
        again = [asked(first.interaction, first.seen, some, passages) for passages, some in apart.items()]
        replies = yield [asked(first.interaction, first.seen, numbers), *again]
        read: dict[int, ReadClaim] = {}
        borrowed: set[int] = set()
        for some, reply in zip([numbers, *apart.values()], replies, strict=True):
            if isinstance(reply, Failed):
                return self.abstain(reply.reason, reply.detail)
            assert isinstance(reply, Encoded)
            for i, claim in zip(some, reply.claims, strict=True):
                known = read.setdefault(i, claim)
                if claim.reading.supported < known.reading.supported:
                    read[i] = replace(claim, evidence=known.evidence)  # which is of all passages
                    borrowed.add(i)
        return _Read(read, borrowed)


class _Read(NamedTuple):
    """The readings of claims by their number, and those of which less says so without their siblings."""

    claims: Mapping[int, ReadClaim]
    borrowed: AbstractSet[int]


def without_known(answer: Answer, read: Mapping[int, ReadClaim]) -> dict[int, ReadClaim]:
    """The readings of claims, by their number, but for facts and entries that hold in another form."""
    return {i: embedded_model.but_for(claim, answer.claims[i].restated) for i, claim in read.items()}


def asked(
    interaction: Interaction, answer: Answer, numbers: Sequence[int], passages: Sequence[str] | None = None
) -> Encode:
    """What the encoder is asked, to read the claims of these ``numbers`` beside ``passages``, or all."""
    stated = tuple(claim.span for claim in answer.claims)
    return Encode(
        answer=interaction.answer,
        claims=tuple(stated[i] for i in numbers),
        passages=tuple(passages or (passage.text for passage in interaction.contexts)),
        question=interaction.question,
        stated=stated,
    )
