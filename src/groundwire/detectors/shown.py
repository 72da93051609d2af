"""Where a model's quotations stand in what it was shown: exact places in the original text, or none."""

from __future__ import annotations

from groundwire.core.cached import cached_property
from groundwire.core.claim import Evidence
from groundwire.core.interaction import Interaction
from groundwire.core.span import Span
from groundwire.prompts.quoting import neutral, places
from groundwire.text import language
from groundwire.text.quotes import Quotable, parts
from groundwire.text.tokens import STOP_WORDS, fold, stem, texts

# No text is shown with such characters: they are what JSON makes of LaTeX's \beta and \frac.
_ESCAPES = str.maketrans({"\b": r"\b", "\f": r"\f"})
_TELLING = 3  # content words from which on a text says what it speaks of
_FUNCTION_WORDS = 2  # from which on they tell a language
_LOOKED_AT = 2_000  # characters; no language takes more to be told


class Shown:
    """A text as a model saw it, without what can't be seen; what is found has its place in the original."""

    def __init__(self, original: str) -> None:
        self.text = neutral(original)
        self._original = original
        self._quotable = Quotable(self.text)

    def find(self, quote: str) -> list[Span]:
        spans = self._quotable.find(quote.translate(_ESCAPES))
        if self.text == self._original:
            return spans
        return [Span(self._places[span.start], self._places[span.end - 1] + 1) for span in spans]

    @cached_property
    def _places(self) -> list[int]:
        return places(self._original)


class ShownPassages:
    """The passages of an interaction as a model saw them, and what its quotations from them are worth."""

    def __init__(self, interaction: Interaction) -> None:
        self._interaction = interaction

    def evidence(self, quote: str) -> tuple[Evidence, ...]:
        """The quotation in the first passage that holds all of it, else each part where it stands."""
        whole = self._cited(quote)
        if whole:
            return whole
        each = [self._cited(part) for part in parts(quote)]
        return tuple(evidence for cited in each for evidence in cited) if all(each) else ()

    def bears(self, quote: str, claim: str) -> bool:
        """Whether a quotation says enough, and of what the claim speaks of, to be shown for it.

        Where the answer's language is no passage's, words can't tell, and it only has to say enough.
        """
        quoted, claimed = content(quote), content(claim)
        readings = [claimed]
        if len(claimed) < _TELLING:
            readings.append(claimed | content(self._interaction.question or ""))
        shared = [(len(quoted & said), len(said)) for said in readings]
        if any(n and (len(quoted) >= _TELLING or 2 * n > of) for n, of in shared):
            return True
        return len(quoted) >= _TELLING and self._foreign(quote)

    def _foreign(self, quote: str) -> bool:
        """Whether the answer is in one language, no passage is, and what is quoted stands in others.

        One passage in another language than the rest may have been written to be quoted for every claim.
        """
        spoken = _language(self._interaction.answer)
        if spoken is None or spoken in self._languages.values():
            return False
        return all(self._languages[one.passage] is not None for one in self.evidence(quote))

    def _cited(self, quote: str) -> tuple[Evidence, ...]:
        for i, passage in self._passages.items():
            if spans := passage.find(quote):
                return tuple(Evidence.cite(self._interaction, i, span) for span in spans)
        return ()

    @cached_property
    def _languages(self) -> dict[int, str | None]:
        return {i: _language(passage.text) for i, passage in enumerate(self._interaction.contexts)}

    @cached_property
    def _passages(self) -> dict[int, Shown]:
        return {i: Shown(p.text) for i, p in enumerate(self._interaction.contexts) if p.text.strip()}


def cited(interaction: Interaction, passage: int, quote: str) -> tuple[Evidence, ...]:
    """The quotation as evidence from one passage; nothing where it does not stand there word for word."""
    found = Shown(interaction.contexts[passage].text).find(quote) if quote else []
    return tuple(Evidence.cite(interaction, passage, span) for span in found)


def _language(text: str) -> str | None:
    return language.guess(map(fold, texts(text[:_LOOKED_AT])), least=_FUNCTION_WORDS)


def content(text: str) -> set[str]:
    """The stems of the words that tell what a text is about."""
    return {stem(word) for word in map(fold, texts(text)) if word not in STOP_WORDS}
