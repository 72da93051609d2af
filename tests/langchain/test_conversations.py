"""What was said before the question, in the forms that applications keep it in."""

import pytest
from langchain_classic.chains import ConversationalRetrievalChain, RetrievalQA
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, get_buffer_string
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph

from groundwire import Role
from groundwire.langchain import with_hallucination_check
from tests.langchain.apps import Library, Oracle, answer, joined, question
from tests.langchain.conftest import listening, said, whole
from tests.langchain.wrapped_apps import CHECKER

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")

EARLIER = [(Role.USER, "I'm a student.\nOf physics."), (Role.ASSISTANT, "Noted: a student.")]
USER, ASSISTANT = (text for _, text in EARLIER)
PROMPT = PromptTemplate.from_template("{history}\n{context}\n{question}")


def told(captured):
    return [(turn.role, turn.text) for turn in captured.interaction.history]


@pytest.mark.parametrize("form", [tuple, list])
def test_pairs_of_questions_and_answers_are_earlier_turns(form, heard):
    """As LangChain's older chains take them, and as a page of Gradio's has them."""
    chain = RunnablePassthrough.assign(context=lambda x: joined(Library().invoke(x["question"])))
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    chain = chain | prompt | Oracle() | StrOutputParser()
    chain.invoke({"question": question(1), "chat_history": [form([USER, ASSISTANT])]}, listening(heard))
    assert said(heard.only()) == whole(1)
    assert told(heard.only()) == EARLIER


def test_messages_that_a_function_keeps_by_itself_are_earlier_turns(heard):
    """As LangGraph's functional API does; the prompt's own documents are none of them."""

    @entrypoint(checkpointer=InMemorySaver())
    def talk(asked, *, previous=None):
        messages = [*(previous or [HumanMessage(USER), AIMessage(ASSISTANT)]), HumanMessage(asked)]
        context = SystemMessage(joined(Library().invoke(asked)))
        reply = Oracle().invoke([context, *messages])
        return entrypoint.final(value=reply.text, save=[*messages, reply])

    for n in (1, 2):
        talk.invoke(question(n), listening(heard, configurable={"thread_id": "1"}))
    first, second = heard.captured
    assert (said(first), told(first)) == (whole(1), EARLIER)
    last = [(Role.USER, question(1)), (Role.ASSISTANT, answer(1))]
    assert (said(second), told(second)) == (whole(2), [*EARLIER, *last])


def test_a_question_that_nobody_has_answered_yet_is_a_turn(heard):
    """A pair may lack its answer; what isn't text is no turn."""
    chain = ConversationalRetrievalChain.from_llm(Oracle(), Library(), get_chat_history=str)
    for past in ([(USER, None)], [(USER, 7)], [(USER,)], {"a": 1}):
        chain.invoke({"question": question(1), "chat_history": past}, listening(heard))
    assert [told(captured) for captured in heard.captured] == [EARLIER[:1], [], [], []]


def test_the_wrapper_knows_the_pairs_of_a_conversational_chain():
    """It reads the conversation as the callback does."""
    judged = []
    chain = with_hallucination_check(
        ConversationalRetrievalChain.from_llm(Oracle(), Library()),
        checker=CHECKER,
        on_hallucination=lambda interaction, _: judged.append(interaction),
    )
    chain.invoke({"question": question(1), "chat_history": [(USER, ASSISTANT)]})
    assert [(turn.role, turn.text) for turn in judged[0].history] == EARLIER


def test_a_conversation_in_one_text_is_earlier_turns(heard):
    """As LangChain writes it, whoever's names stand there; a text that begins otherwise is none."""
    chain = RunnablePassthrough.assign(context=lambda x: joined(Library().invoke(x["question"])))
    chain = chain | PROMPT | Oracle() | StrOutputParser()
    messages = [HumanMessage(USER), AIMessage(ASSISTANT)]
    spelled = get_buffer_string(messages)
    renamed = get_buffer_string(messages, human_prefix="User", ai_prefix="Assistant")
    for past in (spelled, renamed, f"They met.\n{spelled}", ""):
        chain.invoke({"question": question(1), "history": past}, listening(heard))
    assert [told(captured) for captured in heard.captured] == [EARLIER, EARLIER, [], []]


