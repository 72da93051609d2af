"""What the labels of a foreign model mean: read from its config, or told by who set it up, never guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

from groundwire.core.errors import ConfigurationError


class Meaning(IntEnum):
    """The three kinds of support that a reading weighs, in the order of its columns."""

    SUPPORTED = 0
    UNSUPPORTED = 1
    CONTRADICTED = 2


NAMES: Mapping[str, Meaning] = {meaning.name.lower(): meaning for meaning in Meaning}
"""What a user may say that a label means."""


def read(labels: Sequence[str], told: Mapping[str, str], *, model: str) -> tuple[Meaning, ...]:
    """The meaning of each label: as told, else as its name says.

    Raises ConfigurationError, naming the labels, where a meaning is left open, and where no label speaks for
    support or none against it.
    """
    if unknown := [name for name in told if name not in labels]:
        raise ConfigurationError(
            f"encoder {model!r} has no label {_listed(unknown)}: labels= may speak of {_listed(labels)}"
        )
    meanings = {label: NAMES[told[label]] if label in told else _named(label) for label in labels}
    if missing := [label for label, meaning in meanings.items() if meaning is None]:
        example = ", ".join(f"{label!r}: ..." for label in missing)
        raise ConfigurationError(
            f"encoder {model!r}: its config does not say what {_listed(missing)} means (its labels are "
            f"{_listed(labels)}): say so with labels={{{example}}}, each one of {_listed(NAMES)}, as the "
            "model's card has it"
        )
    known = tuple(meaning for meaning in meanings.values() if meaning is not None)
    if len(known) > 1 and (Meaning.SUPPORTED not in known or set(known) == {Meaning.SUPPORTED}):
        raise ConfigurationError(
            f"encoder {model!r}: of its labels {_listed(labels)}, one at least must mean 'supported' and one "
            "'unsupported' or 'contradicted'; correct labels="
        )
    return known


def _named(label: str) -> Meaning | None:
    plain = "".join(c for c in label.casefold() if c.isalnum())
    return _KNOWN.get(plain)


def _listed(names: Sequence[str] | Mapping[str, Meaning]) -> str:
    return ", ".join(map(repr, names))


# Without case, spaces and marks. A name is here only if it can't mean anything else.
_NAMED = {
    Meaning.SUPPORTED: (
        "consistent entailed entailment entails factual faithful grounded nonhallucinated nothallucinated "
        "supported supports"
    ),
    Meaning.UNSUPPORTED: (
        "hallucinated hallucination inconsistent neutral nonentailment notenoughinfo notentailment "
        "notsupported unfaithful ungrounded unsupported"
    ),
    Meaning.CONTRADICTED: "contradicted contradiction contradictory contradicts refuted refutes",
}
_KNOWN = {name: meaning for meaning, names in _NAMED.items() for name in names.split()}
