"""The middleware beside others that put documents into an agent's prompt, as LangChain's tutorial does."""

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware, dynamic_prompt, hook_config
from langchain.tools import ToolRuntime
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import LLMChainExtractor
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from groundwire import AbstentionReason
from groundwire.langchain import HallucinationMiddleware
from tests.langchain.test_middleware import ONCE, RIGHT, WRONG, Script, ask, call, search
from tests.langchain.wrapped_apps import CHECKER, Shelf

LONG = "item4 costs 4euro at the counter, and has done so ever since the shop was opened"
FOUND = [Document(RIGHT, id="d3"), Document(LONG, id="d4")]


class WithDocuments(AgentState):
    """A state in which documents are kept."""

    documents: list


def shown(documents):
    return "Answer from this:\n" + "\n\n".join(document.page_content for document in documents)


@dynamic_prompt
def retrieving(request):
    return shown(Shelf().invoke(request.messages[-1].text))


@dynamic_prompt
def searching(request):
    search = RunnableLambda(lambda _: FOUND).with_config(tags=["groundwire:context"])
    return shown(search.invoke(request.messages[-1].text))


@dynamic_prompt
def remembering(request):
    return shown(request.state.get("documents") or [])


class Rewriting(AgentMiddleware):
    """Writes what it finds into the user's message, and keeps it."""

    state_schema = WithDocuments

    def before_model(self, state, runtime):
        last = state["messages"][-1]
        if last.type != "human":
            return None
        told = last.model_copy(update={"content": f"{last.text}\n\n{shown(FOUND)}"})
        return {"messages": [told], "documents": FOUND}


class Once(Rewriting):
    """Keeps what it finds in the first turn alone, and leaves the user's message as it is."""

    def before_model(self, state, runtime):
        return None if state.get("documents") else {"documents": FOUND}


class Guarding(AgentMiddleware):
    """Asks a model of its own whether an answer may be given."""

    def wrap_model_call(self, request, handler):
        response = handler(request)
        Script(responses=[AIMessage("yes")]).invoke(f"Is this polite? {response.result[-1].text}")
        return response


class Keeping(AgentMiddleware):
    """Has room in the state for what tools keep."""

    state_schema = WithDocuments


@tool
def look_up(query: str, runtime: ToolRuntime) -> Command:
    """Keep what was found."""
    return kept(FOUND, runtime, "Found 2 documents.")


@tool
def sum_up(query: str, runtime: ToolRuntime) -> Command:
    """Keep what a model says."""
    said = Script(responses=[AIMessage(WRONG)]).invoke(query).text
    return kept([Document(said)], runtime, said)


def kept(documents, runtime, said):
    message = ToolMessage(said, tool_call_id=runtime.tool_call_id)
    return Command(update={"documents": documents, "messages": [message]})


def agent(*said, beside, tools=(), **options):
    """An agent with such a middleware, and a list of what was found to be hallucinated."""
    judged = []
    checking = HallucinationMiddleware(
        checker=CHECKER, on_hallucination=lambda interaction, _: judged.append(interaction)
    )
    script = Script(responses=[AIMessage(one) if isinstance(one, str) else one for one in said])
    return create_agent(script, list(tools), middleware=[checking, *beside], **options), judged


def told(interaction):
    return [passage.text for passage in interaction.contexts]


@pytest.mark.parametrize("beside", [retrieving, searching, Rewriting()])
def test_documents_that_a_middleware_puts_into_the_prompt_are_the_context(beside):
    """They may come from a retriever, from a step that is tagged, or stand in the agent's state."""
    right, _ = agent(RIGHT, beside=[beside])
    assert ask(right)["hallucination"]["hallucinated"] is False
    wrong, judged = agent(WRONG, beside=[beside])
    assert ask(wrong)["hallucination"]["hallucinated"] is True
    assert told(judged[0])[0] == RIGHT


@pytest.mark.parametrize("beside", [[Guarding(), searching], [searching, Guarding()]])
def test_a_model_that_is_asked_about_the_answer_is_not_the_one_that_answered(beside):
    """What the answering model was told is the context, be the other asked after it."""
    wrong, judged = agent(WRONG, beside=beside)
    assert ask(wrong)["hallucination"]["hallucinated"] is True
    assert told(judged[0])[0] == RIGHT


def test_documents_in_the_user_s_message_are_no_part_of_the_question():
    """An answer is judged by what was asked."""
    wrong, judged = agent(WRONG, beside=[Rewriting()])
    ask(wrong)
    assert judged[0].question.startswith("What does item3 cost?")
    assert LONG not in judged[0].question


async def test_an_agent_on_an_event_loop_is_told_of_them_alike():
    """The same in the other colour."""
    right, _ = agent(RIGHT, beside=[Rewriting()])
    result = await right.ainvoke({"messages": [HumanMessage("item3?")]})
    assert result["hallucination"]["hallucinated"] is False


def test_documents_that_a_tool_keeps_in_the_state_count_where_the_prompt_shows_them():
    """The tool's message may say no more than that it found some."""
    shows, _ = agent(call("look_up"), RIGHT, beside=[Keeping(), remembering], tools=[look_up])
    assert ask(shows)["hallucination"]["hallucinated"] is False
    hides, judged = agent(call("look_up"), RIGHT, beside=[Keeping()], tools=[look_up])
    assert ask(hides)["hallucination"]["hallucinated"] is True
    assert told(judged[0]) == ["Found 2 documents."]


