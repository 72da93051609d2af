"""Nodes that a model wrote are no evidence, wherever and in whatever form: what it was told is."""

import copy
import json
import time

import pytest
from llama_index.core import PromptTemplate, VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import IndexNode, NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from pydantic import BaseModel

from groundwire import AbstentionReason
from tests.llama_index.apps import Library, Oracle, engine, memory, nodes, question, searching, told

MADE_UP = "The topic7 weighs 99 kilos, and whoever is a member may carry two of them."
ASKED = "Extract what matters: "


class Invents(Oracle):
    """Says what nobody has told it: as a text, or as the arguments of a call where it is given tools."""

    said: str = MADE_UP
    sent: str = "dicts"  # as some providers write calls, or as others do

    def _said(self, text):
        return self.said

    def _message(self, messages, tools=()):
        return ChatMessage(role="assistant", content=self.said)

    def _called(self):
        words = {"title": "Weights", "summary": self.said}
        if self.sent == "blocks":
            block = {"block_type": "tool_call", "tool_name": "Summary", "tool_kwargs": words}
            return ChatMessage(role="assistant", blocks=[block])
        call = {"id": "1", "function": {"name": "Summary", "arguments": json.dumps(words)}}
        return ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]})

    def chat(self, messages, **kwargs):
        message = self._called() if kwargs.get("tools") else self._message(messages)
        return ChatResponse(message=message)

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs):
        words = {"title": "Weights", "summary": self.said}
        return [ToolSelection(tool_id="1", tool_name="Summary", tool_kwargs=words)]


class Summary(BaseModel):
    """A summary."""

    title: str
    summary: str


def completed(text):
    return str(Invents().complete(f"{ASKED}{text}"))


def streamed(text):
    return [part.text for part in Invents().stream_complete(f"{ASKED}{text}")][-1]


def filled(text, sent="dicts"):
    template = PromptTemplate(ASKED + "{text}")
    return Invents(sent=sent).structured_predict(Summary, template, text=text).summary


def filled_in_blocks(text):
    return filled(text, "blocks")


class FillsItself(Invents):
    """Fills a form without a call that is heard, as some providers' models do."""

    def structured_predict(self, output_cls, prompt, llm_kwargs=None, **prompt_args):
        return output_cls(title="Weights", summary=self.said)


def filled_unheard(text):
    return FillsItself().structured_predict(Summary, PromptTemplate(ASKED + "{text}"), text=text).summary


WAYS = [completed, filled, filled_in_blocks, filled_unheard]


def seen(captured):
    return [passage.text for passage in captured.interaction.contexts]


class Compresses(BaseNodePostprocessor):
    """Has a model write what each node comes to, in a copy of the node or in itself."""

    written: object = completed
    in_place: bool = False

    def _postprocess_nodes(self, nodes, query_bundle=None):
        kept = nodes if self.in_place else copy.deepcopy(nodes)
        for node in kept:
            node.node.set_content(self.written(node.node.get_content()))
        return kept


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("written", [*WAYS, streamed])
def test_what_a_model_writes_in_a_postprocessor_is_no_evidence(written, in_place, heard):
    """The nodes that the postprocessor was given are, and of those the ones that are answered from."""
    app = engine(node_postprocessors=[Compresses(written=written, in_place=in_place)])
    app.query(question(7))
    assert seen(heard.only()) == told(7)


def test_a_second_postprocessor_does_not_make_evidence_of_a_model_s_words(heard):
    """What the first one's model wrote is what the second one's was told."""
    engine(node_postprocessors=[Compresses(), Compresses(written=filled)]).query(question(7))
    assert seen(heard.only()) == told(7)


def test_what_a_model_takes_out_of_a_node_word_by_word_is_evidence(heard):
    """It has made nothing up, and is what the next model saw."""

    class Extracts(Compresses):
        def _postprocess_nodes(self, nodes, query_bundle=None):
            for node in nodes:
                said = node.node.get_content().rsplit(" ", 1)[0]
                reader = Invents(said=said).complete(f"{ASKED}{node.node.get_content()}")
                node.node.set_content(str(reader))
            return nodes

    engine(node_postprocessors=[Extracts()]).query(question(7))
    assert seen(heard.only()) == [text.rsplit(" ", 1)[0] for text in told(7)]


