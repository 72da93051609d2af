"""Three models read one answer and vote on its claims: ``python -m examples.ensembles.green_tea``.

The models here are functions that always say the same, so that this runs offline: put yours in their place,
any LangChain chat model, LlamaIndex LLM, model string, or function (system, user) -> str.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import groundwire as gw
from groundwire.detectors.ensemble.claim_ensemble import ClaimEnsemble
from groundwire.detectors.ensemble.claim_reader import ClaimReader
from groundwire.detectors.ensemble.oracles import Oracle

INTERACTION = gw.Interaction(
    question="Is green tea healthy?",
    contexts=[
        "Green tea contains caffeine and catechins, which slightly boost the metabolism.",
        "Adults who drank green tea had improved brain function in two small trials.",
    ],
    answer="Green tea boosts metabolism, enhances brain function, and can cure chronic diseases.",
)
METABOLISM = "catechins, which slightly boost the metabolism"
BRAIN = "green tea had improved brain function"


def model(*claims: tuple[str, str, str, str, float]) -> Callable[[str, str], str]:
    """A model that reads every answer so: claim, words of the answer, support, quotation, confidence."""
    keys = ("claim", "words", "support", "quote", "confidence")
    reply = json.dumps({"readings": [{"claims": [dict(zip(keys, one, strict=True)) for one in claims]}]})
    return lambda _system, _user: reply


FIRST = model(
    ("Green tea boosts metabolism.", "Green tea boosts metabolism", "supported", METABOLISM, 0.95),
    ("Green tea enhances brain function.", "enhances brain function", "supported", BRAIN, 0.9),
    ("Green tea can cure chronic diseases.", "can cure chronic diseases", "unsupported", "", 0.95),
)
SECOND = model(
    ("Metabolism is boosted by green tea.", "boosts metabolism", "supported", METABOLISM, 0.9),
    ("Green tea improves the function of the brain.", "enhances brain function", "inferred", BRAIN, 0.6),
    ("Chronic diseases can be cured by green tea.", "can cure chronic diseases", "unsupported", "", 0.8),
)
THIRD = model(
    ("Green tea boosts metabolism.", "Green tea boosts metabolism", "supported", METABOLISM, 0.8),
    ("Green tea enhances brain function.", "enhances brain function", "supported", BRAIN, 0.8),
    ("Green tea can cure chronic diseases.", "can cure chronic diseases", "inferred", "", 0.55),
)


def build() -> gw.Checker:
    """A checker with three oracles: one prompt, put to three models at once."""
    reader = ClaimReader(readings=1)
    oracles = tuple(
        Oracle(detector=reader, model=name, name=name or "first") for name in ("", "second", "third")
    )
    judge = gw.Judge(FIRST, models={"second": SECOND, "third": THIRD})
    return gw.Checker(ClaimEnsemble(oracles=oracles), judge=judge)


def main() -> None:
    """Judge the answer and print its claims with their places and votes."""
    outcome = build().check(INTERACTION)
    print(f"{outcome.level}, score {outcome.score:.2f}, {outcome.usage.calls} calls")
    print(outcome.reason)
    for claim in outcome.claims:
        votes = ", ".join(f"{vote.oracle}: {vote.support}" for vote in claim.votes)
        print(f"{claim.span.start:3}-{claim.span.end:<3} {claim.support:12} {claim.text}  ({votes})")


if __name__ == "__main__":
    main()
