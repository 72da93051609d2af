"""The detection methods, one a file, each registered by name.

A detector is parameters and a plan. Clients, clocks, caches and results live elsewhere. What other packages
bring is known by its name as well; no name of ours can be taken.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING, Any

from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError

if TYPE_CHECKING:
    from groundwire.detectors.answer_relevancy import AnswerRelevancy as AnswerRelevancy
    from groundwire.detectors.bedrock_grounding import BedrockGrounding as BedrockGrounding
    from groundwire.detectors.cascade.cascade import Cascade as Cascade
    from groundwire.detectors.context_utilization import ContextUtilization as ContextUtilization
    from groundwire.detectors.contradiction import Contradiction as Contradiction
    from groundwire.detectors.embedded import Embedded as Embedded
    from groundwire.detectors.encoder import EncoderDetector as EncoderDetector
    from groundwire.detectors.ensemble.claim_ensemble import ClaimEnsemble as ClaimEnsemble
    from groundwire.detectors.faithfulness import Faithfulness as Faithfulness
    from groundwire.detectors.g_eval import GEval as GEval
    from groundwire.detectors.judge import JudgeDetector as JudgeDetector
    from groundwire.detectors.level import LevelDetector as LevelDetector
    from groundwire.detectors.lexical import Lexical as Lexical
    from groundwire.detectors.self_eval import SelfEval as SelfEval
    from groundwire.detectors.semantic import Semantic as Semantic
    from groundwire.detectors.stacked import Stacked as Stacked
    from groundwire.detectors.stochastic import Stochastic as Stochastic
    from groundwire.detectors.token import TokenOverlap as TokenOverlap
    from groundwire.detectors.trustworthiness import Trustworthiness as Trustworthiness

DEFAULT = "embedded"
"""The detector that is meant where none is named: offline, and without a key."""

# name -> where it lives, so that asking for one detector never imports another's dependencies
_REGISTERED = {
    "answer_relevancy": "groundwire.detectors.answer_relevancy:AnswerRelevancy",
    "bedrock_grounding": "groundwire.detectors.bedrock_grounding:BedrockGrounding",
    "cascade": "groundwire.detectors.cascade.cascade:Cascade",
    "claim_ensemble": "groundwire.detectors.ensemble.claim_ensemble:ClaimEnsemble",
    "context_utilization": "groundwire.detectors.context_utilization:ContextUtilization",
    "contradiction": "groundwire.detectors.contradiction:Contradiction",
    "embedded": "groundwire.detectors.embedded:Embedded",
    "encoder": "groundwire.detectors.encoder:EncoderDetector",
    "faithfulness": "groundwire.detectors.faithfulness:Faithfulness",
    "g_eval": "groundwire.detectors.g_eval:GEval",
    "judge": "groundwire.detectors.judge:JudgeDetector",
    "level": "groundwire.detectors.level:LevelDetector",
    "lexical": "groundwire.detectors.lexical:Lexical",
    "self_eval": "groundwire.detectors.self_eval:SelfEval",
    "semantic": "groundwire.detectors.semantic:Semantic",
    "stacked": "groundwire.detectors.stacked:Stacked",
    "stochastic": "groundwire.detectors.stochastic:Stochastic",
    "token": "groundwire.detectors.token:TokenOverlap",
    "trustworthiness": "groundwire.detectors.trustworthiness:Trustworthiness",
}


def names() -> tuple[str, ...]:
    """The names of our own detectors, sorted."""
    return tuple(sorted(_REGISTERED))


def get(name: str) -> type[Any]:
    """The Detector class of this name: one of ours, or one that an installed package brings.

    Raises ConfigurationError for an unknown name, with the known ones, and for a package's detector that
    can't be used.
    """
    if name not in _REGISTERED:
        return _brought(name)
    module, _, attribute = _REGISTERED[name].partition(":")
    detector: type[Detector] = getattr(import_module(module), attribute)
    return detector


def _brought(name: str) -> type[Detector]:
    from groundwire.detectors import brought  # noqa: PLC0415 - looks through all that is installed

    found = brought.get(name)
    if found is None:
        known = sorted({*_REGISTERED, *brought.packages()})
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]!r}? Expected" if close else "expected"
        model = '; a model judges in Checker("judge", judge=Judge(model))' if ":" in name else ""
        raise ConfigurationError(f"unknown detector {name!r}: {hint} one of {', '.join(known)}{model}")
    return found


if not TYPE_CHECKING:  # which would take any name for one

    def __getattr__(name: str) -> Any:
        for target in _REGISTERED.values():
            module, _, attribute = target.partition(":")
            if attribute == name:
                return getattr(import_module(module), attribute)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