@pytest.mark.parametrize("in_messages", [True, False])
def test_a_memory_of_the_chain_that_fills_the_prompt_is_the_history(in_messages, heard):
    """``RetrievalQA`` has none of its own, so applications give one to the chain inside."""
    memory = ConversationBufferMemory(input_key="question", return_messages=in_messages)
    inside = {"prompt": PROMPT, "memory": memory}
    chain = RetrievalQA.from_chain_type(Oracle(), retriever=Library(), chain_type_kwargs=inside)
    for n in (1, 2):
        chain.invoke({"query": question(n)}, listening(heard))
    first, second = heard.captured
    assert (said(first), said(second)) == (whole(1), whole(2))
    assert told(first) == []
    assert told(second) == [(Role.USER, question(1)), (Role.ASSISTANT, answer(1))]


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_turns_that_a_graph_takes_out_once_it_has_answered_are_earlier_turns(kept, heard):
    """As where it sums them up: the model was told them, and the answer may go by them."""

    class State(MessagesState):
        context: str

    def retrieve(state):
        return {"context": joined(Library().invoke(state["messages"][-1].text))}

    def generate(state):
        return {"messages": [Oracle().invoke([SystemMessage(state["context"]), *state["messages"]])]}

    def sum_up(state):
        told = state["messages"]
        Oracle(reply=lambda n: "They met.").invoke([*told, HumanMessage("Sum up all about topic0.")])
        return {"messages": [RemoveMessage(id=one.id) for one in told[: len(told) - kept]]}

    graph = StateGraph(State).add_sequence([retrieve, generate, sum_up])
    app = graph.add_edge(START, "retrieve").compile(checkpointer=InMemorySaver())
    config = listening(heard, configurable={"thread_id": "1"})
    app.update_state(config, {"messages": [HumanMessage(USER), AIMessage(ASSISTANT)]}, as_node="sum_up")
    app.invoke({"messages": [HumanMessage(question(1))]}, config)
    assert said(heard.only()) == whole(1)
    assert told(heard.only()) == EARLIER


@pytest.mark.parametrize("drafts", [False, True])
def test_documents_and_drafts_in_messages_of_their_own_are_no_turns(drafts, heard):
    """An application gives them to its model as a user's messages, before the question."""
    page = "A second bag costs 25 EUR on all flights to Oslo, and gold members bring it for nothing."
    draft = "I take it that a second bag costs 99 EUR on all flights to Oslo in winter."
    model = FakeListChatModel(responses=[draft, "It costs 25 EUR."] if drafts else ["It costs 25 EUR."])
    asked, earlier = "And a second bag?", [HumanMessage("Is a bag free?"), AIMessage("Yes.")]

    def search(_):
        return [Document(page)]

    def app(question, config):
        found = RunnableLambda(search).with_config(run_name="search", tags=["groundwire:context"])
        given = [HumanMessage(f"Context:\n{found.invoke(question, config)[0].page_content}")]
        if drafts:
            written = model.invoke([*given, HumanMessage("Draft an answer.")], config).text
            given.append(HumanMessage(f"A draft: {written}"))
        return model.invoke([*earlier, *given, HumanMessage(question)], config).text

    RunnableLambda(app).invoke(asked, listening(heard))
    turns = [turn.text for turn in heard.only().interaction.history]
    assert turns == ["Is a bag free?", "Yes."]


@pytest.mark.parametrize("hardened", ["with_retry", "with_fallbacks"])
def test_what_a_template_says_before_the_question_is_no_turn(hardened, heard):
    """A model that is asked again where it fails is handed the whole prompt, with documents and examples."""
    prompt = ChatPromptTemplate.from_messages(
        [
            ("system", "{context}"),
            ("human", "What about bags?"),
            ("ai", "They are free."),
            ("human", "{question}"),
        ]
    )
    failing, wait = Oracle(failures=1), {"wait_exponential_jitter": False}
    model = failing.with_retry(**wait) if hardened == "with_retry" else failing.with_fallbacks([Oracle()])
    given = {"context": Library() | joined, "question": RunnablePassthrough()}
    (given | prompt | model | StrOutputParser()).invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)
    assert told(heard.only()) == []
