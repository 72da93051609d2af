"""Detectors that are made of others: what they ask of a judge, and of this machine, is what their parts ask.

How parts are put together, and what their outcomes come to, is each one's own business.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.core.detector import Detector


@dataclass(frozen=True, kw_only=True)
class Combined(Detector):
    """A detector of ``parts``; those that are ``needed`` judge whatever a judge can answer."""

    @property
    @abstractmethod
    def parts(self) -> Sequence[Detector]: ...

    @property
    def needed(self) -> Sequence[Detector]:
        return self.parts

    @property
    def needs_model(self) -> bool:  # type: ignore[override]  # what it is made of decides
        return any(one.needs_model for one in self.needed)

    @property
    def needs_encoder(self) -> bool:  # type: ignore[override]  # likewise
        return any(one.needs_encoder for one in self.parts)

    @property
    def needs_embeddings(self) -> bool:
        return any(one.needs_embeddings for one in self.needed)

    @property
    def takes_model(self) -> bool:
        return self.needs_judge or any(one.takes_model for one in self.parts)

    @property
    def models(self) -> frozenset[str]:
        return frozenset[str]().union(*(one.models for one in self.parts))

    def load(self) -> None:
        for one in self.parts:
            one.load()
