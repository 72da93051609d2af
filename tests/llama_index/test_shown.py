"""What was found and dropped again is no evidence: nobody was told of it."""

import pytest
from llama_index.core.base.llms.types import ChatMessage, CitableBlock, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import StopEvent, step

from groundwire import AbstentionReason
from tests.llama_index.apps import Fetched, Library, Oracle, Steps, in_a_function, question, searching, told


def contexts(captured):
    return [passage.text for passage in captured.interaction.contexts]


def found():
    return [node.node.get_content() for node in Library().retrieve(question(7))]


@in_a_function
@pytest.mark.parametrize("form", ["\n\n".join, str], ids=["text", "list"])
async def test_what_a_tool_s_code_drops_of_what_it_found_is_no_evidence(form, heard):
    """As where it leaves out what is old, or what the user may not see."""

    def look_up(input: str):  # noqa: A002 - the argument's name is what the model is told
        """Look up what is still so."""
        return form([text for text in found() if "built" not in text])

    await searching(FunctionTool.from_defaults(look_up)).run(user_msg=question(7))
    assert contexts(heard.only()) == [told(7)[0], told(7)[2]]


@in_a_function
async def test_what_a_tool_says_in_other_words_is_held_against_all_that_it_found(heard):
    """Some model that is not heard may have written them, so they are no evidence themselves."""

    def look_up(input: str):  # noqa: A002 - as above
        """Look up."""
        return f"{len(found())} facts are known: heavy, old, of a colour."

    await searching(FunctionTool.from_defaults(look_up)).run(user_msg=question(7))
    assert contexts(heard.only()) == told(7)


async def test_what_a_model_writes_in_a_tool_beside_one_text_is_held_against_all_that_was_found(heard):
    """It was told of them all."""

    async def look_up(input: str):  # noqa: A002 - as above
        """Look up."""
        notes = await Oracle().acomplete("\n".join(found()))
        return f"{found()[0]}\n{notes}"

    await searching(FunctionTool.from_defaults(look_up)).run(user_msg=question(7))
    assert contexts(heard.only()) == told(7)


@pytest.mark.parametrize("nothing", [None, {}, [], "[]", "null"], ids=repr)
async def test_a_tool_that_found_nothing_brings_nothing(nothing, heard):
    """What Python and JSON write for it is no document."""

    def look_up(input: str):  # noqa: A002 - as above
        """Look up."""
        return nothing

    await searching(FunctionTool.from_defaults(look_up)).run(user_msg=question(7))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT
    assert heard.only().interaction.contexts == ()


def citable(text):
    return CitableBlock(title="A leaf", source="7.md", content=[TextBlock(text=text)])


async def test_what_a_tool_returns_to_be_cited_is_evidence(heard):
    """LlamaIndex hands a provider such blocks beside the text."""

    def look_up(input: str):  # noqa: A002 - as above
        """Look up."""
        return [citable("topic7 weighs 7 kilos."), TextBlock(text="See above.")]

    await searching(FunctionTool.from_defaults(look_up)).run(user_msg=question(7))
    assert contexts(heard.only()) == ["topic7 weighs 7 kilos.\nSee above."]


async def test_what_a_model_is_shown_to_be_cited_counts_as_shown(heard):
    """A workflow may fill a message with them."""

    class Cites(Steps):
        @step
        async def tell(self, ev: Fetched) -> StopEvent:
            blocks = [citable(node.node.get_content()) for node in ev.found[:2]]
            message = ChatMessage(role="user", blocks=[*blocks, TextBlock(text=ev.asked)])
            return StopEvent(result=await Oracle().achat([message]))

    await Cites().run(query=question(7))
    assert contexts(heard.only()) == told(7)[:2]
