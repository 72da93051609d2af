"""The encoder detector: a classifier of the user's own choice reads the claims beside the passages.

Only the plan lives here. How a model is loaded and what it reads is in ``local``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar

from groundwire.core.aggregation import Aggregation, AnyUnsupported
from groundwire.core.claim import Claim, Evidence, Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Encode, Encoded, EncoderSetup, Failed, Plan, ReadClaim, Reading
from groundwire.core.span import Span
from groundwire.core.verdict import Outcome, Verdict
from groundwire.detectors.statements import aggregation_problems, no_ground, share
from groundwire.text.claims import cut


@dataclass(frozen=True, kw_only=True)
class EncoderDetector(Detector):
    """Asks a Hugging Face classifier how well the passages support each claim of the answer.

    ``model`` is a folder that ``save_pretrained`` wrote, or an id of the Hugging Face hub, which is then
    downloaded. A token classifier reads the whole answer beside all passages and names words (LettuceDetect:
    Kovács and Recski, 2025, arXiv:2502.17125). A sentence-pair classifier reads claim by claim beside one
    passage at a time (entailment: Laban et al., 2022, arXiv:2111.09525; MiniCheck: Tang et al., 2024,
    arXiv:2404.10774). What is longer than the model takes is read in windows, and what one window supports is
    supported.

    ``labels`` says what the model's labels mean where their names don't: each "supported", "unsupported" or
    "contradicted". ``max_length`` is the most tokens read at once; None is what the model says of itself.
    ``prompt`` puts the question and the passages before the answer the way a token classifier was trained
    with, "{question}" and "{passages}" standing for them. ``device`` is PyTorch's name of one.

    Assumes that the model was trained to tell support from its absence; its probabilities are taken as they
    are, uncalibrated. Known failures: a sentence-pair model can't join two passages, and sees neither the
    question nor the rest of the answer; many windows make one that supports by mistake likelier; an answer
    that declines may be flagged. Raises ConfigurationError naming every parameter that can't work.
    """

    name: ClassVar[str] = "encoder"
    version: ClassVar[str] = "1"
    needs_encoder: ClassVar[bool] = True

    model: str = ""
    labels: Mapping[str, str] | None = None
    max_length: int | None = None
    prompt: str | None = None
    device: str = "cpu"
    aggregation: Aggregation = field(default_factory=AnyUnsupported)

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be {expected}, not {value!r:.60}"
            for name, value, right, expected in (
                (
                    "model",
                    self.model,
                    isinstance(self.model, str) and self.model.strip() != "",
                    "a folder that holds a model, or an id of the Hugging Face hub ('owner/model')",
                ),
                ("labels", self.labels, _explains(self.labels), f"a dict from label names to {_MEANINGS}"),
                (
                    "max_length",
                    self.max_length,
                    self.max_length is None or (type(self.max_length) is int and self.max_length >= _LEAST),
                    f"a number of tokens from {_LEAST} on, or None",
                ),
                (
                    "prompt",
                    self.prompt,
                    self.prompt is None or (isinstance(self.prompt, str) and _puts_both(self.prompt)),
                    "a text with '{passages}' in it once, and '{question}' at most once, or None",
                ),
                (
                    "device",
                    self.device,
                    isinstance(self.device, str) and self.device.strip() != "",
                    "PyTorch's name of a device, such as 'cpu'",
                ),
                ("grading", self.grading, isinstance(self.grading, Grading), "a Grading"),
            )
            if not right
        ]
        problems += aggregation_problems(self)
        if problems:
            raise ConfigurationError(*problems)
        if self.labels is not None:
            object.__setattr__(self, "labels", dict(self.labels))  # theirs may change, a detector may not

    def load(self) -> None:
        """Load the model, from the hub if need be, and refuse what can't be used."""
        from groundwire.local import optional  # noqa: PLC0415 - plans need nothing that runs a model

        optional.load(self.model, self._setup())

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        spans = cut(interaction.answer)
        if refused := no_ground(interaction, spans, self):
            return refused
        request = Encode(
            answer=interaction.answer,
            claims=tuple(spans),
            passages=tuple(passage.text for passage in interaction.contexts),
            question=interaction.question or None,
            model=self.model,
            setup=self._setup(),
        )
        (reply,) = yield [request]
        if isinstance(reply, Failed):
            return self.abstain(reply.reason, reply.detail)
        assert isinstance(reply, Encoded), "an Encode is answered by an Encoded"
        claims = [
            self._claim(interaction, span, read) for span, read in zip(spans, reply.claims, strict=True)
        ]
        return self._verdict(claims)

    def _claim(self, interaction: Interaction, span: Span, read: ReadClaim) -> Claim:
        score = min(1.0, max(0.0, 1 - read.reading.supported))
        flagged = score >= self.grading.threshold
        contradicted = read.reading.contradicted > read.reading.unsupported
        support = Support.SUPPORTED
        if flagged:
            support = Support.CONTRADICTED if contradicted else Support.UNSUPPORTED
        # What was read beside a claim that has no support is no evidence of anything.
        shown = () if support is Support.UNSUPPORTED else read.evidence
        return Claim(
            text=span.of(interaction.answer),
            span=span,
            support=support,
            score=score,
            words=self._words(read) if flagged else (),
            evidence=tuple(Evidence.cite(interaction, passage, where) for passage, where in shown),
            reason=_REASONS[support],
        )

    def _words(self, read: ReadClaim) -> tuple[Span, ...]:
        """The flagged words; those that only spaces and marks part are one."""
        runs: list[Span] = []
        last_flagged = False
        for word in read.words:
            flagged = 1 - word.reading.supported >= self.grading.threshold
            if flagged and last_flagged:
                runs[-1] = Span(runs[-1].start, max(runs[-1].end, word.span.end))
            elif flagged:
                runs.append(word.span)
            last_flagged = flagged
        return tuple(runs)

    def _verdict(self, claims: Sequence[Claim]) -> Verdict:
        score = self.aggregation(claims)
        assert score is not None, "every claim has a score"
        flagged = [claim for claim in claims if claim.support.flagged]
        reason = f"Supported: {share(len(claims), len(claims), 'claim')}."
        if flagged:
            reason = f"Not supported: {share(len(flagged), len(claims), 'claim')}."
        return Verdict.graded(
            score, self.grading, raw=score, claims=tuple(claims), reason=reason, detector=self.spec
        )

    def _setup(self) -> EncoderSetup:
        return EncoderSetup(
            labels=tuple(sorted((self.labels or {}).items())),
            max_length=self.max_length,
            prompt=self.prompt or "",
            device=self.device,
        )


def _explains(labels: object) -> bool:
    return labels is None or (
        isinstance(labels, Mapping)
        and all(isinstance(name, str) and meaning in _MEANINGS for name, meaning in labels.items())
    )


def _puts_both(prompt: str) -> bool:
    return prompt.count("{passages}") == 1 and prompt.count("{question}") <= 1


_MEANINGS = tuple(f.name for f in fields(Reading))
_LEAST = 32
_REASONS = {
    Support.SUPPORTED: "",
    Support.UNSUPPORTED: "The model finds no support for it in the passages.",
    Support.CONTRADICTED: "The model reads the opposite in the passages.",
}
