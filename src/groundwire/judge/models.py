"""The judge's models: each with what asks it, its breaker and its price, and which of them a request is for.

When a model is asked, and how often, is in ``attempts``; on which thread, and in which context, in ``judge``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from groundwire.core.errors import ConfigurationError
from groundwire.core.plan import Complete, Embed, Encode, Failed, Ground, ModelRequest, Reply, Request
from groundwire.core.verdict import AbstentionReason, Usage
from groundwire.judge import adapters
from groundwire.judge.breaker import Breaker, Circuit
from groundwire.judge.prices import Price
from groundwire.judge.replies import bounded


class Model(ABC):
    """One of the models. ``name`` is the provider's; ``identity`` tells it from every other."""

    def __init__(self, served: adapters.Chat | adapters.Embedder, circuit: Circuit) -> None:
        self.name, self.identity = served.name, served.identity
        self.circuit = circuit

    @abstractmethod
    def ask(self, request: ModelRequest) -> Reply:
        """One reply to one request; what its client raises is raised."""

    @abstractmethod
    def cost(self, used: Usage) -> float | None:
        """What so many tokens cost; None where that is not known."""

    def calls_for(self, request: ModelRequest) -> int:
        """How many calls it takes for all samples of a request."""
        del request
        return 1

    def repeats(self, request: ModelRequest) -> bool:
        """Whether its reply may be remembered: it would say the same again."""
        del request
        return True


class LanguageModel(Model):
    """A language model, or a grounding service in the place of one."""

    def __init__(self, chat: adapters.Chat, circuit: Circuit, price: Price | None) -> None:
        super().__init__(chat, circuit)
        self.price = price
        self._chat = chat

    def ask(self, request: ModelRequest) -> Reply:
        if isinstance(request, Ground):
            return self._chat.ground(request)
        assert isinstance(request, Complete), "vectors are asked of an embedding model"
        return bounded(self._chat.complete(request))

    def cost(self, used: Usage) -> float | None:
        return None if self.price is None else self.price.of(used)

    def calls_for(self, request: ModelRequest) -> int:
        """One for each sample, unless the model gives several for one input."""
        return request.samples if isinstance(request, Complete) and not self._chat.several else 1

    def repeats(self, request: ModelRequest) -> bool:
        return isinstance(request, Complete) and not (self._chat.varies and request.temperature is None)


class EmbeddingModel(Model):
    """An embedding model. What it costs is in no sum, and makes none unknown where prices are ``known``."""

    def __init__(self, embedder: adapters.Embedder, circuit: Circuit, *, known: bool) -> None:
        super().__init__(embedder, circuit)
        self._embedder = embedder
        self._known = known

    def ask(self, request: ModelRequest) -> Reply:
        assert isinstance(request, Embed), "an embedding model is asked for vectors alone"
        return self._embedder.embed(request.texts)

    def cost(self, used: Usage) -> float | None:
        del used
        return 0.0 if self._known else None


class Models:
    """The models of one judge, by what it was given. Raises ConfigurationError naming every mistake.

    ``speaking`` are its language models by the names that it has for them, "" being its own.
    """

    def __init__(
        self,
        model: Any,
        embeddings: Any,
        others: Mapping[str, Any],
        *,
        parameters: Mapping[str, Any],
        prices: Mapping[str, Price],
        in_money: bool,
        breaker: Breaker | None,
        structured: bool,
    ) -> None:
        problems: list[str] = []
        chats: dict[str, adapters.Chat | None] = {}
        if model is not None or embeddings is None:
            chats[""] = _built(partial(adapters.chat, model, parameters, structured=structured), problems)
        embedder: adapters.Embedder | None = None
        if embeddings is not None:
            embed = partial(adapters.embedder, embeddings, beside=model, parameters=parameters)
            embedder = _built(embed, problems)
        if "" in others:
            problems.append("models: a further model needs a name; '' is the judge's own")
        if others and "" not in chats:
            problems.append("models: further ones stand beside the judge's own, and it was given none")
        for name, given in others.items():
            build = partial(adapters.chat, given, parameters, beside=model, structured=structured)
            chats[name] = _built(build, problems)
        if in_money:
            problems += [
                f"prices: the budget is in money, so it needs a price for the model {one.name!r}"
                for one in chats.values()
                if one is not None and one.name not in prices
            ]
        if in_money and not chats:
            problems.append("limits.budget: embeddings have no price; bound their calls or tokens, not money")
        if problems:
            raise ConfigurationError(*problems)
        self.speaking = {
            name: LanguageModel(one, Circuit(breaker, one.name), prices.get(one.name))
            for name, one in chats.items()
            if one is not None
        }
        self.embedding = None
        if embedder is not None:
            self.embedding = EmbeddingModel(embedder, Circuit(breaker, embedder.name), known=bool(prices))

    def of(self, request: Request) -> Model | Failed:
        """The model that a request is for, or why there is none."""
        if isinstance(request, Encode):  # a checker has these performed where it runs, by an encoder
            return _none(
                "a judge does not read as encoders do: have a Checker perform this, or a LocalBackend"
            )
        if isinstance(request, Embed):
            wanted = "no embedding model was given to answer this: Judge(model, embeddings=...)"
            return self.embedding or _none(wanted)
        wanted = f"the judge has no model named {request.model!r}: Judge(model, models={{...}})"
        if not request.model:
            wanted = "no language model was given to answer this: Judge(model)"
        return self.speaking.get(request.model) or _none(wanted)

    @property
    def circuits(self) -> Mapping[str, Circuit]:
        """Every breaker: of "model", of each "models.NAME", of "embeddings", as far as there are such."""
        found = {f"models.{name}" if name else "model": one.circuit for name, one in self.speaking.items()}
        return found if self.embedding is None else {**found, "embeddings": self.embedding.circuit}


def _built(build: Callable[[], Any], problems: list[str]) -> Any:
    try:
        return build()
    except ConfigurationError as error:
        problems.extend(error.problems)
        return None


def _none(detail: str) -> Failed:
    return Failed(reason=AbstentionReason.MODEL_FAILED, detail=detail)
