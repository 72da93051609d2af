"""The handbook application as a LlamaIndex user would have it. It knows nothing of groundwire."""

from __future__ import annotations

from typing import Any

import bm25s
from llama_index.core.llms import LLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from examples.handbook.prepared import PAGES


def load_nodes() -> list[TextNode]:
    """The handbook: one node a page, with its title and file as metadata."""
    nodes = []
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        nodes.append(TextNode(text=text, id_=path.stem, metadata={"source": path.name, "title": title}))
    return nodes


class PageRetriever(BaseRetriever):
    """Finds pages by BM25."""

    def __init__(self, nodes: list[TextNode], similarity_top_k: int = 3) -> None:
        super().__init__()
        self.similarity_top_k = similarity_top_k
        self._nodes = nodes
        self._index = bm25s.BM25()
        self._index.index(_tokens([node.text for node in nodes]), show_progress=False)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = _tokens([query_bundle.query_str])
        found, scores = self._index.retrieve(query, k=self.similarity_top_k, show_progress=False)
        return [
            NodeWithScore(node=self._nodes[page], score=float(score))
            for page, score in zip(found[0], scores[0], strict=True)
        ]


def build(model: LLM, *, k: int = 3, streaming: bool = False) -> RetrieverQueryEngine:
    """The application: a question in, the model's answer from the ``k`` best pages out."""
    return RetrieverQueryEngine.from_args(
        PageRetriever(load_nodes(), similarity_top_k=k), llm=model, streaming=streaming
    )


def _tokens(texts: list[str]) -> Any:
    return bm25s.tokenize(texts, stopwords="en", show_progress=False)
