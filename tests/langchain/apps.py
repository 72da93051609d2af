"""Small real LangChain and LangGraph applications, in which everything tells which question it belongs to.

The question about topic 7 must be answered from the documents about topic 7 with the words about topic 7;
so a capture that mixes two calls up can't look right.
"""

import asyncio
import re
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypedDict

from langchain.agents import create_agent
from langchain_classic.chains import RetrievalQA, create_history_aware_retriever, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.caches import InMemoryCache
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import create_retriever_tool, tool
from langgraph.graph import END, START, StateGraph

# -- the world: questions, documents and answers about numbered topics --------------------------------------


def question(n):
    return f"What about topic{n}?"


def texts(n):
    return [f"topic{n} weighs {n} kilos.", f"topic{n} was built in {1000 + n}.", f"topic{n} is blue."]


def answer(n):
    return f"The topic{n} weighs {n} kilos."


def topic(text):
    """The topic that a text speaks of last."""
    return int(re.findall(r"topic(\d+)", text)[-1])


def documents(n, score="score"):
    return [
        Document(page_content=text, id=f"{n}-{i}", metadata={score: 1 - i / 10, "source": f"{n}.md"})
        for i, text in enumerate(texts(n))
    ]


class Library(BaseRetriever):
    """Finds the documents about the topic that a query names."""

    score: str = "score"

    def _get_relevant_documents(self, query, *, run_manager):
        return documents(topic(query), self.score)


class Oracle(BaseChatModel):
    """Answers about the topic that the last human message names, word by word when streamed.

    Bound to tools, it calls the first of them, or makes the given ``call``, once before it answers. The first
    ``failures`` calls about a topic fail.
    """

    tools: list = []  # noqa: RUF012 - a pydantic field, copied for each instance
    call: Any = None
    failures: int = 0
    failed: Any = None
    reply: Callable[[int], str] = answer

    @property
    def _llm_type(self):
        return "oracle"

    def model_post_init(self, context):
        super().model_post_init(context)
        self.failed = self.failed or Counter()

    def bind_tools(self, tools, **kwargs):
        return self.model_copy(update={"tools": tools})

    def _reply(self, messages):
        asked = max(i for i, message in enumerate(messages) if message.type == "human")
        n = topic(str(messages[asked].text))
        if self.failed[n] < self.failures:
            self.failed[n] += 1
            raise ConnectionError("the model is not there")
        if self.tools and all(message.type != "tool" for message in messages[asked:]):
            call = {
                "name": getattr(self.tools[0], "name", ""),
                "args": {"query": question(n)},
                "id": f"call-{n}",
            }
            return AIMessage("", tool_calls=[self.call or call])
        return AIMessage(self.reply(n))

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        reply = self._reply(messages)
        if reply.tool_calls:
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_calls=reply.tool_calls))
        for word in re.findall(r"\S+\s*", reply.content):
            yield ChatGenerationChunk(message=AIMessageChunk(word))


def joined(documents):
    return "\n\n".join(document.page_content for document in documents)


PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Answer from this:\n{context}"), ("human", "{question}")]
)
CHAT = ChatPromptTemplate.from_messages(
    [("system", "Answer from this:\n{context}"), MessagesPlaceholder("chat_history"), ("human", "{input}")]
)

# -- the applications ---------------------------------------------------------------------------------------


@dataclass
class App:
    """A runnable, what it is asked about topic n, and what the capture must show of it."""

    runnable: Runnable
    ask: Callable[[int], Any] = question
    contexts: Callable[[int], list[str]] = texts
    config: dict = field(default_factory=dict)
    documents: bool = True  # whether the passages still carry their documents' ids
    streams: bool = True  # LangChain does not retry what has begun to stream


def lcel(model=None, retriever=None, form=joined):
    found = (retriever or Library()) | form if form else retriever or Library()
    return (
        {"context": found, "question": RunnablePassthrough()}
        | PROMPT
        | (model or Oracle())
        | StrOutputParser()
    )


def reranked():
    """The application keeps two of the three documents, the other way round."""
    return lcel(form=lambda documents: joined([documents[2], documents[0]]))


def numbered():
    return lcel(
        form=lambda documents: "\n".join(f"[{i}] {d.page_content}" for i, d in enumerate(documents, start=1))
    )


def retrieval_chain():
    return create_retrieval_chain(Library(), _stuffed())


def history_aware():
    condense = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{input}")])
    rewriting = Oracle(reply=lambda n: f"search words for topic{n}")
    return create_retrieval_chain(create_history_aware_retriever(rewriting, Library(), condense), _stuffed())


def _stuffed():
    return create_stuff_documents_chain(Oracle(), CHAT)


def retrieval_qa():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RetrievalQA.from_chain_type(Oracle(), retriever=Library())


