"""What ``groundwire bench`` and ``groundwire tune`` would take, told before a model is asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

from groundwire import config
from groundwire.cli.labelled import asks
from groundwire.core.detector import Detector
from groundwire.core.interaction import Interaction
from groundwire.judge.dry_run import Estimate, estimate


def estimates(
    detectors: Mapping[str, tuple[Detector, config.Settings]], interactions: Sequence[Interaction]
) -> dict[str, Estimate | None]:
    """What each detector would ask for all interactions, by its name here; None where it asks no model."""
    return {
        name: estimate(
            detector, interactions, prices=settings.judge.priced() if settings.judge is not None else {}
        )
        if asks(detector, settings)
        else None
        for name, (detector, settings) in detectors.items()
    }


def tell(found: Mapping[str, Estimate | None], *, as_json: bool) -> None:
    """Print the estimates: a line for each, or one object."""
    if as_json:
        _say(json.dumps({"dry_run": {name: one and vars(one) for name, one in found.items()}}))
        return
    for name, one in found.items():
        _say(f"{name}: asks no model" if one is None else f"{name}: {_line(one)}")
    _say("Nothing was asked.")


def _line(one: Estimate) -> str:
    cost = "; cost: unknown: give a price for the model" if one.cost is None else f"; cost: {one.cost:,.4f}"
    embeds = f", {one.embedding_calls:,} of embeddings" if one.embedding_calls else ""
    return (
        f"at least {one.calls:,} calls{embeds} for {one.answers:,} answers, "
        f"{one.input_tokens:,} tokens to the model and {one.output_tokens:,} from it (estimated)"
        f"{cost if one.calls else ''}"
    )


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