def test_an_opinion_that_a_model_takes_from_the_question_is_no_evidence(heard):
    """It was told that by whoever asked."""
    asked = f"Is this true? {MADE_UP}"

    class Agrees(Compresses):
        def _postprocess_nodes(self, nodes, query_bundle=None):
            for node in nodes:
                node.node.set_content(str(Invents().complete(f"{asked}\n{node.node.get_content()}")))
            return nodes

    engine(node_postprocessors=[Agrees()]).query(asked)
    assert seen(heard.only()) == told(7)


NOTED = {
    "a new node": lambda node, said: TextNode(text=said),
    "a new node with the metadata": lambda node, said: TextNode(text=said, metadata=node.node.metadata),
    "a new node with a heading": lambda node, said: TextNode(text=f"Note: {said}"),
    "a new node for each line": lambda node, said: TextNode(text=said.splitlines()[-1].strip("- ")),
    "the node itself": lambda node, said: node.node.set_content(said) or node.node,
}


@pytest.mark.parametrize("form", NOTED)
@pytest.mark.parametrize("app", ["engine", "workflow"])
async def test_a_synthesizer_that_is_given_a_model_s_notes_answers_from_what_was_noted(app, form, heard):
    """The notes are a model's words, whoever wraps them."""
    said = f"- First of all, the topic7 is heavy.\n- {MADE_UP}"

    def notes(found):
        written = (str(Invents(said=said).complete(f"{ASKED}{node.get_content()}")) for node in found)
        made = [NOTED[form](node, text) for node, text in zip(found, written, strict=True)]
        return [NodeWithScore(node=node, score=1.0) for node in made]

    class Notes(CustomQueryEngine):
        def custom_query(self, query_str):
            found = notes(Library().retrieve(query_str))
            return get_response_synthesizer(llm=Oracle()).synthesize(query_str, found)

    class NotesInSteps(Workflow):
        @step
        async def note(self, ev: StartEvent) -> StopEvent:
            found = notes(await Library().aretrieve(ev.query))
            synthesizer = get_response_synthesizer(llm=Oracle())
            return StopEvent(result=await synthesizer.asynthesize(ev.query, found))

    if app == "engine":
        Notes().query(question(7))
    else:
        await NotesInSteps(timeout=20).run(query=question(7))
    assert seen(heard.only()) == told(7)


def test_notes_stand_for_what_their_model_was_told(heard):
    """Not for all that was found before, of which it saw nothing."""

    class Notes(CustomQueryEngine):
        def custom_query(self, query_str):
            Library().retrieve(question(8))
            found = Library().retrieve(query_str)
            note = NodeWithScore(node=TextNode(text=completed(found[0].get_content())), score=1.0)
            return get_response_synthesizer(llm=Oracle()).synthesize(query_str, [note])

    Notes().query(question(7))
    assert seen(heard.only()) == told(7)[:1]


def test_notes_of_nothing_are_no_context(heard):
    """A model's own words, that were made nodes, support nobody."""

    class Notes(CustomQueryEngine):
        def custom_query(self, query_str):
            note = NodeWithScore(node=TextNode(text=f"Note: {completed(query_str)}"), score=1.0)
            return get_response_synthesizer(llm=Oracle()).synthesize(query_str, [note])

    Notes().query(question(7))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT


@pytest.mark.parametrize("wrapped", [str, "Summary: {}".format, "Weights\n\n{}".format, "{} (7.md)".format])
@pytest.mark.parametrize("written", [*WAYS, streamed])
def test_what_a_model_in_a_retriever_writes_is_no_evidence_in_any_form(written, wrapped, heard):
    """With a heading, a source, or as a field of a form."""

    class Condenses(Library):
        def _retrieve(self, query_bundle):
            found = Library().retrieve(query_bundle)
            said = written("\n".join(node.get_content() for node in found))
            return [NodeWithScore(node=TextNode(text=wrapped(said)), score=1.0)]

    engine(retriever=Condenses()).query(question(7))
    assert seen(heard.only()) == told(7)


