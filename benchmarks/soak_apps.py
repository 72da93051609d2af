"""Two applications for soaking, in which everything tells which question it belongs to, and some calls break.

A question names its number and how its call ends: "whole", or where it fails.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Protocol

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.callbacks.manager import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever as IndexRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from groundwire import Checker
from groundwire.host.record import Record
from groundwire.langchain import GroundwireCallbackHandler
from groundwire.llama_index import GroundwireHandler
from groundwire.testing import FlagsWords

CHECKER = Checker(FlagsWords(words=("invented",)))
FAILS = ("fails in retrieval", "fails in answering")
PAUSE = 0.002
"""Seconds, on average, that a model takes for an answer, or for a word of it."""


class BrokenError(Exception):
    """What the applications break with."""


def question(n: int, fate: str) -> str:
    return f"What about topic{n}, which {fate}?"


def texts(n: int) -> list[str]:
    return [f"topic{n} weighs {n} kilos.", f"topic{n} is blue." + " It is large." * 20]


def answer(n: int) -> str:
    return f"The topic{n} weighs {'invented' if n % 3 == 0 else n} kilos."


def topic(text: str) -> int:
    """The topic that a text speaks of last."""
    return int(re.findall(r"topic(\d+)", text)[-1])


def _words(prompt: str) -> list[str]:
    if FAILS[1] in prompt:
        raise BrokenError
    return re.findall(r"\S+\s*", answer(topic(prompt)))


def _pause() -> float:
    return random.expovariate(1 / PAUSE)


def _found(query: str) -> list[str]:
    if FAILS[0] in query:
        raise BrokenError
    return texts(topic(query))


class Side(Protocol):
    """An application with a handler on it, and the four ways to ask it."""

    name: str
    handler: Any

    def call(self, asked: str) -> str: ...

    async def acall(self, asked: str) -> str: ...

    def stream(self, asked: str) -> Iterator[str]: ...

    def astream(self, asked: str) -> AsyncIterator[str]: ...

    def bare(self) -> None:
        """Take the handler away."""
        ...

    def live(self) -> int: ...

    def close(self) -> None: ...


# -- LangChain


class _Shelf(BaseRetriever):
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
    ) -> list[Document]:
        return [Document(page_content=text) for text in _found(query)]

    async def _aget_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return [Document(page_content=text) for text in _found(query)]


class _Model(SimpleChatModel):
    @property
    def _llm_type(self) -> str:
        return "soaked"

    def _call(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **_: Any,
    ) -> str:
        time.sleep(_pause())
        return "".join(_words(str(messages[-1].content)))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **options: Any,
    ) -> ChatResult:
        await asyncio.sleep(_pause())
        return self._generate(messages, stop, None, **options)

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        for word in _words(str(messages[-1].content)):
            time.sleep(_pause() / 5)
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for word in _words(str(messages[-1].content)):
            await asyncio.sleep(_pause() / 5)
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))


class LangChain:
    """A chain of retriever, prompt, model and parser."""

    name = "LangChain"

    def __init__(self, on_outcome: Callable[[Record], None]) -> None:
        self.handler = GroundwireCallbackHandler(CHECKER, on_outcome, langsmith=False, max_pending=10_000)
        prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
        context = _Shelf() | (lambda found: "\n\n".join(one.page_content for one in found))
        found: Any = {"context": context, "question": RunnablePassthrough()}
        self._chain: Runnable[Any, str] = found | prompt | _Model() | StrOutputParser()
        self._config: Any = {"callbacks": [self.handler]}

    def call(self, asked: str) -> str:
        return self._chain.invoke(asked, self._config)

    async def acall(self, asked: str) -> str:
        return await self._chain.ainvoke(asked, self._config)

    def stream(self, asked: str) -> Iterator[str]:
        return self._chain.stream(asked, self._config)

    def astream(self, asked: str) -> AsyncIterator[str]:
        return self._chain.astream(asked, self._config)

    def bare(self) -> None:
        self._config = {}

    def live(self) -> int:
        return self.handler.live_runs

    def close(self) -> None:
        self.handler.close(60)


# -- LlamaIndex


class _Index(IndexRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=text)) for text in _found(query_bundle.query_str)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._retrieve(query_bundle)


class _Llm(CustomLLM):
    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="soaked")

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:  # noqa: ARG002
        time.sleep(_pause())
        return CompletionResponse(text="".join(_words(prompt)))

    async def acomplete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:  # noqa: ARG002
        await asyncio.sleep(_pause())
        return CompletionResponse(text="".join(_words(prompt)))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:  # noqa: ARG002
        said = ""
        for word in _words(prompt):
            time.sleep(_pause() / 5)
            said += word
            yield CompletionResponse(text=said, delta=word)

    async def astream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:  # noqa: ARG002
        async def words() -> AsyncIterator[CompletionResponse]:
            said = ""
            for word in _words(prompt):
                await asyncio.sleep(_pause() / 5)
                said += word
                yield CompletionResponse(text=said, delta=word)

        return words()


class LlamaIndex:
    """A query engine of retriever, synthesizer and model."""

    name = "LlamaIndex"

    def __init__(self, on_outcome: Callable[[Record], None]) -> None:
        self.handler = GroundwireHandler(CHECKER, on_outcome, sinks=(), max_pending=10_000).install()
        self._engine = RetrieverQueryEngine.from_args(_Index(), llm=_Llm())
        self._streaming = RetrieverQueryEngine.from_args(_Index(), llm=_Llm(), streaming=True)

    def call(self, asked: str) -> str:
        return str(self._engine.query(asked))

    async def acall(self, asked: str) -> str:
        return str(await self._engine.aquery(asked))

    def stream(self, asked: str) -> Iterator[str]:
        response: Any = self._streaming.query(asked)
        yield from response.response_gen

    async def astream(self, asked: str) -> AsyncIterator[str]:
        response: Any = await self._streaming.aquery(asked)
        async for token in response.async_response_gen():
            yield token

    def bare(self) -> None:
        self.handler.uninstall()

    def live(self) -> int:
        return self.handler.live_spans

    def close(self) -> None:
        self.handler.uninstall()
        self.handler.close(60)


SIDES: dict[str, Callable[[Callable[[Record], None]], Side]] = {
    "langchain": LangChain,
    "llama_index": LlamaIndex,
}
