"""Masking what nobody should keep: keys, e-mail addresses, card numbers, or whatever a hook finds.

A masked text has the length it had, so that every span of a verdict still holds. Masking fails closed: a hook
that raises, or that changes a length, leaves nothing of the text to be read. Nothing here stores or sends.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from groundwire.core.claim import Claim, Evidence
from groundwire.core.errors import ConfigurationError
from groundwire.core.interaction import Interaction
from groundwire.core.plain import plain
from groundwire.core.verdict import Abstention, Outcome

_LOG = logging.getLogger(__name__)

MASK = "█"

Redact = Callable[[str], str]
"""A hook: a text in, a text of the same length out."""

_CARD = re.compile(r"(?<![\d.,-])\d(?:[ -]?\d){12,18}(?![\d-])")
SUPPLIED: Mapping[str, tuple[re.Pattern[str], ...]] = {
    "keys": (
        re.compile(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*+(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
        ),
        re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        re.compile(r"\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs]|hf|AIza|npm)[-_]?[\w-]{16,}+"),
        re.compile(r"\beyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*+"),
        re.compile(r"(?i)(?<=bearer )[\w.~+/=-]{16,}+"),
        re.compile(
            r"(?i)(?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d)[\"']?\s{0,3}[:=]\s{0,3}[\"']?[^\s\"',;]{8,}+"
        ),
    ),
    "emails": (re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),),
    "cards": (_CARD,),
}


@dataclass(frozen=True)
class Redaction:
    """A hook that masks what its patterns find: supplied ones by name, or regular expressions of one's own.

    "keys" are API keys, tokens, private keys and passwords with their names; "emails" are addresses; "cards"
    are 13 to 19 digits that pass the Luhn check. Raises ConfigurationError for a name that is none of these.

    >>> Redaction("emails")("Write to ann@example.com.")
    'Write to ███████████████.'
    """

    patterns: tuple[str | re.Pattern[str], ...]

    def __init__(self, *patterns: str | re.Pattern[str]) -> None:
        unknown = [p for p in patterns if not isinstance(p, re.Pattern) and p not in SUPPLIED]
        if unknown or not patterns:
            raise ConfigurationError(
                f"Redaction takes {', '.join(map(repr, SUPPLIED))} and compiled regular expressions, "
                f"not {', '.join(map(repr, unknown)) or 'nothing'}"
            )
        object.__setattr__(self, "patterns", tuple(patterns))

    def __call__(self, text: str) -> str:
        for pattern in self.patterns:
            for one in (pattern,) if isinstance(pattern, re.Pattern) else SUPPLIED[pattern]:
                text = one.sub(_masked_card if one is _CARD else _masked, text)
        return text


def masked(redact: Redact, text: str) -> str:
    """The text as ``redact`` leaves it; masked whole where that fails or would change its length."""
    try:
        result = redact(text)
    except Exception as error:  # what could not be redacted must not be kept as it is
        _LOG.warning("the redaction hook failed (%s): the whole text is masked", type(error).__name__)
        return MASK * len(text)
    if not isinstance(result, str) or len(result) != len(text):
        _LOG.warning("the redaction hook changed the length of a text: the whole text is masked")
        return MASK * len(text)
    return result


def may_be(masked_text: str, text: str) -> bool:
    """Whether a text, masked or not, may be this one: it is as long, and alike where it is not masked."""
    return len(masked_text) == len(text) and all(
        one in {MASK, other} for one, other in zip(masked_text, text, strict=True)
    )


def masked_interaction(redact: Redact, interaction: Interaction) -> Interaction:
    """The interaction with every text masked; ids are left, for they are what it is found by."""
    return Interaction(
        question=masked(redact, interaction.question),
        contexts=[
            replace(p, text=masked(redact, p.text), metadata=_masked_value(redact, plain(p.metadata)))
            for p in interaction.contexts
        ],
        answer=masked(redact, interaction.answer),
        history=[replace(turn, text=masked(redact, turn.text)) for turn in interaction.history],
        id=interaction.id,
        metadata=_masked_value(redact, plain(interaction.metadata)),
    )


def masked_outcome(redact: Redact, outcome: Outcome, seen: Interaction | None) -> Outcome:
    """The outcome with every text masked, quotations as in ``seen``, the masked interaction it is about."""
    route, degraded = outcome.route, outcome.degraded
    if route is not None:  # why a stage could not judge may quote its model's reply
        stages = tuple(replace(one, detail=masked(redact, one.detail)) for one in route.stages)
        route = replace(route, stages=stages)
    if isinstance(outcome, Abstention):
        return replace(outcome, detail=masked(redact, outcome.detail), route=route)
    if degraded is not None:
        degraded = replace(degraded, reason=masked(redact, degraded.reason))
    claims = tuple(_masked_claim(redact, claim, seen) for claim in outcome.claims)
    return replace(
        outcome, reason=masked(redact, outcome.reason), claims=claims, route=route, degraded=degraded
    )


def _masked_claim(redact: Redact, claim: Claim, seen: Interaction | None) -> Claim:
    # Cut from the masked whole: what was found there may reach beyond a claim, or a quotation.
    inside = seen is not None and claim.span.end <= len(seen.answer)
    return replace(
        claim,
        text=claim.span.of(seen.answer) if seen is not None and inside else masked(redact, claim.text),
        reason=masked(redact, claim.reason),
        statement=masked(redact, claim.statement),
        evidence=tuple(_masked_evidence(redact, evidence, seen) for evidence in claim.evidence),
    )


def _masked_evidence(redact: Redact, evidence: Evidence, seen: Interaction | None) -> Evidence:
    if seen is not None and evidence.passage < len(seen.contexts):
        text = seen.contexts[evidence.passage].text
        if evidence.span.end <= len(text):
            return replace(evidence, quote=evidence.span.of(text))
    return replace(evidence, quote=masked(redact, evidence.quote))


def _masked_value(redact: Redact, value: Any, name: str = "") -> Any:
    """A value as ``plain`` tells it, with its texts masked: what has no form in JSON is a text there, too.

    A text is masked by itself, and after its name: many a password is known by nothing else.
    """
    if isinstance(value, str):
        named = f"{name}: "
        return masked(redact, named + masked(redact, value))[len(named) :]
    if isinstance(value, dict):
        return {key: _masked_value(redact, item, key) for key, item in value.items()}
    return [_masked_value(redact, item, name) for item in value] if isinstance(value, list) else value


def _masked(match: re.Match[str]) -> str:
    return MASK * len(match[0])


def _masked_card(match: re.Match[str]) -> str:
    digits = [int(c) for c in reversed(match[0]) if c.isdigit()]
    doubled = (d if i % 2 == 0 else d * 2 - 9 * (d > 4) for i, d in enumerate(digits))
    return _masked(match) if sum(doubled) % 10 == 0 else match[0]
