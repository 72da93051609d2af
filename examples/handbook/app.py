"""A RAG application over the handbook, as many LangChain users have one. It knows nothing of groundwire."""

from __future__ import annotations

import bm25s
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from pydantic import PrivateAttr

from examples.handbook.prepared import PAGES

INSTRUCTIONS = """You answer passengers of Skerryvane Airways. Use only these pages of the customer handbook,
and say so when they don't hold the answer."""

PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", INSTRUCTIONS + "\n\n{context}"),
        ("human", "{question}"),
    ]
)


def load_pages() -> list[Document]:
    """The handbook: one document a page, with its title and file as metadata."""
    pages = []
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        metadata = {"source": path.name, "title": title}
        pages.append(Document(page_content=text, id=path.stem, metadata=metadata))
    return pages


class PageRetriever(BaseRetriever):
    """Finds pages by BM25."""

    pages: list[Document]
    k: int = 3
    _index: bm25s.BM25 = PrivateAttr()

    def model_post_init(self, context: object, /) -> None:
        """Index the pages once."""
        super().model_post_init(context)
        self._index = bm25s.BM25()
        self._index.index(_tokens([page.page_content for page in self.pages]), show_progress=False)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        del run_manager
        found, scores = self._index.retrieve(_tokens([query]), k=self.k, show_progress=False)
        return [
            _scored(self.pages[page], float(score)) for page, score in zip(found[0], scores[0], strict=True)
        ]


def build(model: BaseChatModel, *, k: int = 3) -> Runnable[str, str]:
    """The application: a question in, the model's answer from the ``k`` best pages out."""
    retriever = PageRetriever(pages=load_pages(), k=k)
    found = {"context": retriever | _join, "question": RunnablePassthrough()}
    return found | PROMPT | model | StrOutputParser()


def _scored(page: Document, score: float) -> Document:
    return page.model_copy(update={"metadata": {**page.metadata, "score": score}})


def _join(pages: list[Document]) -> str:
    return "\n\n---\n\n".join(page.page_content for page in pages)


def _tokens(texts: list[str]) -> bm25s.tokenization.Tokenized:
    return bm25s.tokenize(texts, stopwords="en", show_progress=False)
