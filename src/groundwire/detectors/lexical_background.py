"""What all claims of an answer are looked at against, and what each may go on from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire.core.cached import cached_property
from groundwire.detectors.lexical_cells import Cells
from groundwire.detectors.lexical_seen import Seen
from groundwire.detectors.lexical_settings import Given
from groundwire.detectors.lexical_siblings import Siblings
from groundwire.text import facts, premise
from groundwire.text.facts import Known
from groundwire.text.layout import MARKER
from groundwire.text.overlap import Context


@dataclass(frozen=True, kw_only=True)
class Background:
    """What all claims of an answer are looked at against: the context, and what the question says itself."""

    context: Context
    question: str
    asked: frozenset[str]
    told: Mapping[str, float]

    @cached_property
    def given(self) -> Known:
        return Known(facts.extract(self.question))

    @cached_property
    def settings(self) -> Given:
        return Given(self.context, self.question)

    @cached_property
    def siblings(self) -> Siblings:
        return Siblings(self.context, self.question, self.given)

    def beside_siblings(self, seen: Seen, answer: str, above: Sequence[str]) -> Seen:
        """A claim with what it says of the wrong one of siblings; what is said of another is no mention."""
        text = seen.span.of(answer)
        if seen.mentioned is not None and self.siblings.is_of_another(text, seen.mentioned.where):
            return replace(seen, mentioned=None)
        if seen.illustrates or seen.declines:
            return seen
        borrowed = self.siblings.borrowed(text, seen.checked, above[0] if above else "")
        return replace(seen, borrowed=borrowed, apart=self.siblings.apart(text, above))

    @cached_property
    def cells(self) -> Cells:
        return Cells(self.context, self.question)

    @cached_property
    def at_issue(self) -> frozenset[int]:
        """The question's facts that it asks about, by their identity."""
        return frozenset(id(fact) for fact in self.given.facts if premise.at_issue(fact))


def statements_above(answer: str, place: int, claims: Sequence[Seen]) -> list[str]:
    """What a statement may go on from: the heading of a list that it is an item of, or the one before it.

    Else the heading that it stands below.
    """
    begun, *above = reversed(answer[max(0, place - _FAR) : place].split("\n"))
    heads = (line.strip(" *_") for line in above)
    head = next((line for line in heads if line.endswith(":") or line.startswith("#")), None)
    if head is not None and MARKER.match(f"{begun}x"):
        return [head]
    before = [claim.span.of(answer) for claim in claims[-1:]]
    return before if head is None else [*before, head]


# So far above a statement, in characters, its heading may stand.
_FAR = 1_200
