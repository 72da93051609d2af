"""What a model wrote while an index was built is no evidence, where LlamaIndex says that it did."""

from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs groundwire[llama-index]")

from llama_index.core import TreeIndex
from llama_index.core.extractors import KeywordExtractor, QuestionsAnsweredExtractor, SummaryExtractor
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

from tests.llama_index.apps import (
    Library,
    Oracle,
    answer,
    engine,
    nodes,
    question,
    texts,
    told,
)

INVENTED = "The topic7 weighs 99 kilos."


class Sums(Oracle):
    """Writes of everything that topic 7 weighs 99 kilos."""

    reply: object = lambda _: INVENTED


def documents():
    return [node.node for node in nodes(7)]


@pytest.mark.parametrize("mode", ["root", "all_leaf"])
@pytest.mark.parametrize("way", ["query", "aquery"])
async def test_the_documents_of_a_tree_stand_for_what_a_model_has_summed_them_up_as(mode, way, heard):
    """However high a summary stands in the tree, each document counts once."""
    tree = TreeIndex(documents(), llm=Sums(), num_children=2)
    asked = tree.as_query_engine(llm=Oracle(), retriever_mode=mode)
    response = getattr(asked, way)(question(7))
    assert str(response if way == "query" else await response) == answer(7)
    assert sorted(one.text for one in heard.only().interaction.contexts) == sorted(told(7))


def test_a_tree_that_is_too_low_to_be_summed_up_is_its_documents(heard):
    """Its roots are documents."""
    tree = TreeIndex(documents(), llm=Sums(), num_children=10)
    tree.as_query_engine(llm=Oracle(), retriever_mode="root").query(question(7))
    assert [one.text for one in heard.only().interaction.contexts] == told(7)


class Kept(Library):
    """Finds these nodes."""

    kept: object = ()

    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=node) for node in self.kept]


def finding(kept):
    library = Kept()
    library.kept = kept
    return library


@pytest.mark.parametrize(
    "extractor",
    [
        SummaryExtractor(llm=Sums(), show_progress=False),
        QuestionsAnsweredExtractor(llm=Sums(), show_progress=False),
        KeywordExtractor(llm=Sums(), show_progress=False),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_an_extractor_s_model_wrote_of_a_node_is_no_evidence_beside_it(extractor, heard):
    """The model that answers is shown it, and the node's own text as well."""
    extracted = extractor.process_nodes(documents())
    assert INVENTED in extracted[0].get_content(metadata_mode="llm")
    engine(retriever=finding(extracted)).query(question(7))
    contexts = heard.only().interaction.contexts
    assert not any(INVENTED in one.text for one in contexts)
    assert all(
        text in one.text and "source: 7.md" in one.text for text, one in zip(texts(7), contexts, strict=True)
    )


class ByHand(CustomQueryEngine):
    """Fills a prompt of its own with all that a model is meant to see of the nodes."""

    retriever: Any

    def custom_query(self, query_str):
        shown = "\n".join(
            node.get_content(metadata_mode="llm") for node in self.retriever.retrieve(query_str)
        )
        return str(Oracle().complete(f"From this: {shown}\n{query_str}"))


def test_nodes_with_a_summary_count_as_shown_in_a_prompt_by_hand(heard):
    """They stand there with what the extractor wrote."""
    extracted = SummaryExtractor(llm=Sums(), show_progress=False).process_nodes(documents())
    ByHand(retriever=finding(extracted)).query(question(7))
    assert len(heard.only().interaction.contexts) == 3


def test_a_summary_that_no_extractor_wrote_is_evidence(heard):
    """It may be the document's own."""
    own = TextNode(text="topic7 is blue.", metadata={"section_summary": "topic7 weighs 7 kilos."})
    engine(retriever=finding([own])).query(question(7))
    (context,) = heard.only().interaction.contexts
    assert "topic7 weighs 7 kilos." in context.text


class FirstByHand(ByHand):
    """Drops all nodes but the first."""

    def custom_query(self, query_str):
        shown = self.retriever.retrieve(query_str)[0].node.get_content(metadata_mode="llm")
        return str(Oracle().complete(f"From this: {shown}\n{query_str}"))


def test_nodes_with_a_summary_that_code_has_dropped_are_no_evidence(heard):
    """The one that stands in the prompt is known again without its summary, and speaks for no other."""
    said = {
        "The topic7 weighs 40 kilos before it is boarded.": "Weights, and when to tell them",
        "Dogs travel free of charge on Sundays if they are kept on a lead.": "Dogs in the carriages",
        "The bistro opens at seven in the morning and closes at ten.": "Opening hours",
    }
    template = SummaryExtractor(llm=Sums(), show_progress=False).node_text_template
    kept = [
        TextNode(text=text, text_template=template, metadata={"source": "7.md", "section_summary": summary})
        for text, summary in said.items()
    ]
    FirstByHand(retriever=finding(kept)).query(question(7))
    (context,) = heard.only().interaction.contexts
    assert context.text == "source: 7.md\n\nThe topic7 weighs 40 kilos before it is boarded."
