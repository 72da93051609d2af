"""The steps by which a figure is worked out from others, what each gives, and the words that speak of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from groundwire.text import conversion
from groundwire.text.fact import Fact, Kind
from groundwire.text.units import MAGNITUDES


class Step(StrEnum):
    """How a figure was worked out."""

    CONVERSION = "conversion"
    SUM = "sum"
    DIFFERENCE = "difference"
    PRODUCT = "product"
    QUOTIENT = "quotient"
    MEAN = "mean"
    SHARE = "share"
    PERIOD = "period"


@dataclass(frozen=True, kw_only=True, slots=True)
class Derived:
    """What a figure was worked out from, and ``said`` in signs: "2 × 30 EUR = 60 EUR"."""

    step: Step
    sources: tuple[Fact, ...]
    said: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a step gives, in the base unit, and how far from it a figure may be that was rounded.

    ``shown`` is how it is worked out, with a number in braces for each of its sources: "{1} × {0}".
    """

    step: Step
    value: float
    sources: tuple[Fact, ...]
    shown: str
    slack: float = 0.0

    def gives(self, fact: Fact, cents: float) -> bool:
        """Whether it is what the figure says, give or take its ``cents``.

        A conversion has been compared in its own way.
        """
        if self.step is Step.CONVERSION:
            return True
        room = max(_SAME * abs(self.value), self.slack, cents)
        return any(abs(value - self.value) <= room for value in fact.values or (self.value,))

    def of(self, fact: Fact) -> Derived:
        """The figure as worked out so."""
        exact = any(math.isclose(value, self.value, abs_tol=1e-9) for value in fact.values or (self.value,))
        sign, shown = "=" if exact else "≈", self.shown.format(*map(say, self.sources))
        return Derived(step=self.step, sources=self.sources, said=f"{shown} {sign} {say(fact)}")


# A figure of whole numbers is exact, however large it is: 901,830 is no sum of 49 and 901,820.
_SAME = 1e-9

# English words, and in other languages the surest.
_CUES = {
    Step.SUM: r"""totals? total+(?:ing|ed) altogether together combined in\sall sums? adds? added plus overall
        both zusammen insgesamt gesamt summe ensemble totale? somm[ae] juntos suma insieme juntas soma samen
        totaal""",
    Step.DIFFERENCE: r"""difference differs? more less fewer than remain(?:s|ed|ing|der)? left rest owes? owed
        f[ae]ll(?:s|en)? r[io]ses? rose risen drop(?:s|ped)? gr[eo]ws? grown increas(?:es?|ed|ing)
        decreas(?:es?|ed|ing) declin(?:es?|ed|ing) shr[aiu]nks? gain(?:s|ed)? los(?:t|es?|ing)
        sav(?:es?|ed|ings?) cheaper reduc(?:es?|ed|tion) cuts? discount(?:s|ed)? down
        minus subtract(?:s|ed|ing)? weniger mehr moins menos meno""",
    Step.PRODUCT: r"each per apiece times every multiplied je pro",
    Step.QUOTIENT: r"averag(?:e[sd]?|ing) each per apiece split shar(?:es?|ed|ing) divided every je pro",
    Step.MEAN: r"averag(?:e[sd]?|ing) mean durchschnitt\w* moyenne media",
    Step.PERIOD: r"""after before later earlier for last(?:s|ed|ing)? takes? took between from until till old
        aged? ago since runs? ran long existed within during over ends? ended open spans? nach vor
        dauert après""",
}
_WORDS = {step: re.compile(rf"\b(?:{'|'.join(words.split())})\b") for step, words in _CUES.items()}
_MAKES = frozenset({"make", "makes", "made", "come", "comes", "came", "adds", "amount", "amounts", "equals"})


def spoken_of(claim: str) -> frozenset[Step]:
    """The steps that a claim has a word for."""
    lowered = claim.lower()
    return frozenset(step for step, words in _WORDS.items() if words.search(lowered))


def tells(word: str, steps: Iterable[Step]) -> bool:
    """Whether a lower-case word says that such a step was taken, or goes with it: "make", "comes to"."""
    told = {*steps, *([Step.SUM] if Step.PRODUCT in steps else [])}
    return word in _MAKES or any(_WORDS[step].fullmatch(word) for step in told if step in _WORDS)


def added(*parts: Fact) -> Result:
    """The sum of figures."""
    return Result(Step.SUM, sum(part.values[0] for part in parts), parts, listed(" + ", parts))


def taken(a: Fact, b: Fact) -> Result:
    """What is left of the larger of two figures."""
    more, less = (a, b) if a.values[0] >= b.values[0] else (b, a)
    return Result(Step.DIFFERENCE, more.values[0] - less.values[0], (more, less), "{0} − {1}")


def times(a: Fact, *factors: Fact) -> Result:
    """A figure so many times."""
    value = a.values[0]
    for factor in factors:
        value *= factor.values[0]
    return Result(Step.PRODUCT, value, (a, *factors), "{1} × {0}" if len(factors) == 1 else "{1} × {2} × {0}")


def divided(fact: Fact, a: Fact, b: Fact, *, by: float) -> Result:
    """One figure by another, as exact as ``fact`` is written."""
    return Result(Step.QUOTIENT, a.values[0] / by, (a, b), "{0} ÷ {1}", rounding(fact))


def mean(fact: Fact, parts: Sequence[Fact]) -> Result:
    """The mean of figures, as exact as ``fact`` is written."""
    value = sum(part.values[0] for part in parts) / len(parts)
    return Result(Step.MEAN, value, tuple(parts), f"the mean of {listed(', ', parts)}", rounding(fact))


def parts(whole: Fact, share: Fact) -> Iterator[Result]:
    """A share of a figure, what it leaves, and what it makes when added."""
    part = whole.values[0] * share.values[0] * (0.01 if share.kind is Kind.PERCENT else 1.0)
    yield Result(Step.SHARE, part, (share, whole), "{0} of {1}")
    yield Result(Step.SHARE, whole.values[0] - part, (share, whole), "{1} − {0} of {1}")
    yield Result(Step.SHARE, whole.values[0] + part, (share, whole), "{1} + {0} of {1}")


def listed(sign: str, sources: Sequence[Fact]) -> str:
    """How a result is ``shown`` that all its sources make alike: "{0} + {1} + {2}"."""
    return sign.join(f"{{{at}}}" for at in range(len(sources)))


def cents(fact: Fact) -> float:
    """What an amount, measure or number may have been rounded by."""
    return rounding(fact) if fact.kind in (Kind.MONEY, Kind.MEASURE, Kind.NUMBER) else 0.0


def rounding(fact: Fact) -> float:
    """What a figure may have been rounded by, in the base unit: 0 without decimals, percentages aside."""
    times = many(fact)
    places = conversion.decimals(fact.text, fact.numbers[0] / times)
    if not places and fact.kind is not Kind.PERCENT:
        return 0.0
    return 0.5 * 10.0**-places * times * (fact.measure.factor if fact.measure else 1.0)


def many(fact: Fact) -> float:
    """The magnitude that a figure is written with: a million of "3.2 million", else 1."""
    return max((MAGNITUDES.get(word, 1.0) for word in _LETTERS.findall(fact.text.lower())), default=1.0)


_LETTERS = re.compile(r"[^\W\d_]+")


def say(fact: Fact) -> str:
    """A figure as it is written, on one line."""
    return " ".join(fact.text.split())
