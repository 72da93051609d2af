"""Self-evaluation: a model thinks the answer through and says, from 1 to 5, how well it is supported.

Only the plan lives here. What is said to the model is in ``prompts``; which model it is, in ``judge``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from groundwire.core.interaction import Interaction
from groundwire.core.plan import Failed, Plan
from groundwire.core.verdict import Outcome, Verdict
from groundwire.detectors.asking import Ask, PromptDetector, ask, clean
from groundwire.prompts.forms import ConfidenceForm
from groundwire.prompts.replies import read_object
from groundwire.prompts.schemas import object_schema


@dataclass(frozen=True, kw_only=True)
class SelfEval(PromptDetector):
    """Chain of thought, then a confidence from 1 to 5 that the passages support the answer.

    The score is ``(5 - confidence) / 4``. One call.

    Source: Kadavath et al., 2022 (arXiv:2207.05221), models that judge answers; Wei et al., 2022
    (arXiv:2201.11903), thinking first; Lin et al., 2022 (arXiv:2205.14334), confidence in words. Assumes a
    model that is good at following an argument. Known failures: five steps are coarse, models crowd at 4 and
    5, one wrong figure in a long answer weighs little, and nothing says where the fault is.
    """

    name: ClassVar[str] = "self_eval"
    version: ClassVar[str] = "1"
    uses: ClassVar[tuple[str, ...]] = ("self_eval",)

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        if refused := self.refusal(interaction):
            return refused
        form = yield from ask(
            Ask(
                message=self.message("self_eval", self.material(interaction), judges=True),
                read=lambda reply: read_object(reply.texts[0], ConfidenceForm),
                schema=object_schema(ConfidenceForm),
            )
        )
        if isinstance(form, Failed):
            return self.failed(form)
        score = (5 - form.confidence) / 4
        reason = f"Confidence {form.confidence:g} of 5. {clean(form.reasoning)}".strip()
        return Verdict.graded(score, self.grading, raw=score, reason=reason, detector=self.spec)
