"""What models cost. Prices come from whoever pays them: none is built in that would go stale."""

from __future__ import annotations

import math
from dataclasses import dataclass

from groundwire.core.errors import ConfigurationError
from groundwire.core.verdict import Usage

_UNIT = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a million tokens cost, sent to a model and received from it, in a currency of your choice."""

    input: float
    output: float = 0.0

    def __post_init__(self) -> None:
        for name in ("input", "output"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not (math.isfinite(value) and value >= 0):
                raise ConfigurationError(f"price.{name}: expected a number from 0 on, not {value!r}")

    def of(self, usage: Usage) -> float:
        """The cost of the tokens in ``usage``."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / _UNIT