def test_a_document_that_a_tool_has_told_counts_once():
    """It may stand in the prompt as well."""
    wrong, judged = agent(call(), WRONG, beside=[Rewriting()], tools=[search])
    ask(wrong)
    assert sorted(told(judged[0])) == sorted(document.page_content for document in FOUND)


def test_documents_of_an_earlier_turn_count_as_long_as_the_prompt_shows_them():
    """What the state remembers and no model was told supports nothing."""
    once, judged = agent(RIGHT, WRONG, beside=[Once(), remembering], checkpointer=InMemorySaver())
    for _ in range(2):
        result = ask(once, config=ONCE)
    assert result["hallucination"]["hallucinated"] is True
    assert told(judged[0]) == [document.page_content for document in FOUND]
    hidden, _ = agent(RIGHT, WRONG, beside=[Once()], checkpointer=InMemorySaver())
    for _ in range(2):
        result = ask(hidden, config=ONCE)
    assert result["hallucination"]["abstention"] == AbstentionReason.NO_CONTEXT


class Canned(AgentMiddleware):
    """Answers thanks by itself, without a model."""

    @hook_config(can_jump_to=["end"])
    def before_model(self, state, runtime):
        thanked = "thanks" in state["messages"][-1].text
        return {"jump_to": "end", "messages": [AIMessage(RIGHT)]} if thanked else None


def test_a_turn_in_which_no_model_was_asked_has_no_documents_of_an_earlier_one():
    """Nobody was told of them again."""
    canned, _ = agent(RIGHT, beside=[Canned(), searching], checkpointer=InMemorySaver())
    assert ask(canned, config=ONCE)["hallucination"]["hallucinated"] is False
    result = canned.invoke({"messages": [HumanMessage("thanks")]}, ONCE)
    assert result["hallucination"]["abstention"] == AbstentionReason.NO_CONTEXT


def test_a_document_that_is_the_question_itself_leaves_the_question():
    """As where questions are indexed with their answers: all of the user's message is one of them."""
    asked = "What does item3 cost at the counter of the shop in the old town?"
    known = [Document(asked, metadata={"answer": RIGHT}), *FOUND]
    find = RunnableLambda(lambda _: known).with_config(tags=["groundwire:context"])
    answering = dynamic_prompt(lambda request: shown(find.invoke("item3")[1:]))
    in_prompt, judged = agent(WRONG, beside=[answering])
    in_prompt.invoke({"messages": [HumanMessage(asked)]})
    assert judged[-1].question == asked


def test_a_prompt_in_which_nothing_is_known_to_be_a_document_is_no_context():
    """The outcome says how to tell of them."""
    unknown = dynamic_prompt(lambda request: shown(FOUND))
    unjudged, _ = agent(RIGHT, beside=[unknown])
    verdict = ask(unjudged)["hallucination"]
    assert verdict["abstention"] == AbstentionReason.NO_CONTEXT
    assert "groundwire:context" in verdict["reason"]


def test_what_a_model_made_up_for_the_prompt_is_no_evidence():
    """Be it in a retriever, which returns a model's words as its documents, or in a tool that keeps them."""
    extractor = LLMChainExtractor.from_llm(Script(responses=[AIMessage(WRONG)]))
    making = ContextualCompressionRetriever(base_compressor=extractor, base_retriever=Shelf())
    compressing = dynamic_prompt(lambda request: shown(making.invoke(request.messages[-1].text)))
    in_prompt, _ = agent(WRONG, beside=[compressing])
    assert ask(in_prompt)["hallucination"]["abstention"] == AbstentionReason.NO_CONTEXT
    in_tool, judged = agent(call("sum_up"), WRONG, beside=[Keeping(), remembering], tools=[sum_up])
    assert ask(in_tool)["hallucination"]["hallucinated"] is not False
    assert not judged


class Unshowable:
    """What an application may have put into a document's metadata."""

    def __repr__(self):
        raise RuntimeError("not for you")


@pytest.mark.parametrize(
    "metadata", [{"hash": 2**80}, {"score": 10**400}, {"row": Unshowable()}, {"row": "\ud800"}]
)
def test_metadata_that_no_checkpoint_can_keep_breaks_no_agent(metadata):
    """Be the document put into the prompt, or found in a tool in which a model answers."""

    class Strange(Shelf):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(RIGHT, metadata=metadata)]

    @tool
    def answers(query: str) -> str:
        """Ask a model."""
        return Script(responses=[AIMessage("3euro")]).invoke(shown(Strange().invoke(query))).text

    in_prompt = dynamic_prompt(lambda request: shown(Strange().invoke("item3")))
    prompted, _ = agent(RIGHT, beside=[in_prompt], checkpointer=InMemorySaver())
    tooled, _ = agent(call("answers"), RIGHT, beside=[], tools=[answers], checkpointer=InMemorySaver())
    for one in (prompted, tooled):
        assert ask(one, config=ONCE)["hallucination"]["hallucinated"] is False
