"""groundwire tells a RAG application, on every answer, whether the retrieved documents support it.

Importing this package loads no framework, opens no socket and reads no environment: each name below is
fetched from its own module the first time it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from groundwire.core.version import VERSION

if TYPE_CHECKING:
    from groundwire import detectors as detectors
    from groundwire.checker import Checker as Checker
    from groundwire.checker import acheck as acheck
    from groundwire.checker import check as check
    from groundwire.checker import check_many as check_many
    from groundwire.core.claim import Claim as Claim
    from groundwire.core.claim import Evidence as Evidence
    from groundwire.core.claim import Kind as Kind
    from groundwire.core.claim import Support as Support
    from groundwire.core.detector import Detector as Detector
    from groundwire.core.errors import ConfigurationError as ConfigurationError
    from groundwire.core.errors import GroundwireError as GroundwireError
    from groundwire.core.errors import InputError as InputError
    from groundwire.core.errors import MissingExtraError as MissingExtraError
    from groundwire.core.grading import Grading as Grading
    from groundwire.core.grading import Level as Level
    from groundwire.core.grading import Wording as Wording
    from groundwire.core.interaction import Interaction as Interaction
    from groundwire.core.interaction import Passage as Passage
    from groundwire.core.interaction import Role as Role
    from groundwire.core.interaction import Turn as Turn
    from groundwire.core.span import Span as Span
    from groundwire.core.verdict import Abstention as Abstention
    from groundwire.core.verdict import AbstentionReason as AbstentionReason
    from groundwire.core.verdict import DetectorSpec as DetectorSpec
    from groundwire.core.verdict import Outcome as Outcome
    from groundwire.core.verdict import Usage as Usage
    from groundwire.core.verdict import Verdict as Verdict
    from groundwire.judge.judge import Judge as Judge
    from groundwire.policy import AbstainedError as AbstainedError
    from groundwire.policy import OnAbstention as OnAbstention
    from groundwire.policy import Policy as Policy

__version__ = VERSION

_HOMES = {
    "groundwire.checker": ("Checker", "acheck", "check", "check_many"),
    "groundwire.core.claim": ("Claim", "Evidence", "Kind", "Support"),
    "groundwire.core.detector": ("Detector",),
    "groundwire.core.errors": (
        "ConfigurationError",
        "GroundwireError",
        "InputError",
        "MissingExtraError",
    ),
    "groundwire.core.grading": ("Grading", "Level", "Wording"),
    "groundwire.core.interaction": ("Interaction", "Passage", "Role", "Turn"),
    "groundwire.core.span": ("Span",),
    "groundwire.core.verdict": (
        "Abstention",
        "AbstentionReason",
        "DetectorSpec",
        "Outcome",
        "Usage",
        "Verdict",
    ),
    "groundwire.judge.judge": ("Judge",),
    "groundwire.policy": ("AbstainedError", "OnAbstention", "Policy"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AbstainedError",
    "Abstention",
    "AbstentionReason",
    "Checker",
    "Claim",
    "ConfigurationError",
    "Detector",
    "DetectorSpec",
    "Evidence",
    "Grading",
    "GroundwireError",
    "InputError",
    "Interaction",
    "Judge",
    "Kind",
    "Level",
    "MissingExtraError",
    "OnAbstention",
    "Outcome",
    "Passage",
    "Policy",
    "Role",
    "Span",
    "Support",
    "Turn",
    "Usage",
    "Verdict",
    "Wording",
    "__version__",
    "acheck",
    "check",
    "check_many",
    "detectors",
]


if not TYPE_CHECKING:  # which would take any name for one

    def __getattr__(name: str) -> Any:
        if name == "detectors":
            return import_module("groundwire.detectors")
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value  # the next look-up finds it without asking here
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
