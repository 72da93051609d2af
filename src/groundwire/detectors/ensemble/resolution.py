"""How votes on one claim become a support and a score: a rule a class, each blind to the order of votes.

Votes alone: which claims are the same is ``reduction``'s business, and what the answer's score is belongs to
``core.aggregation``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from groundwire.core.claim import LABELS, Support, Vote
from groundwire.core.dawid_skene import DawidSkene, fit
from groundwire.core.errors import ConfigurationError
from groundwire.core.score import check_score

GROUNDED = frozenset({Support.SUPPORTED, Support.INFERRED})
_SURE = 0.99  # nobody is believed to be right more often


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """What votes come to; the score is at least 0.5 exactly where the claim is not grounded."""

    support: Support
    score: float


class Resolution(ABC):
    """A rule from votes to a support and a score.

    Votes that can't be used have been left out, there is at least one, and no oracle has two. ``grounded``
    are the supports that count as grounded.
    """

    by: ClassVar[str]

    @abstractmethod
    def __call__(self, votes: Sequence[Vote], grounded: frozenset[Support]) -> Decided: ...

    def problems(self, oracles: Sequence[str]) -> list[str]:
        """What is wrong with it for the votes of these oracles."""
        del oracles
        return []


class Weighing(Resolution):
    """Rules that weigh each vote, and add up.

    A claim is grounded only where its heaviest grounded support outweighs every other one, and grounded
    supports together outweigh the others together: so a strict majority for one support always has it, and
    every tie goes to the more severe. Among the supports of the side that won, the heaviest is the claim's; a
    tie, again, goes to the more severe. The score is the other side's share, by single supports or all
    together, whichever is more.
    """

    @abstractmethod
    def weight(self, vote: Vote) -> float:
        """How much a vote counts, from 0 on."""

    def __call__(self, votes: Sequence[Vote], grounded: frozenset[Support]) -> Decided:
        weights = [self.weight(vote) for vote in votes]
        if not any(weights):
            weights = [1.0] * len(votes)
        # fsum rounds once, so that the order of the votes can't decide a tie.
        totals = {
            label: math.fsum(w for vote, w in zip(votes, weights, strict=True) if vote.support is label)
            for label in LABELS
        }
        return _weighed(totals, grounded)


def _weighed(totals: Mapping[Support, float], grounded: frozenset[Support]) -> Decided:
    sides = [
        [label for label in LABELS if label in grounded],
        [label for label in LABELS if label not in grounded],
    ]
    alone = [max((totals[label] for label in side), default=0.0) for side in sides]
    whole = [math.fsum(totals[label] for label in side) for side in sides]
    score = max(bad / (good + bad) for good, bad in (alone, whole))
    side = sides[score >= 0.5]
    return Decided(support=max(side, key=lambda label: (totals[label], label.severity)), score=score)


@dataclass(frozen=True, kw_only=True)
class Majority(Weighing):
    """Every oracle counts the same."""

    by: ClassVar[str] = "majority"

    def weight(self, vote: Vote) -> float:
        del vote
        return 1.0


@dataclass(frozen=True, kw_only=True)
class Confidence(Weighing):
    """Every vote counts as much as its oracle was sure; one that does not tell counts ``unknown``.

    Assumes that oracles mean the same by their confidence. Verbalised confidences are not calibrated.
    """

    by: ClassVar[str] = "confidence"

    unknown: float = 0.5

    def __post_init__(self) -> None:
        check_score("unknown", self.unknown)

    def weight(self, vote: Vote) -> float:
        return self.unknown if vote.confidence is None else vote.confidence


@dataclass(frozen=True, kw_only=True)
class Weighted(Weighing):
    """Every vote counts by how often its oracle was found right: the log-odds of that against a guess.

    ``reliabilities`` are the shares of right votes by the oracles' names; the name of an oracle with several
    readings stands for all of them. An oracle that is not named counts as the mean of those that are; one
    that is right no more often than a guess counts nothing.

    Source: the weights that make the best vote of independent judges (Nitzan and Paroush, 1982), for four
    labels. Oracles that are equally reliable give a majority vote.
    """

    by: ClassVar[str] = "weighted"

    reliabilities: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.reliabilities, Mapping):
            told = type(self.reliabilities).__qualname__
            raise TypeError(f"reliabilities must be a table of shares by oracle, not a {told}")
        for name, value in self.reliabilities.items():
            check_score(f"reliabilities[{name!r}]", value)

    def problems(self, oracles: Sequence[str]) -> list[str]:
        """None named, or one that doesn't vote: mistyped, an oracle would count as the mean of the others."""
        if not self.reliabilities:
            return ["resolution: 'weighted' needs reliabilities, the share of right votes by oracle"]
        voting = dict.fromkeys((*map(base_name, oracles), *oracles))
        there = ", ".join(voting)
        return [
            f"resolution: reliabilities name {name!r}, and no oracle is called so: there are {there}"
            for name in self.reliabilities
            if name not in voting
        ]

    def weight(self, vote: Vote) -> float:
        known = self.reliabilities
        mean = math.fsum(known.values()) / len(known) if known else _SURE
        right = min(_SURE, known.get(vote.oracle, known.get(base_name(vote.oracle), mean)))
        guess = 1 / len(LABELS)
        return math.log((1 / guess - 1) * right / (1 - right)) if right > guess else 0.0


