"""A small airline desk: a real chain over a scripted model that is right or wrong as the question says."""

import asyncio
import re
from functools import reduce
from operator import add

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough

from tests.servers.langsmith_server import langsmith_server, langsmith_tracing

__all__ = ["langsmith_server", "langsmith_tracing"]


BAGS = [f"bag {number}" for number in range(8)]


class Handbook(BaseRetriever):
    """Knows one fact about every bag, named by its number."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun):
        return [Document(page_content=f"bag {_number(query)} costs {_number(query)} euros")]


class Desk(SimpleChatModel):
    """Answers from the handbook when the bag's number is even, and invents a fee when it is odd."""

    @property
    def _llm_type(self) -> str:
        return "desk"

    def _call(self, messages, stop=None, run_manager=None, **kwargs):
        return answer_to(messages[-1].content)

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        for word in re.findall(r"\S+\s*", answer_to(messages[-1].content)):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))


def answer_to(question):
    number = _number(question)
    return f"bag {number} costs " + ("INVENTED euros" if number % 2 else f"{number} euros")


def _number(text):
    return int(re.search(r"bag (\d+)", text)[1])


def airline_desk():
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    context = Handbook() | (lambda documents: "\n".join(d.page_content for d in documents))
    return (
        {"context": context, "question": RunnablePassthrough()} | prompt | Desk() | StrOutputParser()
    ).with_config(run_name="airline desk")


@pytest.fixture
def chain():
    return airline_desk()


def invoke(chain, inputs, config):
    return [chain.invoke(question, config) for question in inputs]


def batch(chain, inputs, config):
    return chain.batch(inputs, config)


def stream(chain, inputs, config):
    return [reduce(add, chain.stream(question, config)) for question in inputs]


def ainvoke(chain, inputs, config):
    async def gathered():
        return await asyncio.gather(*(chain.ainvoke(question, config) for question in inputs))

    return asyncio.run(gathered())


def abatch(chain, inputs, config):
    return asyncio.run(chain.abatch(inputs, config))


def astream(chain, inputs, config):
    async def one(question):
        return reduce(add, [chunk async for chunk in chain.astream(question, config)])

    async def gathered():
        return await asyncio.gather(*(one(question) for question in inputs))

    return asyncio.run(gathered())


MODES = [invoke, batch, stream, ainvoke, abatch, astream]
every_mode = pytest.mark.parametrize("run", MODES, ids=lambda run: run.__name__)


def arrive(*sinks):
    """Everything is on the server, runs and verdicts, or the test fails."""
    from langsmith import run_trees

    assert all(sink.flush(10) for sink in sinks)
    if run_trees._CLIENT is not None:
        run_trees._CLIENT.flush(timeout=10)
