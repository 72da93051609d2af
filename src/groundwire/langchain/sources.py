"""What the retrievers of a unit have found, and what of it models inside of them have made up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from groundwire.core.interaction import Passage
from groundwire.host.seen import is_statement, is_telling
from groundwire.langchain import placing, results, values
from groundwire.langchain.tree import Kind, Run, Unit
from groundwire.text.tokens import words as words_of

_MOST = 100_000  # characters of a text that is read word by word
_MOST_SOUGHT = 500_000_000  # characters of what models said, times documents: a tenth of a second
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\'")


class Sources:
    """What the retrievers of a unit have found, and which of it models inside of them have made up.

    Each is looked up once: the documents may be many, and so may the models.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._models = [run for run in unit.inner if run.kind is Kind.MODEL]
        self._retrievers = [run for run in unit.inner if run.kind is Kind.RETRIEVER]
        self._made: dict[int, list[tuple[Run, Passage]]] = {}
        self._found: dict[int, list[Passage]] = {}
        self._texts: set[str] | None = None
        self._folds: dict[str, str] = {}

    def found(self, retrieval: Run) -> list[Passage]:
        if id(retrieval) not in self._found:
            self._found[id(retrieval)] = self.unmade(values.passages(retrieval.outputs), [retrieval])
        return self._found[id(retrieval)]

    def is_found(self, text: str) -> bool:
        """Whether a text is a document as a retriever of the unit has found it."""
        if self._texts is None:
            self._texts = {one.text for run in self.unit.retrievals for one in self.found(run)}
        return text in self._texts

    def unmade(self, found: list[Passage], retrievals: Sequence[Run]) -> list[Passage]:
        """What was found; where models inside of retrievers made that up, what those were told instead."""
        there = {passage.text for passage in found}
        own: set[str] = set()
        told: list[Passage] = []
        for retrieval in retrievals:
            if made := [(model, one.text) for model, one in self.made(retrieval) if one.text in there]:
                own.update(text for _, text in made)
                models = {id(model): model for model, _ in made}.values()
                views = [values.prompt_text(model.inputs) for model in models]
                told += placing.survivors(self._inside(retrieval), views)
        return [*(passage for passage in found if passage.text not in own), *told]

    def made(self, retrieval: Run) -> list[tuple[Run, Passage]]:
        """The documents of a retriever that are the words of a model inside of it, and whose they are.

        Such a model has said all of the document, and not a part of it as in a query: in a line of its own
        where the document is short. What stands in one that was found there, or in what that model was told,
        it has not made up.
        """
        if id(retrieval) not in self._made:
            models = [run for run in self._models if run.within(retrieval)]
            self._made[id(retrieval)] = self._made_by(models, retrieval) if models else []
        return self._made[id(retrieval)]

    def _made_by(self, models: Sequence[Run], retrieval: Run) -> list[tuple[Run, Passage]]:
        inside = Quotes(self._inside(retrieval))
        spoken = [(model, values.prompt_text(model.inputs), *_whole(model)) for model in models]
        everything = "\n".join(said for *_, said, _ in spoken)
        found = values.passages(retrieval.outputs)
        if len(found) * len(everything) > _MOST_SOUGHT:
            return []
        own = [(one, folded) for one in found if (folded := _folded(one.text)) in everything]
        return [
            (model, passage)
            for passage, folded in own
            if not inside.hold(passage.text)
            for model, told, said, lines in spoken
            if folded in lines or (folded in said and is_statement(passage.text))
            if passage.text not in told
        ]

    def meeting(self, said: str, given: Iterable[str]) -> list[str]:
        """What of it stands in what a tool has said, or it in that, the longest first; none in a long text.

        What stands in another of them is left out: a model may have written one text again and again.
        """
        whole = self._fold(said)
        if not whole.strip():
            return []
        likely = [(len(folded), folded, one) for one in given if (folded := self._fold(one)).strip()]
        met: list[tuple[str, str]] = []
        for _, folded, one in sorted(likely, reverse=True):
            if (folded in whole or whole in folded) and not any(folded in other for other, _ in met):
                met.append((folded, one))
        return [one for _, one in met]

    def _fold(self, text: str) -> str:
        if text not in self._folds:
            self._folds[text] = _folded(text)
        return self._folds[text]

    def _inside(self, retrieval: Run) -> list[Passage]:
        within = (run for run in self._retrievers if run is not retrieval and run.within(retrieval))
        return [passage for run in within for passage in self.found(run)]


def _whole(model: Run) -> tuple[str, set[str]]:
    """What a model has said, and the lines of it; both are folded."""
    said = list(results.model_words(model.outputs))
    lines = {_folded(line) for one in said for line in (one, *one.splitlines())}
    return "\n".join(map(_folded, said)), lines - {_folded("")}


class Quotes:
    """What stands in passages, which are folded once for all that is looked for in them."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._folded: list[str] | None = None

    def hold(self, words: str) -> bool:
        """Whether words stand in a passage, be it in other letters where they are enough to tell."""
        if any(words.strip() in passage.text for passage in self._passages):
            return True
        if not self._passages or not is_telling(words) or not (folded := _folded(words)).strip():
            return False
        if self._folded is None:
            self._folded = [_folded(passage.text) for passage in self._passages]
        return any(folded in one for one in self._folded)


def _folded(text: str) -> str:
    """The words of a text in small letters, so that one such text stands in another; of a long one none."""
    if len(text) > _MOST:
        return " " * 2
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "'", text)
    return f" {' '.join(word.text.lower() for word in words_of(plain))} "
