"""A prompt, filled: our words and, each between marks that it can't contain, the texts of other people.

Whatever the words, replaced ones too, this is the only way in which a text that is judged comes into them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template

from groundwire.core.example import Examples
from groundwire.core.interaction import Interaction
from groundwire.prompts import catalogue
from groundwire.prompts.catalogue import Prompt
from groundwire.prompts.examples import example_texts, shown_examples
from groundwire.prompts.quoting import fence

Quote = tuple[str, str]
"""Our label for a text, and the text."""

_NONE = "(none)"


@dataclass(frozen=True, kw_only=True)
class Message:
    """What is said to a model once: a prompt and what fills it.

    ``quotes`` are other people's texts for each name, shown between marks; a name without any reads
    "(none)". ``words`` are our own. ``examples`` are shown before the rest.
    """

    prompt: Prompt
    quotes: Mapping[str, Sequence[Quote]]
    words: Mapping[str, str] = field(default_factory=dict)
    examples: Examples = field(default_factory=Examples)

    def write(self, *, again: bool = False) -> tuple[str, str]:
        """The system and the user message. ``again`` says that a first reply could not be read."""
        quoted = [text for quotes in self.quotes.values() for _, text in quotes]
        marks = fence([*quoted, *example_texts(self.examples)])
        values = {
            name: "\n".join(marks.around(*one) for one in quotes) for name, quotes in self.quotes.items()
        }
        values = {name: value or _NONE for name, value in values.items()} | dict(self.words)
        values["code"] = marks.code
        parts = [
            "" if self._explains_marks or not quoted else catalogue.get("frame").fill(code=marks.code),
            shown_examples(self.examples, marks),
            self.prompt.fill(again=again, **values),
        ]
        return Template(self.prompt.system).substitute(values), "\n\n".join(part for part in parts if part)

    @property
    def _explains_marks(self) -> bool:
        """Whether the prompt itself says what the marks mean, before anything stands between them."""
        ours = self.prompt.version != "own" and not len(self.examples)
        return ours and "code" in self.prompt.names


def material(interaction: Interaction, *, turns: int) -> dict[str, Sequence[Quote]]:
    """An interaction's texts by the names that prompts have for them, with its last ``turns`` turns."""
    history = interaction.history[-turns:] if turns else ()
    return {
        "question": [("question", interaction.question)] if interaction.question.strip() else [],
        "history": [(f"earlier turn by the {turn.role}", turn.text) for turn in history],
        "passages": [
            (f"passage {i}", passage.text)
            for i, passage in enumerate(interaction.contexts, 1)
            if passage.text.strip()
        ],
        "answer": [("answer", interaction.answer)],
    }


def only(quotes: Mapping[str, Sequence[Quote]], names: Iterable[str]) -> dict[str, Sequence[Quote]]:
    """Those quotes that a prompt has a name for."""
    return {name: quotes[name] for name in names if name in quotes}
