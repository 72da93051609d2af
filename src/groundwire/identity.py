"""What decides about a checker's outcomes. Two checkers that agree in it can go on with each other's work."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from pathlib import Path
from typing import Any

from groundwire.checker import Checker
from groundwire.core.detector import Detector
from groundwire.core.plain import plain
from groundwire.core.redaction import Redact, Redaction
from groundwire.policy import Policy

_SHIPPED = (
    ("groundwire.detectors", "data/lexical.json"),
    ("groundwire.detectors", "data/embedded.json"),
    ("groundwire.local", "data/encoder.json"),  # names the encoder's files by their checksums
)
_BLOCK = 1 << 20


def identity(checker: Checker) -> dict[str, Any]:
    """What decides about a checker's outcomes, as JSON: detector, parameters, reading, models, and limits.

    What a checker has no use for is None.
    """
    spec, policy, judge = checker.detector.spec, checker.policy, checker.judge
    embeddings = getattr(judge, "embedding_model", "") if checker.detector.needs_embeddings else ""
    limits = [policy.max_characters, policy.max_passages]
    return {
        "detector": spec.name,
        "version": spec.version,
        "parameters": plain(spec.parameters),
        "grading": plain(policy.grading),
        "tuned": policy.tuned and policy.tuned.fingerprint,
        "model": getattr(judge, "model", None),
        "further models": getattr(judge, "named", None) or None,
        "model's parameters": getattr(judge, "parameters", None) or None,
        "embedding model": embeddings or None,
        "redact": policy.redact and _told(policy.redact),
        "limits": limits if limits != [Policy.max_characters, Policy.max_passages] else None,
    }


def _told(redact: Redact) -> list[str]:
    if isinstance(redact, Redaction):
        return [one.pattern if isinstance(one, re.Pattern) else one for one in redact.patterns]
    kind = redact if hasattr(redact, "__qualname__") else type(redact)
    return [f"{kind.__module__}.{kind.__qualname__}"]


def weights(detector: Detector) -> str | None:
    """16 hexadecimal digits of the weights that are read on this machine; None where none decide.

    An encoder of one's own is told by its files where it lies in a folder, and by its name alone otherwise.
    """
    if detector.needs_judge and not detector.needs_encoder:
        return None
    told = hashlib.sha256()
    for package, name in _SHIPPED:
        told.update(resources.files(package).joinpath(name).read_bytes())
    model = getattr(detector, "model", None)
    if isinstance(model, str) and model and Path(model).is_dir():
        for path in sorted(one for one in Path(model).rglob("*") if one.is_file()):
            told.update(str(path.relative_to(model)).encode())
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    told.update(block)
    return told.hexdigest()[:16]
