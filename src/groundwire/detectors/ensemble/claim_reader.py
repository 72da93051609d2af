"""An oracle made of a prompt: one request for several readings of an answer, each claims with their support.

Only the plan lives here. What is said to the model is in ``prompts``; what readings come to together is in
``reduction``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from groundwire.core.budget import counted, request_tokens
from groundwire.core.claim import Support
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Complete, Completed, Failed, Plan, Reply
from groundwire.core.span import Span
from groundwire.core.verdict import AbstentionReason, Outcome
from groundwire.detectors.asking import Ask, PromptDetector, clean, listed, not_warm, whole_numbers
from groundwire.detectors.ensemble.opinions import Heard, Opinion, Said
from groundwire.detectors.ensemble.places import Places
from groundwire.detectors.shown import ShownPassages
from groundwire.prompts.forms import ReadClaimForm, readings
from groundwire.prompts.replies import UnreadableError
from groundwire.prompts.schemas import readings_schema

Readings = list[tuple[ReadClaimForm, ...] | None]


@dataclass(frozen=True, kw_only=True)
class ClaimReader(PromptDetector):
    """Asks a model for ``readings`` of the answer in one prompt, and for ``samples`` of the whole reply.

    Passages and answer are sent once for all readings of a prompt. Samples are paid for once where the model
    takes a number of replies to one input (a LangChain model with a field ``n``), and else each by itself.
    Samples are asked for at ``temperature``, a single one at the model's own.

    "Supported" is believed as by the ``judge`` detector: with a quotation that stands in a passage and bears
    on the claim; else the vote is not used, and neither is one that can't be read. Sentences that no reading
    took a claim from, or none that can be read, are asked for once more.

    Assumes that a model which begins anew judges anew. Known failure: readings of one prompt see one another,
    and agree more than separate calls would; several models are more independent than several readings.

    Alone, it is the ensemble of its own readings.
    """

    name: ClassVar[str] = "claim_reader"
    version: ClassVar[str] = "2"
    uses: ClassVar[tuple[str, ...]] = ("claim_reader",)

    readings: int = 3
    samples: int = 1
    temperature: float = 0.7

    def problems(self) -> list[str]:
        numbers = whole_numbers(self, readings=1, samples=1)
        return super().problems() + numbers + not_warm(self.temperature)

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        from groundwire.detectors.ensemble.claim_ensemble import ClaimEnsemble  # noqa: PLC0415 - which is made of these

        return (yield from ClaimEnsemble(oracles=(self,), grading=self.grading).detect(interaction))

    def hear(self, interaction: Interaction, oracle: str) -> Plan[Heard]:
        """The opinions of all readings, by names that begin with ``oracle``'s."""
        places, shown = Places(interaction.answer), ShownPassages(interaction)
        asked = self._asking(interaction, ())
        (reply,) = yield [asked.request()]
        read = asked.result(reply)
        if isinstance(read, Failed) and not isinstance(reply, Failed):
            (reply,) = yield [asked.last()]
            read = asked.result(reply)
        names = self._names(oracle)
        if isinstance(read, Failed):
            return Heard(opinions=tuple(Opinion(oracle=name, trouble=read) for name in names))

        def told(name: str, forms: Iterable[ReadClaimForm]) -> list[Said]:
            return [_said(name, form, places, shown) for form in forms]

        said, lost = (
            [
                told(name, [form for form in one or () if form.readable is readable])
                for name, one in zip(names, read, strict=True)
            ]
            for readable in (True, False)
        )
        left = places.left_out(_spans([one for each in said for one in each], places))
        for each, unread in zip(said, lost, strict=True):
            each += [one for one in unread if not _among(one, left, places)]
        if left:
            rest = self._asking(interaction, left)
            (more,) = yield [rest.last(again=False)]
            found = rest.result(more)
            for i, forms in enumerate([] if isinstance(found, Failed) else found):
                said[i] += told(names[i], forms or ())
        opinions = tuple(
            Opinion(oracle=name, said=tuple(one), trouble=None if one else _MISSING)
            for name, one in zip(names, said, strict=True)
        )
        return Heard(opinions=opinions, saved=self._saved(interaction, asked.request(), reply))

    def _names(self, oracle: str) -> list[str]:
        total = self.readings * self.samples
        return [oracle] if total == 1 else [f"{oracle}/{i}" for i in range(1, total + 1)]

    def _asking(self, interaction: Interaction, sentences: Sequence[Span]) -> Ask[Readings]:
        """For readings of the whole answer, or of those sentences alone, in one reply."""
        samples = 1 if sentences else self.samples
        return Ask(
            message=self.message(
                "claim_reader",
                {
                    **self.material(interaction),
                    "sentences": [
                        (
                            "sentences",
                            listed({i: s.of(interaction.answer) for i, s in enumerate(sentences, 1)}),
                        )
                    ]
                    if sentences
                    else [],
                },
                words={"readings": "one reading" if self.readings == 1 else f"{self.readings} readings"},
                judges=True,
            ),
            read=lambda reply: self._read(reply, samples),
            schema=readings_schema(),
            samples=samples,
            temperature=self.temperature if samples > 1 else None,
        )

    def _read(self, reply: Completed, samples: int) -> Readings:
        """As many readings as were asked for, None for each that is not there."""
        read: Readings = []
        trouble: UnreadableError | None = None
        for text in reply.texts[:samples]:
            try:
                found: Readings = [one or None for one in readings(text, self.readings)]
            except UnreadableError as error:
                trouble, found = error, []
            read += [*found, *[None] * (self.readings - len(found))]
        if not any(read):
            raise trouble or UnreadableError("no text came back")
        return [*read, *[None] * (samples * self.readings - len(read))]

    def _saved(self, interaction: Interaction, request: Complete, reply: Reply) -> int:
        """Input tokens that a request for each reading and sample would have taken on top.

        A call's tokens are those that the provider counted; how much shorter a prompt for one reading would
        be is estimated from its characters.
        """
        usage = counted(request, reply)
        if not usage.calls:
            return 0
        alone = ClaimReader(examples=self.examples, prompts=self.prompts, turns=self.turns, readings=1)
        share = request_tokens(alone._asking(interaction, ()).request()) / request_tokens(request)
        naive = usage.input_tokens / usage.calls * share * self.readings * self.samples
        return max(0, round(naive) - usage.input_tokens)


def _said(oracle: str, form: ReadClaimForm, places: Places, shown: ShownPassages) -> Said:
    support, evidence = Support(form.support), shown.evidence(form.quote)
    if support is Support.SUPPORTED and not (evidence and shown.bears(form.quote, form.claim)):
        support = Support.UNVERIFIED
    return Said(
        oracle=oracle,
        statement=clean(form.claim),
        support=support,
        confidence=form.confidence,
        span=places.quoted(form.words),
        evidence=evidence,
    )


def _spans(said: Sequence[Said], places: Places) -> Iterator[Span]:
    for one in said:
        if span := one.span or places.stated(one.statement):
            yield span


def _among(one: Said, sentences: Sequence[Span], places: Places) -> bool:
    """Whether a claim is one of sentences that are asked for again."""
    return any(span.overlaps(sentence) for span in _spans([one], places) for sentence in sentences)


_MISSING = Failed(reason=AbstentionReason.UNREADABLE_REPLY, detail="the reply holds no such reading")
