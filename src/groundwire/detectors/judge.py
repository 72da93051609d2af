"""The judge detector: a language model reads the passages and says, claim by claim, what they support.

Only the plan lives here. What is said to the model is in ``prompts``; which model it is, in ``judge``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from groundwire import prompts
from groundwire.core.aggregation import Aggregation, AnyUnsupported
from groundwire.core.claim import Claim, Evidence, Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Complete, Completed, Failed, Plan, Reply
from groundwire.core.span import Span
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome, Verdict
from groundwire.prompts.quoting import fence, neutral, places
from groundwire.prompts.replies import ClaimReply, UnreadableError, claim_replies
from groundwire.text.claims import cut
from groundwire.text.quotes import Quotable, parts
from groundwire.text.tokens import STOP_WORDS, fold, stem, texts


@dataclass(frozen=True, kw_only=True)
class JudgeDetector(Detector):
    """Asks a language model, in one call, how the passages bear on each claim of the answer.

    "Supported" counts only with a quotation that stands in a passage, word for word, and bears on the claim:
    the two share a content word, and the quotation has three of them or shares more than half of the claim's.
    A claim of fewer than three ("Yes, they are.") may be read together with the question. "Unsupported" and
    "contradicted" are believed without a quotation, and so is "inferred", which clears a claim on the
    model's word alone. Claims that got no usable verdict are asked for once more, and are unverified after
    that.

    Source: a strong model as judge (Zheng et al., 2023, arXiv:2306.05685), over single claims (Min et al.,
    2023, arXiv:2305.14251). Assumes that a claim can be judged from one sentence and the answer around it.
    Known failures: the model's own knowledge passes for support, sums and dates are compared by feel, a
    quotation on the subject of a claim need not state it, the scores are verbalised and not calibrated, and
    a model may obey what a passage says.

    ``claims_per_call`` keeps replies short enough to be finished; longer answers take several calls, made
    at once. An answer of more than ``max_claims`` is not judged. ``turns`` is how much of the earlier
    conversation is shown. Raises ConfigurationError naming every parameter that can't work.
    """

    name: ClassVar[str] = "judge"
    version: ClassVar[str] = "1"
    needs_model: ClassVar[bool] = True

    aggregation: Aggregation = field(default_factory=AnyUnsupported)
    claims_per_call: int = 40
    max_claims: int = 400
    turns: int = 6

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be {expected}, not {type(value).__qualname__}"
            for name, value, kind, expected in (
                ("grading", self.grading, Grading, "a Grading"),
                ("aggregation", self.aggregation, Aggregation, "an Aggregation, such as AnyUnsupported()"),
            )
            if not isinstance(value, kind)
        ]
        for name, least in (("claims_per_call", 1), ("max_claims", 1), ("turns", 0)):
            value = getattr(self, name)
            if type(value) is not int:  # True is an int, too
                problems.append(f"{name} must be a whole number, not {type(value).__qualname__}")
            elif value < least:
                problems.append(f"{name} must be at least {least}, not {value}")
        if problems:
            raise ConfigurationError(*problems)

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        spans = cut(interaction.answer)
        if refused := self._refusal(interaction, spans):
            return refused
        sheet = _Sheet(interaction, spans, turns=self.turns)
        judged: dict[int, Claim] = {}
        trouble: Reply = Completed(texts=("",))
        ids = list(sheet.ids)
        for again in (False, True):
            calls = [ids[i : i + self.claims_per_call] for i in range(0, len(ids), self.claims_per_call)]
            replies = yield [sheet.ask(asked, again=again) for asked in calls]
            ids = []
            for asked, reply in zip(calls, replies, strict=True):
                found = sheet.read(asked, reply)
                judged |= found
                if len(found) < len(asked):
                    trouble = reply
                if not isinstance(reply, Failed):  # whoever performs requests has tried what can be tried
                    ids += [i for i in asked if i not in found]
            if not ids:
                break
        return self._outcome([judged.get(i) or sheet.unverified(i) for i in sheet.ids], trouble)

    def _refusal(self, interaction: Interaction, spans: Sequence[Span]) -> Abstention | None:
        if not spans:
            return self._abstain(AbstentionReason.NO_CLAIMS, "the answer states nothing that can be checked")
        if not interaction.has_context:
            return self._abstain(AbstentionReason.NO_CONTEXT, "there is no passage to judge the answer by")
        if len(spans) > self.max_claims:
            detail = f"the answer makes {len(spans)} claims, more than max_claims={self.max_claims}"
            return self._abstain(AbstentionReason.OVER_BUDGET, detail)
        return None

    def _outcome(self, claims: Sequence[Claim], trouble: Reply) -> Outcome:
        score = self.aggregation(claims)
        unverified = sum(claim.support is Support.UNVERIFIED for claim in claims)
        if score is None or (unverified and score < self.grading.threshold):
            missing = f"{unverified} of {len(claims)} claims got no usable verdict"
            if isinstance(trouble, Failed):
                return self._abstain(trouble.reason, f"{missing}: {trouble.detail}")
            return self._abstain(
                AbstentionReason.UNREADABLE_REPLY, f"{missing}; the last reply was {_short(trouble)!r}"
            )
        return Verdict.graded(
            score,
            self.grading,
            raw=score,
            claims=tuple(claims),
            reason=_reason(claims),
            detector=self.spec,
        )

    def _abstain(self, why: AbstentionReason, detail: str) -> Abstention:
        return Abstention(why=why, detail=detail, detector=self.spec)


class _Sheet:
    """One interaction as it is put before the judge, and the judge's words as claims about it."""

    def __init__(self, interaction: Interaction, spans: Sequence[Span], *, turns: int) -> None:
        self.ids = range(1, len(spans) + 1)
        self._interaction = interaction
        self._prompt = prompts.get("judge")
        self._spans = dict(zip(self.ids, spans, strict=True))
        self._history = interaction.history[-turns:] if turns else ()
        self._passages = {i: _Shown(p.text) for i, p in enumerate(interaction.contexts) if p.text.strip()}
        self._fence = fence(
            [
                interaction.question,
                interaction.answer,
                *(turn.text for turn in self._history),
                *(passage.text for passage in interaction.contexts),
            ]
        )

    def ask(self, ids: Sequence[int], *, again: bool) -> Complete:
        claims = "\n".join(f"{i}: {json.dumps(neutral(self._text(i)), ensure_ascii=False)}" for i in ids)
        user = self._prompt.fill(again=again, claims=self._fence.around("claims", claims), **self._material)
        return Complete(system=self._prompt.system, user=user)

    def read(self, ids: Sequence[int], reply: Reply) -> Mapping[int, Claim]:
        """The claims among ``ids`` that the reply says something usable of."""
        if not isinstance(reply, Completed):
            return {}
        try:
            replies = claim_replies(reply.texts[0])
        except UnreadableError:
            return {}
        read = {i: self._claim(i, replies[i]) for i in ids if i in replies}
        return {i: claim for i, claim in read.items() if claim is not None}

    def unverified(self, i: int) -> Claim:
        return Claim(
            text=self._text(i),
            span=self._spans[i],
            support=Support.UNVERIFIED,
            reason="The judge gave no usable verdict on this claim.",
        )

    @cached_property
    def _material(self) -> Mapping[str, str]:
        around = self._fence.around
        turns = [around(f"earlier turn by the {turn.role}", turn.text) for turn in self._history]
        question = self._interaction.question
        return {
            "code": self._fence.code,
            "question": "\n".join([*turns, around("question", question or "(it was not recorded)")]),
            "passages": "\n".join(
                around(f"passage {i + 1}", shown.text) for i, shown in self._passages.items()
            ),
            "answer": around("answer", self._interaction.answer),
        }

    def _claim(self, i: int, reply: ClaimReply) -> Claim | None:
        """The judge's words as a claim; None for support that it can't show."""
        support = Support(reply.support)
        evidence = self._evidence(reply.quote)
        if support is Support.SUPPORTED and not (evidence and self._bears(reply.quote, i)):
            return None
        return Claim(
            text=self._text(i),
            span=self._spans[i],
            support=support,
            score=reply.score,
            evidence=evidence,
            words=self._words(i, reply.words) if support.flagged else (),
            reason=neutral(reply.reason).strip(),
        )

    def _bears(self, quote: str, i: int) -> bool:
        """Whether a quotation says enough, and of what the claim speaks of, to be shown for it."""
        quoted, claimed = _content(quote), _content(self._text(i))
        readings = [claimed]
        if len(claimed) < _TELLING:
            readings.append(claimed | _content(self._interaction.question or ""))
        shared = [(len(quoted & said), len(said)) for said in readings]
        return any(n and (len(quoted) >= _TELLING or 2 * n > of) for n, of in shared)

    def _evidence(self, quote: str) -> tuple[Evidence, ...]:
        """The quotation in the first passage that holds all of it, else each part where it stands."""
        whole = self._cited(quote)
        if whole:
            return whole
        each = [self._cited(part) for part in parts(quote)]
        return tuple(evidence for cited in each for evidence in cited) if all(each) else ()

    def _cited(self, quote: str) -> tuple[Evidence, ...]:
        for i, passage in self._passages.items():
            if spans := passage.find(quote):
                return tuple(Evidence.cite(self._interaction, i, span) for span in spans)
        return ()

    def _words(self, i: int, words: Sequence[str]) -> tuple[Span, ...]:
        shown = _Shown(self._text(i))
        return tuple(span.shifted(self._spans[i].start) for word in words for span in shown.find(word))

    def _text(self, i: int) -> str:
        return self._spans[i].of(self._interaction.answer)