@dataclass(frozen=True, kw_only=True)
class Bayesian(Resolution):
    """What is most likely true, by a model of who takes what for what: Dawid and Skene's.

    ``oracles`` are the names that ``model`` knows, in its order; votes of others take no part. The score is
    the posterior probability that the claim is not grounded: from 0.5 on the claim gets the likeliest support
    that is not grounded, and below it the likeliest that is. Fitted by ``fit_votes`` from claims that were
    voted on before, without labels or with reviewed ones.

    Source: Dawid and Skene, 1979. Known failure: oracles that copy each other are believed too much.
    """

    by: ClassVar[str] = "dawid_skene"

    model: DawidSkene
    oracles: tuple[str, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.model, DawidSkene):
            object.__setattr__(self, "model", DawidSkene.from_dict(self.model))  # as settings files have it
        object.__setattr__(self, "oracles", tuple(self.oracles))
        if len(self.oracles) != len(self.model.confusion) or len(self.model.prior) != len(LABELS):
            raise ValueError(
                f"the model is of {len(self.model.confusion)} oracles and {len(self.model.prior)} labels, "
                f"not of {len(self.oracles)} and {len(LABELS)}"
            )

    def problems(self, oracles: Sequence[str]) -> list[str]:
        """A model that knows none of those who vote."""
        if set(oracles) & set(self.oracles):
            return []
        return [f"resolution: the model knows {', '.join(self.oracles)}, and none of them is an oracle here"]

    def __call__(self, votes: Sequence[Vote], grounded: frozenset[Support]) -> Decided:
        said = {vote.oracle: vote.support.severity for vote in votes}
        if not said.keys() & set(self.oracles):
            return Majority()(votes, grounded)  # nobody whom the model knows has voted
        (chances,) = self.model.posterior([[said.get(name, -1) for name in self.oracles]]).tolist()
        score = min(
            1.0, math.fsum(p for label, p in zip(LABELS, chances, strict=True) if label not in grounded)
        )
        side = [label for label in LABELS if (label in grounded) == (score < 0.5)]
        return Decided(
            support=max(side, key=lambda label: (chances[label.severity], label.severity)), score=score
        )


def fit_votes(
    claims: Iterable[Sequence[Vote | Mapping[str, Any]]],
    *,
    known: Sequence[Support | None] | None = None,
    smoothing: float = 1.0,
) -> Bayesian:
    """A Bayesian rule from claims that were voted on: the ``votes`` of verdicts' claims, or the wire's.

    ``known`` are reviewed supports, one a claim, None where nobody reviewed it; without any, the oracles'
    agreement is all there is. Raises ValueError without votes. See ``core.dawid_skene.fit``.
    """
    tables = [dict(map(_told, votes)) for votes in claims]
    oracles = tuple(sorted({name for table in tables for name in table}))
    if not oracles:
        raise ValueError("nothing can be fitted: no claim has a vote")
    reviewed = None if known is None else [-1 if one is None else one.severity for one in known]
    rows = [[table.get(name, -1) for name in oracles] for table in tables]
    return Bayesian(model=fit(rows, labels=len(LABELS), known=reviewed, smoothing=smoothing), oracles=oracles)


def _told(vote: Vote | Mapping[str, Any]) -> tuple[str, int]:
    """An oracle's name, and how severe its vote is."""
    if isinstance(vote, Mapping):
        return vote["oracle"], Support(vote["support"]).severity
    return vote.oracle, vote.support.severity


def base_name(oracle: str) -> str:
    """The name of an oracle without the number of its reading."""
    name, slash, number = oracle.rpartition("/")
    return name if slash and number.isdigit() else oracle


_RULES: Mapping[str, type[Resolution]] = {
    rule.by: rule for rule in (Majority, Confidence, Weighted, Bayesian)
}


def read_resolution(given: Any) -> Resolution:
    """A rule from what a settings file has: its name, or ``{by: name, ...}`` with its parameters.

    Raises ConfigurationError for anything else.
    """
    if isinstance(given, Resolution):
        return given
    parameters = {"by": given} if isinstance(given, str) else given
    if not isinstance(parameters, Mapping) or str(parameters.get("by")) not in _RULES:
        told = repr(given) if isinstance(given, str) and len(given) <= 16 else type(given).__name__
        raise ConfigurationError(f"resolution: expected one of {', '.join(_RULES)}, or 'by' one, not {told}")
    rule = _RULES[str(parameters["by"])]
    named = {key: value for key, value in parameters.items() if key != "by"}
    known = [f.name for f in fields(rule)]  # type: ignore[arg-type]  # every rule is a dataclass
    if unknown := sorted(set(named) - set(known)):
        raise ConfigurationError(
            f"resolution: {rule.by!r} has no {unknown[0]!r}; expected one of {', '.join(known) or 'nothing'}"
        )
    try:
        return rule(**named)
    except (TypeError, KeyError, ValueError) as error:
        raise ConfigurationError(f"resolution: {error}") from error
