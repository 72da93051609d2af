"""Where a model's quotations stand in what it was shown: exact places in the original text, or none."""

from __future__ import annotations

from functools import cached_property

from groundwire.core.claim import Evidence
from groundwire.core.interaction import Interaction
from groundwire.core.span import Span
from groundwire.prompts.quoting import neutral, places
from groundwire.text.quotes import Quotable


class Shown:
    """A text as a model saw it, without what can't be seen; what is found has its place in the original."""

    def __init__(self, original: str) -> None:
        self.text = neutral(original)
        self._original = original
        self._quotable = Quotable(self.text)

    def find(self, quote: str) -> list[Span]:
        spans = self._quotable.find(quote)
        if self.text == self._original:
            return spans
        return [Span(self._places[span.start], self._places[span.end - 1] + 1) for span in spans]

    @cached_property
    def _places(self) -> list[int]:
        return places(self._original)


def cited(interaction: Interaction, passage: int, quote: str) -> tuple[Evidence, ...]:
    """The quotation as evidence from one passage; nothing where it does not stand there word for word."""
    found = Shown(interaction.contexts[passage].text).find(quote) if quote else []
    return tuple(Evidence.cite(interaction, passage, span) for span in found)
