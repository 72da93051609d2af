"""What the retrievers of a unit have found, and what of it models inside of them have made up."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire.core.interaction import Passage
from groundwire.host.seen import folded, is_statement, is_telling
from groundwire.langchain import chat, evidence, placing, results
from groundwire.langchain.tree import Kind, Run, Unit

_MOST_SOUGHT = 500_000_000  # characters of what models said, times documents: a tenth of a second


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

    def found(self, retrieval: Run) -> list[Passage]:
        if id(retrieval) not in self._found:
            self._found[id(retrieval)] = self.unmade(evidence.passages(retrieval.outputs), [retrieval])
        return self._found[id(retrieval)]

    def unmade(self, found: list[Passage], retrievals: Sequence[Run]) -> list[Passage]:
        """What was found; where models inside of retrievers made that up, what those were told instead."""
        there = {passage.text for passage in found}
        own: set[str] = set()
        told: list[Passage] = []
        for retrieval in retrievals:
            if made := [(model, one.text) for model, one in self.made(retrieval) if one.text in there]:
                own.update(text for _, text in made)
                models = {id(model): model for model, _ in made}.values()
                views = [chat.prompt_text(model.inputs) for model in models]
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
        spoken = [(model, chat.prompt_text(model.inputs), *_whole(model)) for model in models]
        everything = "\n".join(said for *_, said, _ in spoken)
        found = evidence.passages(retrieval.outputs)
        if len(found) * len(everything) > _MOST_SOUGHT:
            return []
        own = [(one, text) for one in found if (text := folded(one.text)) in everything]
        return [
            (model, passage)
            for passage, text in own
            if not inside.hold(passage.text)
            for model, told, said, lines in spoken
            if text in lines or (text in said and is_statement(passage.text))
            if passage.text not in told
        ]

    def _inside(self, retrieval: Run) -> list[Passage]:
        within = (run for run in self._retrievers if run is not retrieval and run.within(retrieval))
        return [passage for run in within for passage in self.found(run)]


def _whole(model: Run) -> tuple[str, set[str]]:
    """What a model has said, and the lines of it; both are folded."""
    said = list(results.model_words(model.outputs))
    lines = {folded(line) for one in said for line in (one, *one.splitlines())}
    return "\n".join(map(folded, said)), lines - {folded("")}


class Quotes:
    """What stands in passages, which are folded once for all that is looked for in them."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._texts = [passage.text for passage in passages]
        self._as_they_are = "\0".join(self._texts)
        self._folded: str | None = None

    def hold(self, words: str) -> bool:
        """Whether words stand in a passage, be it in other letters where they are enough to tell."""
        if not self._texts or words.strip() in self._as_they_are:
            return bool(self._texts)
        if not is_telling(words):
            return False
        if self._folded is None:
            self._folded = "\0".join(map(folded, self._texts))
        return folded(words) in self._folded
