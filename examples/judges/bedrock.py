"""A model on Amazon Bedrock as the judge: ``python -m examples.judges.bedrock MODEL_ID [REGION]``.

Needs ``pip install 'groundwire[aws]'``, credentials that the AWS SDK finds, with bedrock:InvokeModel, and
access to the model in that region. The prices are examples: put in those that you pay.
"""

from __future__ import annotations

import groundwire as gw
from examples.judges.answers import main
from groundwire.core.budget import Budget
from groundwire.judge.limits import Limits
from groundwire.judge.prices import Price


def build(model_id: str, region: str | None = None) -> gw.Checker:
    """A checker whose judge tries again by itself, spends 5 a day at most, and tells what verdicts cost."""
    judge = gw.Judge(
        f"bedrock:{model_id}",
        parameters={
            "temperature": 0,
            "max_tokens": 2_000,
            "max_retries": 0,  # the judge's own retries take their place
            **({"region_name": region} if region else {}),
        },
        limits=Limits(retries=3, requests_per_minute=100, budget=Budget(cost=5.0)),
        prices={model_id: Price(input=0.06, output=0.24)},
    )
    return gw.Checker("judge", judge=judge)


if __name__ == "__main__":
    main(build, __doc__)
