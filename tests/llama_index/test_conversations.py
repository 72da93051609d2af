"""What was said before the question, in the forms that LlamaIndex's memories tell it to a model."""

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.generic_utils import messages_to_history_str
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.memory import ChatSummaryMemoryBuffer, Memory, StaticMemoryBlock
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.tools import RetrieverTool

from groundwire import Role
from tests.llama_index.apps import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    Library,
    Oracle,
    StepsByHand,
    answer,
    question,
)


def agent(memory):
    asked = FunctionAgent(tools=[RetrieverTool.from_defaults(Library())], llm=Oracle())
    return lambda text: asked.run(user_msg=text, memory=memory)


def context(memory):
    return ContextChatEngine.from_defaults(Library(), llm=Oracle(), memory=memory).achat


def condensed(memory):
    return CondensePlusContextChatEngine.from_defaults(Library(), llm=Oracle(), memory=memory).achat


def condensed_question(memory):
    engine = RetrieverQueryEngine.from_args(Library(), llm=Oracle())
    return CondenseQuestionChatEngine.from_defaults(engine, llm=Oracle(), memory=memory).achat


@pytest.mark.parametrize("ask", [agent, context, condensed, condensed_question])
async def test_what_a_memory_writes_before_the_user_s_words_is_none_of_theirs(ask, heard):
    """A model may have made it up; and what the user said in earlier turns is found all the same."""
    facts = StaticMemoryBlock(name="facts", static_content="I own topic5.\nIt weighs 9 kilos.")
    asked = ask(Memory.from_defaults(token_limit=4000, memory_blocks=[facts], insert_method="user"))
    for n in (7, 8):
        await asked(question(n))
    first, second = (captured.interaction for captured in heard.captured)
    assert (first.question, first.history) == (question(7), ())
    spoken = [turn.text for turn in second.history if turn.role is not Role.TOOL]
    assert (second.question, spoken) == (question(8), [question(7), answer(7)])


@pytest.mark.parametrize("ask", [context, condensed, condensed_question])
async def test_what_a_memory_s_model_has_summed_up_is_no_turn(ask, heard):
    """A memory keeps it as a system's message; nobody has said it, and a model may have made it up."""

    class Sums(Oracle):
        def _message(self, messages, tools=()):
            return ChatMessage(role="assistant", content="The user owns topic5.")

    memory = ChatSummaryMemoryBuffer.from_defaults(llm=Sums(), token_limit=20)
    asked = ask(memory)
    for n in (7, 8, 9):
        await asked(question(n))
    assert "The user owns topic5." in [message.content for message in memory.get_all()]
    last = heard.captured[-1].interaction
    assert last.question == question(9)
    assert [turn.text for turn in last.history] in ([], [question(8), answer(8)])


@pytest.mark.parametrize("as_given", [list, messages_to_history_str])
async def test_a_system_s_message_in_a_conversation_that_is_given_is_no_turn(as_given, heard):
    """It may be what a memory has summed up, or hold instructions."""
    said = [("system", "The user owns topic5."), ("user", question(8)), ("assistant", answer(8))]
    earlier = [ChatMessage(role=role, content=text) for role, text in said]

    await StepsByHand().run(query=question(7), chat_history=as_given(earlier))
    turns = heard.only().interaction.history
    assert [turn.text for turn in turns] == [question(8), answer(8)]
