"""Summaries, which models write of many documents: of each its words are a draft, and no evidence."""

import re
import time

import pytest
from llama_index.core import SummaryIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

from groundwire.core.interaction import Passage
from groundwire.llama_index.showing import shown_in
from groundwire.llama_index.spans import Exchange
from groundwire.llama_index.words import behind
from tests.llama_index.apps import Oracle

MANY = 260  # models are asked more often than is remembered in any case


def report(n):
    return f"Report {n}: topic{n} has milled {n} tons of flour since the spring of {1000 + n}."


def reports(count):
    return SummaryIndex([TextNode(text=report(n), id_=str(n)) for n in range(count)])


class Condenses(Oracle):
    """Sums up what it is given in words of its own."""

    def _said(self, text):
        told = dict.fromkeys(re.findall(r"topic\d+", text))
        return f"All in all {' and '.join(list(told)[:3])} did as well as {len(told)} thousand others."


def summary_of(text):
    return str(Condenses().complete(f"Sum this up:\n{text}"))


def in_one_go(texts):
    return summary_of("\n".join(map(summary_of, texts)))


def one_after_the_other(texts):
    told = ""
    for text in texts:
        told = summary_of(f"{told}\n{text}")
    return told


async def by_messages(system, prompt):
    said = [ChatMessage(role="system", content=system), ChatMessage(role="user", content=prompt)]
    return (await Condenses().achat(said)).message.content


class SummingByMessages(Workflow):
    """Retrieves what it was made for, and has a chat model sum it up, or what it has noted of each."""

    notes: bool = False

    @step
    async def tell(self, ev: StartEvent) -> StopEvent:
        found = await reports(3).as_retriever().aretrieve("all reports")
        texts = [node.node.get_content() for node in found]
        if self.notes:
            texts = [await by_messages("Note.", f"What is new?\n\n{text}") for text in texts]
        return StopEvent(result=await by_messages("Write.", "\n\n".join(["Sum this up.", *texts])))


def put_together(texts):
    return "\n\n".join(map(summary_of, texts))


class Summing(Workflow):
    """Retrieves all there is, and has a model sum up each."""

    def __init__(self, count, made):
        super().__init__(timeout=None)
        self.index, self.made = reports(count), made

    @step
    async def tell(self, ev: StartEvent) -> StopEvent:
        found = await self.index.as_retriever().aretrieve(ev.query)
        return StopEvent(result=self.made([node.node.get_content() for node in found]))


class Compresses(BaseNodePostprocessor):
    """Has a model sum up each node."""

    def _postprocess_nodes(self, nodes, query_bundle=None):
        return [NodeWithScore(node=TextNode(text=summary_of(node.node.get_content()))) for node in nodes]


def seen(captured):
    return [passage.text for passage in captured.interaction.contexts]


@pytest.mark.parametrize("made", [in_one_go, one_after_the_other, put_together])
async def test_a_summary_is_held_against_all_documents_be_they_hundreds(made, heard):
    """A model is asked for each, and the first ones count as the last."""
    await Summing(MANY, made).run(query="Sum up.")
    assert seen(heard.only()) == [report(n) for n in range(MANY)]


def test_what_models_write_of_hundreds_of_nodes_is_no_evidence(heard):
    """As where a postprocessor compresses each: the first notes are drafts as the last are."""
    index = reports(MANY)
    index.as_query_engine(llm=Condenses(), node_postprocessors=[Compresses()]).query("Sum up.")
    assert sorted(seen(heard.only())) == sorted(report(n) for n in range(MANY))


@pytest.mark.parametrize("notes", [False, True])
@pytest.mark.parametrize("given", [{}, {"topic": "mills"}])
async def test_what_a_model_is_given_to_read_is_no_part_of_the_question(given, notes, heard):
    """Documents there are evidence, and a model's notes of them are nothing that a user has said."""
    flow = SummingByMessages()
    flow.notes = notes
    await flow.run(**given)
    captured = heard.only()
    assert captured.interaction.question == "Sum this up."
    assert seen(captured) == [report(n) for n in range(3)]


class Asks(Oracle):
    """Puts a question in other words."""

    def _said(self, text):
        return "What does The Annual report tell of topic0 and a mill?"