def test_what_a_retriever_found_by_a_model_s_query_is_evidence_beside_the_query(heard):
    """As of a graph or a database, whose nodes hold both."""
    query = "MATCH (t:Topic {name: 'topic7'}) WHERE t.sort = 'weight' RETURN t.kilos"

    class Graph(Library):
        def _retrieve(self, query_bundle):
            asked = Invents(said=query).complete(query_bundle.query_str)
            text = f"Generated query:\n{asked}\n\nResponse:\n[{{'topic7 weighs': 7}}]"
            return [NodeWithScore(node=TextNode(text=text), score=1.0)]

    engine(retriever=Graph()).query(question(7))
    (passage,) = seen(heard.only())
    assert "'topic7 weighs': 7" in passage
    assert "weight" not in passage


def test_what_a_model_guesses_before_a_retriever_searches_takes_nothing_from_what_is_found(heard):
    """A document may say so as well, and more."""
    document = f"{MADE_UP} It was built in 1007, of iron, and it is blue on all sides but one of them."

    class Guesses(Library):
        def _retrieve(self, query_bundle):
            Invents().complete(query_bundle.query_str)
            return [NodeWithScore(node=TextNode(text=document), score=1.0)]

    engine(retriever=Guesses()).query(question(7))
    assert seen(heard.only()) == [document]


class Weight(BaseModel):
    """A weight."""

    name: str
    note: str


def test_a_form_that_an_engine_in_a_retriever_fills_is_no_evidence(heard):
    """Core writes it into a node as JSON of its own spacing."""
    llm = FillsWeight()
    inner = engine(llm=llm, output_cls=Weight)
    index = VectorStoreIndex(objects=[IndexNode(text="All topics", index_id="all", obj=inner)])
    engine(retriever=index.as_retriever()).query(question(7))
    assert seen(heard.only()) == told(7)


class FillsWeight(Oracle):
    """Fills the form of a weight."""

    def structured_predict(self, output_cls, prompt, llm_kwargs=None, **prompt_args):
        return output_cls(name="topic7", note=MADE_UP)


# -- tools


def chat(llm):
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory())


async def chat_stream(text):
    response = await chat(Invents()).astream_chat(text)
    return "".join([token async for token in response.async_response_gen()])


async def in_a_form(text):
    return f"The summary: {filled(text)}"


async def in_blocks(text):
    return filled_in_blocks(text)


async def unheard(text):
    return filled_unheard(text)


@pytest.mark.parametrize("asked", [chat_stream, in_a_form, in_blocks, unheard])
async def test_what_a_model_says_in_a_tool_by_a_form_or_a_chat_s_stream_is_no_evidence(asked, heard):
    """Its words are in the arguments of its call, or with the reader of the stream."""

    async def look(input: str) -> str:  # noqa: A002 - the argument's name is what the model is told
        """Look a topic up."""
        return await asked(input)

    await searching(FunctionTool.from_defaults(async_fn=look)).run(user_msg=question(7))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT


def test_nodes_that_code_writes_stay_evidence(heard):
    """No model has said what stands there."""

    class Cuts(Compresses):
        def _postprocess_nodes(self, nodes, query_bundle=None):
            return [NodeWithScore(node=TextNode(text=f"Of {n.node_id}: {n.node.text[:9]}")) for n in nodes]

    engine(node_postprocessors=[Cuts()]).query(question(7))
    assert seen(heard.only()) == [f"Of {one.node_id}: {one.node.text[:9]}" for one in nodes(7)]


class Notes(Oracle):
    """Writes a list of its own of each text."""

    def _said(self, text):
        number = text.rpartition(" ")[2]
        return "\n".join(f"- In case {number} rule {i} allows members one more of them." for i in range(25))


class Many(BaseRetriever):
    """Finds forty nodes."""

    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=TextNode(text=f"topic7 in case {i}"), score=0.5) for i in range(40)]


def test_it_takes_no_long_time_to_know_what_a_model_has_written_of_many_nodes(heard):
    """The application waits for it."""
    app = engine(
        "simple_summarize",
        retriever=Many(),
        node_postprocessors=[Compresses(written=lambda text: str(Notes().complete(text)))],
    )
    started = time.process_time()
    app.query(question(7))
    assert time.process_time() - started < 3.0
    assert [passage.text for passage in heard.only().interaction.contexts] == [
        f"topic7 in case {i}" for i in range(40)
    ]
