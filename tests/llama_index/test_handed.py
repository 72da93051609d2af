"""An agent or a chat engine that a workflow hands what it found is held against that."""

import pytest

pytest.importorskip("llama_index.core", reason="needs groundwire[llama-index]")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.tools import RetrieverTool
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

from tests.llama_index.apps import Library, Oracle, answer, memory, question, searching, texts, told

ASKED = "Say of topic7 in short what this says:"


class Found(Event):
    said: str


async def found_by_an_agent(asked):
    tool = RetrieverTool.from_defaults(Library(), name="shelf", description="Topics.")
    return str(await searching(tool).run(asked))


async def found_by_the_workflow(asked):
    return "\n".join(node.node.get_content() for node in await Library().aretrieve(asked))


async def to_an_agent(said):
    return str(await FunctionAgent(name="writer", tools=[], llm=Oracle()).run(said))


async def to_a_chat(said):
    return str(await SimpleChatEngine.from_defaults(llm=Oracle(), memory=memory()).achat(said))


async def to_a_chat_that_streams(said):
    response = await SimpleChatEngine.from_defaults(llm=Oracle(), memory=memory()).astream_chat(said)
    return "".join([token async for token in response.async_response_gen()])


class HandsOn(Workflow):
    """Has something found, and hands it on to somebody who finds nothing."""

    def __init__(self, find, hand, words="{}"):
        super().__init__()
        self.find, self.hand, self.words = find, hand, words

    @step
    async def search(self, ev: StartEvent) -> Found:
        return Found(said=await self.find(ev.query))

    @step
    async def write(self, ev: Found) -> StopEvent:
        return StopEvent(result=await self.hand(f"{ASKED}\n{self.words.format(ev.said)}"))


@pytest.mark.parametrize("hand", [to_an_agent, to_a_chat, to_a_chat_that_streams])
@pytest.mark.parametrize("find", [found_by_an_agent, found_by_the_workflow])
async def test_who_is_handed_what_was_found_is_held_against_it(find, hand, heard):
    """What stands in the message to be read is no part of the question, be it documents or an answer."""
    await HandsOn(find, hand).run(query=question(7))
    last = heard.captured[-1]
    assert len(heard.captured) == (2 if find is found_by_an_agent else 1)
    assert last.problem is None
    assert [one.text for one in last.interaction.contexts] == told(7)
    assert last.interaction.question == ASKED
    assert last.interaction.answer == answer(7)


async def test_what_nobody_was_handed_is_no_evidence(heard):
    """It was found around an agent that was told nothing of it."""
    await HandsOn(found_by_the_workflow, to_an_agent, words="topic7 is blue, I think.").run(query=question(7))
    last = heard.captured[-1]
    assert last.problem == "NO_CONTEXT"
    assert last.interaction.question == f"{ASKED}\ntopic7 is blue, I think."


async def test_of_what_was_found_those_are_evidence_that_were_handed_on(heard):
    """The others were dropped."""
    await HandsOn(found_by_the_workflow, to_an_agent, words=texts(7)[0]).run(query=question(7))
    assert [one.text for one in heard.captured[-1].interaction.contexts] == told(7)[:1]


async def test_what_was_found_first_of_hundreds_is_known_to_who_is_handed_it(heard):
    """As in a workflow that looks up much at a time."""

    async def find_much(asked):
        first = await found_by_the_workflow(asked)
        for n in range(300):
            await Library().aretrieve(question(100 + n))
        return first

    await HandsOn(find_much, to_an_agent).run(query=question(7))
    captured = heard.only()
    assert [one.text for one in captured.interaction.contexts] == told(7)
    assert captured.interaction.question == ASKED