class _Shown:
    """A text as the judge saw it, without what can't be seen; what is found has its place in the original."""

    def __init__(self, original: str) -> None:
        self.text = neutral(original)
        self._original = original
        self._quotable = Quotable(self.text)

    def find(self, quote: str) -> list[Span]:
        spans = self._quotable.find(quote)
        if self.text == self._original:
            return spans
        return [Span(self._places[span.start], self._places[span.end - 1] + 1) for span in spans]

    @cached_property
    def _places(self) -> list[int]:
        return places(self._original)


def _content(text: str) -> set[str]:
    """The stems of the words that tell what a text is about."""
    return {stem(word) for word in map(fold, texts(text)) if word not in STOP_WORDS}


def _reason(claims: Sequence[Claim]) -> str:
    flagged = [claim for claim in claims if claim.support.flagged]
    if not flagged:
        return f"Supported: all of {len(claims)} claims."
    worst = max(flagged, key=lambda claim: claim.score or 0.0)
    return f"Not supported: {len(flagged)} of {len(claims)} claims. {worst.reason}".strip()


def _short(reply: Reply) -> str:
    text = " ".join(neutral(reply.texts[0]).split()) if isinstance(reply, Completed) else ""
    return text if len(text) <= _SHORT else text[:_SHORT] + " …"


_SHORT = 200
_TELLING = 3  # content words from which on a text says what it speaks of
