"""The detection methods, one a file, each registered by name.

A detector is parameters and a plan. Clients, clocks, caches and results live elsewhere.
"""

from __future__ import annotations

import difflib
from importlib import import_module

from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError

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
    """The registered names, sorted."""
    return tuple(sorted(_REGISTERED))


def get(name: str) -> type[Detector]:
    """The detector class registered under ``name``. Raises ConfigurationError, naming the known ones."""
    if name not in _REGISTERED:
        close = difflib.get_close_matches(name, names(), n=1)
        hint = f"did you mean {close[0]!r}? Expected" if close else "expected"
        raise ConfigurationError(f"unknown detector {name!r}: {hint} one of {', '.join(names())}")
    module, _, attribute = _REGISTERED[name].partition(":")
    detector: type[Detector] = getattr(import_module(module), attribute)
    return detector


def __getattr__(name: str) -> type[Detector]:
    for target in _REGISTERED.values():
        module, _, attribute = target.partition(":")
        if attribute == name:
            detector: type[Detector] = getattr(import_module(module), attribute)
            return detector
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
