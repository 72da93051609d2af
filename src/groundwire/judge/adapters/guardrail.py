"""Amazon Bedrock Guardrails' contextual grounding check as a service that judges ask.

It takes no prompt: sources, query and text go to ApplyGuardrail as they are, and two confidences come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundwire.core.errors import ConfigurationError, MissingExtraError
from groundwire.core.plan import Complete, Completed, Ground, Grounded
from groundwire.core.verdict import Usage

_EXPECTED = "expected 'bedrock-guardrail:GUARDRAIL_ID:VERSION', VERSION being a number or DRAFT"


class Guardrail:
    """A guardrail with a contextual grounding policy, through a client of the Bedrock runtime."""

    varies = False
    several = False

    def __init__(self, client: Any, guardrail: str, version: str) -> None:
        self.name = f"{guardrail}:{version}"
        self.identity = f"bedrock-guardrail:{self.name}"
        self._client, self._guardrail, self._version = client, guardrail, version

    @classmethod
    def named(cls, name: str, options: Mapping[str, Any]) -> Guardrail:
        """The guardrail ``ID:VERSION``; ``options`` are ``boto3.client``'s, such as region_name.

        An ARN, which holds colons itself, is an id, too. Raises ConfigurationError for a name or options
        that don't work.
        """
        guardrail, _, version = name.strip().rpartition(":")
        if not guardrail or not (version.isdigit() or version == "DRAFT"):
            raise ConfigurationError(f"guardrail {name!r}: {_EXPECTED}")
        try:
            import boto3  # noqa: PLC0415 - an extra, and slow to import
        except ImportError as error:
            raise MissingExtraError("a Bedrock guardrail", package="boto3", extra="aws") from error
        try:
            client = boto3.client("bedrock-runtime", **options)
        except Exception as error:  # botocore and boto3 refuse options with errors of many kinds
            raise ConfigurationError(f"guardrail {name!r} can't be set up: {error}; {_EXPECTED}") from error
        return cls(client, guardrail, version)

    def complete(self, request: Complete) -> Completed:
        del request
        raise TypeError("a guardrail answers no prompts: this method needs a language model, Judge(model)")

    def ground(self, request: Ground) -> Grounded:
        """The scores of the policy's two filters; ValueError where the guardrail has none."""
        parts = [(source, "grounding_source") for source in request.sources]
        parts += [(request.query, "query")] if request.query else []
        parts += [(request.text, "guard_content")]
        reply = self._client.apply_guardrail(
            guardrailIdentifier=self._guardrail,
            guardrailVersion=self._version,
            source="OUTPUT",
            content=[{"text": {"text": text, "qualifiers": [kind]}} for text, kind in parts],
            outputScope="FULL",  # also the scores that no filter objects to
        )
        scores = {
            one.get("type"): one.get("score")
            for assessment in reply.get("assessments") or []
            for one in (assessment.get("contextualGroundingPolicy") or {}).get("filters") or []
        }
        grounding, relevance = _confidence(scores.get("GROUNDING")), _confidence(scores.get("RELEVANCE"))
        if grounding is None:
            raise ValueError(
                f"the guardrail {self.name!r} gave no grounding score: its contextual grounding check must "
                "be switched on in this version"
            )
        return Grounded(grounding=grounding, relevance=relevance, usage=Usage(calls=1))


def _confidence(value: Any) -> float | None:
    """A confidence in [0, 1]; None for everything else."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return None
