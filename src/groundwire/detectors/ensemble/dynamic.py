"""When an ensemble has heard enough: how many oracles an answer gets, and at most what for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from groundwire.core.errors import ConfigurationError
from groundwire.core.interaction import Interaction
from groundwire.core.score import score_problems


@dataclass(frozen=True, kw_only=True)
class Dynamic:
    """Oracles asked one after the other, in their order, until others would not change the outcome.

    That is so where every claim is unanimous and each vote at least ``sure``; or where the oracles that are
    left could not turn the answer's verdict if all of them voted against it (claims that only they would
    bring up aside). ``first`` are asked in any case; answers of more than ``longer_than`` characters get all
    oracles. ``domains`` has the least number of oracles for interactions with that ``metadata["domain"]``.
    None is added once so many ``calls`` were made for the answer.
    """

    first: int = 1
    sure: float = 0.9
    longer_than: int | None = None
    domains: Mapping[str, int] = field(default_factory=dict)
    calls: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.domains, Mapping):
            raise ConfigurationError(
                "domains must be a table of the least number of oracles by domain, "
                f"not a {type(self.domains).__qualname__}"
            )
        numbers = {"first": self.first, **{f"domains.{name}": least for name, least in self.domains.items()}}
        problems = [
            f"{name} must be a whole number from 1 on, not {value!r}"
            for name, value in numbers.items()
            if type(value) is not int or value < 1
        ]
        problems += [
            f"{name} must be a whole number from 0 on, not {value!r}"
            for name, value in (("longer_than", self.longer_than), ("calls", self.calls))
            if value is not None and (type(value) is not int or value < 0)
        ]
        problems += score_problems(sure=self.sure)
        if problems:
            raise ConfigurationError(*problems)

    def at_once(self, interaction: Interaction, oracles: int) -> int:
        """How many oracles are asked at first."""
        if self.longer_than is not None and len(interaction.answer) > self.longer_than:
            return oracles
        wanted = self.domains.get(str(interaction.metadata.get("domain")), self.first)
        return min(oracles, max(wanted, self.first))
