"""The detector protocol: frozen parameters, and a plan from an interaction to an outcome."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Plan
from groundwire.core.verdict import Abstention, AbstentionReason, DetectorSpec, Outcome


@dataclass(frozen=True, kw_only=True)
class Detector(ABC):
    """One method. Subclasses are frozen dataclasses whose fields are their parameters, and nothing else.

    ``name`` is the registered name; ``version`` changes whenever the same parameters may judge
    differently; ``needs_model`` says that plans ask a language model, so that a checker whose judge has none
    is refused when it is built; ``needs_encoder`` says that they ask an encoder on this machine, which every
    checker has.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    needs_model: ClassVar[bool] = False
    needs_encoder: ClassVar[bool] = False

    grading: Grading = Grading()

    @property
    def needs_embeddings(self) -> bool:
        """Whether plans ask an embedding model, so that a judge without one is refused as well."""
        return False

    @property
    def needs_judge(self) -> bool:
        """Whether plans ask a judge's models, of either kind."""
        return self.needs_model or self.needs_embeddings

    @property
    def takes_model(self) -> bool:
        """Whether a judge's models would be asked anything: needed, or of use where there are any."""
        return self.needs_judge

    @property
    def models(self) -> frozenset[str]:
        """The names of the judge's further models that plans ask; see ``Judge``."""
        return frozenset()

    def lacking(self, judge: object | None) -> list[str]:
        """The kinds of model that plans ask, and that this judge, or the settings of one, has none of."""
        there = judge is not None  # whoever does not say what it has is taken to have it
        lacks = {
            "a language model": self.needs_model and not getattr(judge, "completes", there),
            "an embedding model": self.needs_embeddings and not getattr(judge, "embeds", there),
        }
        return [kind for kind, missing in lacks.items() if missing]

    def beside(self, judge: object | None) -> Detector:
        """The detector as it works with this judge, or settings of one, or without any; itself, for most."""
        del judge
        return self

    @abstractmethod
    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """The plan that judges one interaction. Pure: it may be run any number of times, anywhere."""

    def load(self) -> None:  # noqa: B027 - most detectors have nothing to load
        """Load what judging needs, now rather than at the first answer. Doing it again costs nothing."""

    def abstain(self, why: AbstentionReason, detail: str) -> Abstention:
        """The outcome of an answer that it could not judge: why, and in words."""
        return Abstention(why=why, detail=detail, detector=self.spec)

    @property
    def spec(self) -> DetectorSpec:
        """The name, version and parameters, as every outcome carries them.

        A field with ``repr=False`` is no parameter: that is where a detector of one's own keeps a key.
        """
        told = (f.name for f in fields(self) if f.repr and f.name != "grading")
        return DetectorSpec(
            name=self.name, version=self.version, parameters={name: getattr(self, name) for name in told}
        )
