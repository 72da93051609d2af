"""What prompt methods share: a question put to a model, read strictly, and put once more if need be.

The plans here are parts of others' plans. What is asked, and what a reply means, is each method's own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from groundwire.core.aggregation import Aggregation
from groundwire.core.claim import Claim, Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.example import Examples
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Complete, Completed, Failed, Plan, Reply
from groundwire.core.score import is_number
from groundwire.core.verdict import Abstention, AbstentionReason, DetectorSpec, Outcome, Verdict
from groundwire.detectors.statements import no_ground, share
from groundwire.prompts.message import Message, Quote, material, only
from groundwire.prompts.own_words import OwnWords
from groundwire.prompts.quoting import neutral
from groundwire.prompts.replies import UnreadableError
from groundwire.prompts.schemas import Schema
from groundwire.text.claims import cut

T = TypeVar("T")
_SHORT = 200  # characters of a reply that an abstention carries


@dataclass(frozen=True, kw_only=True)
class Ask(Generic[T]):
    """A message to a model, and how its reply is read. ``read`` raises UnreadableError for what it can't.

    ``schema`` is the form of the reply, for models that are held to one. Asked again, they are free of it.
    """

    message: Message
    read: Callable[[Completed], T]
    schema: Schema | None = None
    samples: int = 1
    temperature: float | None = None
    alternatives: int = 0

    def request(self) -> Complete:
        return self._request(again=False)

    def last(self, settled: Callable[[T], bool] = lambda _: True, *, again: bool = True) -> Complete:
        """The request for the last time, which mostly is the second: ``again``.

        A reply that can't be read, or whose result is not ``settled``, leaves it open: it is asked for anew
        when the same answer is judged again, whatever is remembered.
        """

        def settles(reply: Completed) -> bool:
            result = self.result(reply)
            return not isinstance(result, Failed) and settled(result)

        return replace(self._request(again=again), settles=settles)

    def _request(self, *, again: bool) -> Complete:
        system, user = self.message.write(again=again)
        return Complete(
            system=system,
            user=user,
            samples=self.samples,
            temperature=self.temperature,
            alternatives=self.alternatives,
            schema=None if again else self.schema,
        )

    def result(self, reply: Reply) -> T | Failed:
        if not isinstance(reply, Completed):
            return reply if isinstance(reply, Failed) else _unreadable("no text came back", reply)
        try:
            # What was cut off may hold a whole verdict all the same: one that it quotes.
            return self.read(replace(reply, texts=reply.whole))
        except UnreadableError as error:
            return _unreadable(str(error), reply)


def ask(one: Ask[T]) -> Plan[T | Failed]:
    """Ask, and once more where the reply can't be read. A request that failed is not repeated."""
    (reply,) = yield [one.request()]
    result = one.result(reply)
    if isinstance(result, Failed) and not isinstance(reply, Failed):
        (reply,) = yield [one.last()]
        result = one.result(reply)
    return result


def ask_each(
    ids: Sequence[int], asking: Callable[[Sequence[int]], Ask[Mapping[int, T]]], *, per_call: int
) -> Plan[tuple[Mapping[int, T], Failed | None]]:
    """What replies say of each of ``ids``, asked ``per_call`` at a time and all at once.

    Those that got no usable verdict are asked for once more. What is missing after that is missing from the
    result, with the last thing that went wrong beside it.
    """
    found: dict[int, T] = {}
    trouble: Failed | None = None
    left = list(ids)
    for again in (False, True):
        calls = [left[i : i + per_call] for i in range(0, len(left), per_call)]
        asked = [asking(call) for call in calls]
        replies = yield [
            one.last(set(call).issubset) if again else one.request()
            for one, call in zip(asked, calls, strict=True)
        ]
        left = []
        for call, one, reply in zip(calls, asked, replies, strict=True):
            result = one.result(reply)
            read = {} if isinstance(result, Failed) else {i: result[i] for i in call if i in result}
            found |= read
            if len(read) < len(call):
                trouble = result if isinstance(result, Failed) else _unreadable(_LACKING, reply)
            if not isinstance(reply, Failed):  # whoever performs requests has tried what can be tried
                left += [i for i in call if i not in read]
        if not left:
            break
    return found, trouble if len(found) < len(ids) else None


