"""Small real applications to wrap: real LangChain runnables around a model that answers by a rule."""

import re
from collections.abc import Callable

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough

from groundwire import Checker
from tests.scripted import NovelWords

CHECKER = Checker(NovelWords())


class Shelf(BaseRetriever):
    """Finds the documents about the items that a question names, up to ``k``."""

    k: int = 1
    asked: list[tuple[str, int]] = []  # noqa: RUF012 - a pydantic field, copied for each instance

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun):
        self.asked.append((query, self.k))
        named = re.findall(r"item\d+", query)
        shelf = [Document(page_content=f"{name} costs {name[4:]}euro", id=name) for name in named]
        shelf += [Document(page_content=f"{name} lasts {name[4:]}years", id=f"{name}b") for name in named]
        return shelf[: self.k]


class Scribe(BaseChatModel):
    """Answers with ``rule`` of the whole prompt, streams word by word."""

    rule: Callable[[str], str]
    said: list[str] = []  # noqa: RUF012 - a pydantic field, copied for each instance

    @property
    def _llm_type(self) -> str:
        return "scribe"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        answer = self.rule("\n".join(str(m.text) for m in messages))
        self.said.append(answer)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        answer = self.rule("\n".join(str(m.text) for m in messages))
        for word in re.findall(r"\S+\s*", answer):
            yield ChatGenerationChunk(message=AIMessageChunk(word))
        self.said.append(answer)


def item(prompt: str) -> str:
    return re.findall(r"item\d+", prompt)[-1]


def faithful(prompt: str) -> str:
    return f"{item(prompt)} costs {item(prompt)[4:]}euro"


def inventive(prompt: str) -> str:
    return f"{item(prompt)} costs nothing"


def odd_ones_invent(prompt: str) -> str:
    return inventive(prompt) if int(item(prompt)[4:]) % 2 else faithful(prompt)


def better_when_told(prompt: str) -> str:
    """Invents, unless a note tells it which words the documents do not support."""
    return faithful(prompt) if '"nothing"' in prompt else inventive(prompt)


PROMPT = ChatPromptTemplate.from_template("Context: {context}\nQuestion: {question}")


def joined(documents: list[Document]) -> str:
    return "\n".join(document.page_content for document in documents)


def to_message(rule=faithful, retriever=None, model=None):
    model = model or Scribe(rule=rule)
    return {"context": (retriever or Shelf()) | joined, "question": RunnablePassthrough()} | PROMPT | model


def to_text(rule=faithful, retriever=None, model=None):
    return to_message(rule, retriever, model) | StrOutputParser()


def to_dict(rule=faithful, retriever=None):
    """A dict in and a dict out, with documents and answer, as create_retrieval_chain gives it."""
    found = (lambda given: given["question"]) | (retriever or Shelf())
    prompt = RunnablePassthrough.assign(context=lambda given: joined(given["context"])) | PROMPT
    answer = prompt | Scribe(rule=rule) | StrOutputParser()
    return RunnablePassthrough.assign(context=found).assign(answer=answer)