@pytest.mark.parametrize("rewritten", [False, True])
@pytest.mark.parametrize("title", ["a", "topic0", "The Annual report"])
async def test_nothing_is_taken_out_of_the_question_itself(title, rewritten, heard):
    """A title or a name that was found may stand in it, and a model may have put it in other words."""
    asked = Asks()._said("")

    class Titles(Workflow):
        @step
        async def tell(self, ev: StartEvent) -> StopEvent:
            index = SummaryIndex([TextNode(text=title), TextNode(text=report(0))])
            found = await index.as_retriever().aretrieve("all")
            ask = str(await Asks().acomplete("Ask in other words.")) if rewritten else asked
            return StopEvent(result=await by_messages("Write.", "\n".join([ask, f"- {found[1].text}"])))

    await Titles().run()
    assert heard.only().interaction.question == asked


async def test_short_documents_in_lines_of_their_own_are_no_part_of_the_question(heard):
    """They are too few words to be taken out of the midst of one."""
    rows = [f"topic{n} costs {n} EUR" for n in range(3)]

    class Rows(Workflow):
        @step
        async def tell(self, ev: StartEvent) -> StopEvent:
            found = await SummaryIndex([TextNode(text=row) for row in rows]).as_retriever().aretrieve("all")
            lines = ["Is it true that topic1 costs 1 EUR, and why?", *(f"- {node.text}" for node in found)]
            return StopEvent(result=await by_messages("Write.", "\n".join(lines)))

    await Rows().run()
    assert heard.only().interaction.question == "Is it true that topic1 costs 1 EUR, and why?"


async def test_a_question_beside_documents_keeps_the_turns_before_it(heard):
    """Its message is known again by all of its words, the documents included."""
    earlier = [ChatMessage(role=role, content=f"{role} says hello.") for role in ("user", "assistant")]

    class Chats(Workflow):
        @step
        async def tell(self, ev: StartEvent) -> StopEvent:
            found = await reports(1).as_retriever().aretrieve("all reports")
            asked = ChatMessage(role="user", content=f"{found[0].text}\n\nHow much was milled?")
            return StopEvent(result=(await Condenses().achat([*earlier, asked])).message.content)

    await Chats().run()
    seen_of = heard.only().interaction
    assert seen_of.question == "How much was milled?"
    assert [turn.text for turn in seen_of.history] == ["user says hello.", "assistant says hello."]


async def test_notes_of_many_documents_push_no_earlier_turns_out(heard):
    """The model that rewrites a question is told of the conversation, those that sum up are not."""
    earlier = [ChatMessage(role=role, content=f"{role} says hello.") for role in ("user", "assistant")]

    class Chats(Workflow):
        @step
        async def tell(self, ev: StartEvent) -> StopEvent:
            await Condenses().achat([*earlier, ChatMessage(role="user", content=ev.query)])
            found = await reports(40).as_retriever().aretrieve(ev.query)
            notes = [await by_messages("Note.", node.text) for node in found]
            return StopEvent(result=await by_messages("Write.", "\n".join([*notes, ev.query])))

    await Chats(timeout=None).run(query="How much was milled?")
    turns = heard.only().interaction.history
    assert [turn.text for turn in turns] == ["user says hello.", "assistant says hello."]


def test_it_takes_no_long_time_to_know_which_of_hundreds_a_prompt_shows():
    """Its words are looked up once, not once for each document that it doesn't hold."""
    found = [Passage(text=report(n)) for n in range(400)]
    told = "\n".join([report(399), *(f"Note {n} tells that it rained by the sea." for n in range(1500))])
    started = time.process_time()
    assert shown_in(told, found, "Sum up.") == found[399:]
    assert time.process_time() - started < 2.0


def test_who_was_handed_whose_words_is_told_in_the_time_that_reading_them_takes():
    """The last of hundreds of models was given the documents, and the words of all others."""
    page = "It rained by the sea on that day, and the miller told of the next one. " * 60
    said = [f"Note {n} tells that topic{n} did well." for n in range(800)]
    notes = [Exchange(span_id=str(n), told=f"{n}: {page}", said=one) for n, one in enumerate(said)]
    last = Exchange(span_id="last", told="\n".join([*said, *(one.told for one in notes)]), said="All well.")
    started = time.process_time()
    told = behind([last], [*notes, last])
    assert all(one.told in told for one in (notes[0], notes[-1], last))
    assert time.process_time() - started < 0.7