@dataclass(frozen=True, kw_only=True)
class PromptDetector(Detector):
    """A method that is made of prompts: their words can be replaced, and reviewed examples shown.

    ``examples`` are put before the model with the prompt that judges. ``prompts`` has own words for those
    named in ``uses``; the texts that are judged stay quoted in them, and the form of the reply stays ours.
    ``turns`` is how much of the earlier conversation is shown. Raises ConfigurationError naming every
    parameter that can't work.
    """

    needs_model: ClassVar[bool] = True
    uses: ClassVar[tuple[str, ...]] = ()

    examples: Examples = field(default_factory=Examples)
    prompts: OwnWords = field(default_factory=OwnWords)
    turns: int = 6

    def __post_init__(self) -> None:
        problems = self.problems()
        if problems:
            raise ConfigurationError(*problems)

    def problems(self) -> list[str]:
        """What is wrong with the parameters. Those that a settings file has as lists and texts are built."""
        problems: list[str] = []
        for name, kind in (("examples", Examples), ("prompts", OwnWords)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                try:
                    object.__setattr__(self, name, kind(value))  # frozen: only the constructor may set
                except ConfigurationError as error:
                    problems += error.problems
                except TypeError:
                    problems.append(f"{name}: {type(value).__name__} can't be read")
        if isinstance(self.prompts, OwnWords):
            problems += self.prompts.problems(self.uses)
        if not isinstance(self.grading, Grading):
            problems.append(f"grading must be a Grading, not {type(self.grading).__qualname__}")
        return problems + whole_numbers(self, turns=0)

    def message(
        self,
        name: str,
        quotes: Mapping[str, Sequence[Quote]],
        *,
        words: Mapping[str, str] | None = None,
        judges: bool = False,
    ) -> Message:
        """The message by the prompt of that name, filled with what it has names for.

        A prompt that ``judges`` shows the examples, but never the answer that is judged as one of them.
        """
        prompt = self.prompts.get(name)
        shown = self.examples if judges else Examples()
        if shown:
            texts = dict(one for part in ("question", "answer") for one in quotes.get(part, ()))
            shown = shown.without(texts.get("question", ""), texts.get("answer", ""))
        return Message(
            prompt=prompt,
            quotes=only(quotes, prompt.names),
            words=words or {},
            examples=shown,
        )

    def material(self, interaction: Interaction) -> dict[str, Sequence[Quote]]:
        return material(interaction, turns=self.turns)

    def refusal(self, interaction: Interaction) -> Abstention | None:
        """Why there is nothing to judge, or nothing to judge it by; None when there is."""
        return no_ground(interaction, cut(interaction.answer), self)

    def failed(self, failed: Failed, *, what: str = "") -> Abstention:
        """The abstention that a failure comes to; ``what`` says of what."""
        return self.abstain(failed.reason, f"{what}: {failed.detail}" if what else failed.detail)


class _Aggregates(Protocol):
    """A detector whose claims become one score."""

    @property
    def aggregation(self) -> Aggregation: ...
    @property
    def grading(self) -> Grading: ...
    @property
    def spec(self) -> DetectorSpec: ...
    def failed(self, failed: Failed, *, what: str = "") -> Abstention: ...


def concluded(
    detector: _Aggregates, claims: Sequence[Claim], trouble: Failed | None, *, noun: str, reason: str
) -> Outcome:
    """The verdict on claims, or an abstention where ``trouble`` left some unverified and no flag decides."""
    score = detector.aggregation(claims)
    if trouble and (score is None or score < detector.grading.threshold):
        unverified = sum(claim.support is Support.UNVERIFIED for claim in claims)
        return detector.failed(trouble, what=f"{share(unverified, len(claims), noun)} got no usable verdict")
    assert score is not None, "without trouble every claim has a verdict"
    return Verdict.graded(
        score, detector.grading, raw=score, claims=tuple(claims), reason=reason, detector=detector.spec
    )


def whole_numbers(detector: Any, **least: int) -> list[str]:
    """What is wrong with the parameters of these names, each a whole number from its least on."""
    problems = []
    for name, lowest in least.items():
        value = getattr(detector, name)
        if type(value) is not int:  # True is an int, too
            problems.append(f"{name} must be a whole number, not {type(value).__qualname__}")
        elif value < lowest:
            problems.append(f"{name} must be at least {lowest}, not {value}")
    return problems


def not_warm(temperature: Any) -> list[str]:
    """What is wrong with the temperature of samples that have to differ."""
    if is_number(temperature) and 0 < temperature < math.inf:
        return []
    return [f"temperature must be a number above 0, not {temperature!r}"]


def no_examples(detector: PromptDetector) -> list[str]:
    """What is wrong with examples that a method has no place for."""
    shown = isinstance(detector.examples, Examples) and len(detector.examples)
    return [f"examples: the {detector.name!r} detector shows none, so give it none"] if shown else []


def listed(texts: Mapping[int, str]) -> str:
    """Numbered texts, one a line: each as a JSON string, so that none can look like the next."""
    return "\n".join(f"{i}: {json.dumps(neutral(text), ensure_ascii=False)}" for i, text in texts.items())


def clean(text: str) -> str:
    """A model's own words on one line, without what a reader can't see."""
    return " ".join(neutral(text).split())


def _unreadable(why: str, reply: Reply) -> Failed:
    text = clean(reply.texts[0]) if isinstance(reply, Completed) and reply.texts else ""
    shown = text if len(text) <= _SHORT else text[:_SHORT] + " …"
    stopped = filter(None, reply.stopped) if isinstance(reply, Completed) else ()
    why = next(iter(stopped), why)  # which is the reason for whatever is wrong with its words
    return replace(_UNREADABLE, detail=f"{why}; the last reply was {shown!r}")


_LACKING = "it leaves some out, or says nothing of them that can be read"
_UNREADABLE = Failed(reason=AbstentionReason.UNREADABLE_REPLY)