def with_message_history():
    chain = RunnablePassthrough.assign(context=(lambda x: x["input"]) | Library() | joined) | CHAT | Oracle()
    past = InMemoryChatMessageHistory(messages=[HumanMessage("Hello"), AIMessage("Hello to you")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RunnableWithMessageHistory(
            chain,
            lambda session_id: past.model_copy(deep=True),
            input_messages_key="input",
            history_messages_key="chat_history",
        )


class State(TypedDict, total=False):
    question: str
    documents: list
    answer: str


def graph(generate):
    builder = StateGraph(State)
    builder.add_node("retrieve", lambda state: {"documents": Library().invoke(state["question"])})
    builder.add_node("generate", generate)
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "generate")
    builder.add_edge("generate", END)
    return builder.compile()


def generate_with_prompt(state):
    chain = PROMPT | Oracle() | StrOutputParser()
    return {"answer": chain.invoke({"context": joined(state["documents"]), "question": state["question"]})}


def generate_without_prompt(state):
    # The application shows the model the first two documents, in a text that no event tells apart.
    messages = [("system", f"Use: {joined(state['documents'][:2])}"), ("human", state["question"])]
    return {"answer": Oracle().invoke(messages).text}


@tool
def search(query: str) -> str:
    """Search the web."""
    return " ".join(texts(topic(query)))


def agent(searching):
    return create_agent(Oracle(), [searching])


def retriever_tool():
    return create_retriever_tool(Library(), "library", "Finds documents.")


def flaky_chain():
    """The first attempt fails after it has retrieved; the second succeeds."""
    return lcel(Oracle(failures=1)).with_retry(wait_exponential_jitter=False, stop_after_attempt=2)


def asked_in_messages(n):
    return {"messages": [("human", question(n))]}


def asked_in_chat(n):
    return {"input": question(n), "chat_history": [HumanMessage("Hello"), AIMessage("Hello to you")]}


def one_text(n):
    return [" ".join(texts(n))]


APPS: dict[str, Callable[[], App]] = {
    "lcel": lambda: App(lcel()),
    "a message as output": lambda: App(RunnablePassthrough() | lcel().first | PROMPT | Oracle()),
    "documents as they are": lambda: App(lcel(form=None)),
    "numbered documents": lambda: App(numbered()),
    "re-ranked and cut": lambda: App(reranked(), contexts=lambda n: [texts(n)[2], texts(n)[0]]),
    "retrieval chain": lambda: App(retrieval_chain(), ask=asked_in_chat),
    "history-aware retrieval": lambda: App(history_aware(), ask=asked_in_chat),
    "RetrievalQA": lambda: App(retrieval_qa(), ask=lambda n: {"query": question(n)}),
    "message history": lambda: App(
        with_message_history(),
        ask=lambda n: {"input": question(n)},
        config={"configurable": {"session_id": "1"}},
    ),
    "graph with a prompt": lambda: App(graph(generate_with_prompt), ask=lambda n: {"question": question(n)}),
    "graph without a prompt": lambda: App(
        graph(generate_without_prompt),
        ask=lambda n: {"question": question(n)},
        contexts=lambda n: texts(n)[:2],
    ),
    "agent with a retriever tool": lambda: App(agent(retriever_tool()), ask=asked_in_messages),
    "agent with a search tool": lambda: App(
        agent(search), ask=asked_in_messages, contexts=one_text, documents=False
    ),
    "chain with retry": lambda: App(flaky_chain(), streams=False),
    "model with retry": lambda: App(
        lcel(Oracle(failures=1).with_retry(wait_exponential_jitter=False)), streams=False
    ),
    "model with fallback": lambda: App(lcel(Oracle(failures=9).with_fallbacks([Oracle()]))),
    "chain with fallback": lambda: App(lcel(Oracle(failures=9)).with_fallbacks([lcel()])),
    "cached model": lambda: App(lcel(Oracle(cache=InMemoryCache()))),
    "nested retrievers": lambda: App(
        lcel(retriever=EnsembleRetriever(retrievers=[Library(), Library()], weights=[0.5, 0.5]))
    ),
    "inside another chain": lambda: App(
        RunnableLambda(lambda x: x.strip()) | lcel() | (lambda said: {"said": said})
    ),
}

# -- the ways to run one ------------------------------------------------------------------------------------


STREAMS = ("stream", "astream", "astream_events")


def streamed(runnable, given, config):
    for item in given:
        for _ in runnable.stream(item, config):
            pass


async def gathered(runnable, given, config):
    await asyncio.gather(*(runnable.ainvoke(item, config) for item in given))


async def astreamed(runnable, given, config):
    async def read(item):
        async for _ in runnable.astream(item, config):
            pass

    await asyncio.gather(*map(read, given))


async def astreamed_events(runnable, given, config):
    for item in given:
        async for _ in runnable.astream_events(item, config, version="v2"):
            pass


WAYS: dict[str, Callable[[Runnable, list, dict], Any]] = {
    "invoke": lambda runnable, given, config: [runnable.invoke(item, config) for item in given],
    "gathered ainvoke": lambda *call: asyncio.run(gathered(*call)),
    "batch": lambda runnable, given, config: runnable.batch(given, config),
    "abatch": lambda runnable, given, config: asyncio.run(runnable.abatch(given, config)),
    "stream": streamed,
    "astream": lambda *call: asyncio.run(astreamed(*call)),
    "astream_events": lambda *call: asyncio.run(astreamed_events(*call)),
}
