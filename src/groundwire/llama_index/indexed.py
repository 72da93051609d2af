"""What a model wrote while an index was built, as far as LlamaIndex's own classes tell, and of what.

It is no evidence, for the model may have made it up; what it was written of is. Nothing tells other writings
from documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.data_structs import IndexGraph
from llama_index.core.extractors.interface import DEFAULT_NODE_TEXT_TEMPLATE
from llama_index.core.indices.tree.all_leaf_retriever import TreeAllLeafRetriever
from llama_index.core.indices.tree.tree_root_retriever import TreeRootRetriever
from llama_index.core.schema import (
    DEFAULT_TEXT_NODE_TMPL,
    BaseNode,
    MetadataMode,
    NodeWithScore,
    TextNode,
)
from llama_index.core.storage.docstore import SimpleDocumentStore

# What SummaryExtractor, QuestionsAnsweredExtractor and KeywordExtractor write of a node into that node.
_EXTRACTED = ("section_summary", "questions_this_excerpt_can_answer", "excerpt_keywords")


def shown(node: BaseNode) -> str:
    """A node's text with the metadata that is meant for models, without what an extractor's model wrote."""
    by_extractors = isinstance(node, TextNode) and node.text_template == DEFAULT_NODE_TEXT_TEMPLATE
    if by_extractors and any(key in node.metadata for key in _EXTRACTED):
        excluded = [*node.excluded_llm_metadata_keys, *_EXTRACTED]
        # Set as any other node, it is found again wherever a prompt holds its own text.
        usual = {"excluded_llm_metadata_keys": excluded, "text_template": DEFAULT_TEXT_NODE_TMPL}
        node = node.model_copy(update=usual)
    return node.get_content(metadata_mode=MetadataMode.LLM)


def summed_up(retriever: Any, found: Sequence[NodeWithScore]) -> Mapping[str, Sequence[NodeWithScore]]:
    """Those of the nodes ``found`` that sum up others of a TreeIndex, by their ids, each with its documents.

    Only of an index in memory: nothing is asked over a network here.
    """
    if not isinstance(retriever, TreeRootRetriever | TreeAllLeafRetriever):
        return {}
    tree, held = getattr(retriever, "_index_struct", None), getattr(retriever, "_docstore", None)
    if not isinstance(tree, IndexGraph) or not isinstance(held, SimpleDocumentStore):
        return {}
    below = {one.node.node_id: _leaves(tree.node_id_to_children_ids, one.node.node_id) for one in found}
    return {
        node_id: [NodeWithScore(node=leaf) for leaf in held.get_nodes(leaves, raise_error=False)]
        for node_id, leaves in below.items()
        if leaves != [node_id]
    }


def _leaves(children: Mapping[str, Sequence[str]], node_id: str) -> list[str]:
    below = children.get(node_id)
    return [leaf for child in below for leaf in _leaves(children, child)] if below else [node_id]
