"""What is taken out of a context is what models have said, and all else stays as it was found."""

import json
import re
from datetime import date
from decimal import Decimal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain.agents.structured_output import ToolStrategy
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel, FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel

from groundwire import AbstentionReason
from groundwire.langchain import HallucinationMiddleware, chat
from tests.langchain import apps
from tests.langchain.apps import PROMPT, Library, Oracle, State, answer, documents, joined, question, texts
from tests.langchain.conftest import listening, said
from tests.langchain.wrapped_apps import CHECKER

TEXT = "The topic1 weighs 1 kilos and is blue."


class Script(FakeMessagesListChatModel):
    """A model that says its lines; it may be bound to tools."""

    def bind_tools(self, tools, **kwargs):
        return self


def shelf(*documents):
    """A retriever that finds these documents."""

    class Shelf(Library):
        def _get_relevant_documents(self, query, *, run_manager):
            return list(documents)

    return Shelf()


@pytest.mark.parametrize(
    "prompt",
    [
        "{asked}\n\n{found}",
        "Question: {asked}\n\n{found}",
        "You work for a shop.\n\n{found}\n\n{asked}",
        "You work for a shop. {found} {asked}",
        "{asked} {found}",
    ],
)
@pytest.mark.parametrize("topic", ["topic1", "shop", "What about topic1"])
def test_what_ends_a_question_or_an_instruction_is_no_heading(topic, prompt, heard):
    """Be it the same word as in the document's metadata."""
    library = shelf(Document(TEXT, id="1", metadata={"topic": topic}))

    def answered(asked):
        return Oracle().invoke(prompt.format(asked=asked, found=joined(library.invoke(asked)))).text

    RunnableLambda(answered).invoke(question(1), listening(heard))
    assert said(heard.only()) == (None, question(1), [TEXT], answer(1))


SHORT = [
    Document("Weight and size of topic1: 1 kilo.", id="1"),
    Document("Weight and size of topic2: 2 kilos.", id="2"),
]
QUERY = "weight and size of topic1"


def rewriting(query=QUERY):
    return ChatPromptTemplate.from_template("A query for: {question}") | FakeListChatModel(responses=[query])


def in_a_chain(form):
    def build():
        found = rewriting() | StrOutputParser() | shelf(*SHORT) | form
        return RunnablePassthrough.assign(context=found) | PROMPT | Oracle()

    return build


def in_a_graph():
    def rewrite(state):
        return {"query": rewriting().invoke({"question": state["question"]}).text}

    def retrieve(state):
        return {"documents": shelf(*SHORT).invoke(state["query"])}

    def generate(state):
        prompt = ChatPromptTemplate.from_template("{documents} {question}")
        return {"answer": (prompt | Oracle()).invoke(state).text}

    class Rewritten(State):
        query: str

    builder = StateGraph(Rewritten)
    for node, before in ((rewrite, START), (retrieve, "rewrite"), (generate, "retrieve")):
        builder.add_node(node)
        builder.add_edge(before, node.__name__)
    builder.add_edge("generate", END)
    return builder.compile()


def in_a_retriever():
    class Rewriting(Library):
        def _get_relevant_documents(self, query, *, run_manager):
            rewriting().invoke({"question": query}, {"callbacks": run_manager.get_child()})
            return SHORT

    found = (lambda asked: asked["question"]) | Rewriting()
    return RunnablePassthrough.assign(context=found | joined) | PROMPT | Oracle()


REWRITTEN = {
    "documents in a prompt": in_a_chain(lambda found: found),
    "texts in a prompt": in_a_chain(lambda found: [d.page_content for d in found]),
    "a text in a prompt": in_a_chain(joined),
    "one text in a prompt": in_a_chain(lambda found: found[0].page_content),
    "a graph": in_a_graph,
    "a retriever": in_a_retriever,
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_rewritten_query_makes_up_no_document_that_it_is_half_of(name, heard):
    """Be it in other letters; and the documents keep what they carry."""
    REWRITTEN[name]().invoke({"question": question(1)}, listening(heard))
    expected = [(d.id, d.page_content) for d in SHORT]
    if name == "one text in a prompt":
        expected = expected[:1]
    shown = [(passage.id, passage.text) for passage in heard.only().interaction.contexts]
    assert (expected if name != "texts in a prompt" else [(None, text) for _, text in expected]) == shown


def test_what_is_left_of_the_documents_in_a_prompt_keeps_what_it_carries(heard):
    """A draft that was put among them is taken out."""
    draft = Document("As everybody knows by now, topic1 weighs 99 kilos and may be painted.", id="draft")
    chain = (
        RunnablePassthrough.assign(draft=rewriting(draft.page_content) | StrOutputParser())
        | RunnablePassthrough.assign(context=lambda held: [*shelf(*SHORT).invoke("topic1"), draft])
        | PROMPT
        | Oracle()
    )
    chain.invoke({"question": question(1)}, listening(heard))
    shown = [(passage.id, passage.text) for passage in heard.only().interaction.contexts]
    assert shown == [(d.id, d.page_content) for d in SHORT]


@pytest.mark.parametrize("asked", ["how long may one keep a topic1", "How long may one keep a topic1"])
def test_a_question_in_a_document_s_words_is_part_of_it_in_any_letters(asked, heard):
    """Also where it is half of the text that fills the prompt."""
    library = shelf(Document("How long may one keep a topic1? Thirty days.", id="1"))
    prompt = ChatPromptTemplate.from_template("Use {information} to answer {question}")
    chain = {"information": library | joined, "question": RunnablePassthrough()} | prompt | Oracle()
    chain.invoke(asked, listening(heard))
    (passage,) = heard.only().interaction.contexts
    assert (passage.id, passage.text) == ("1", "How long may one keep a topic1? Thirty days.")


@pytest.mark.parametrize("asked", ["how long may one keep a topic1", "How long may one keep a topic1"])
def test_a_query_in_a_document_s_words_is_part_of_it_in_a_tool_s_text(asked, heard):
    """Whatever a model gave to the tool, a document says the same."""
    library = shelf(Document("How long may one keep a topic1? Thirty days.", id="1"))

    @apps.tool
    def search(query: str) -> str:
        """Search."""
        return joined(library.invoke(query))

    call = {"name": "search", "args": {"query": asked}, "id": "1"}
    create_agent(Oracle(call=call), [search]).invoke(apps.asked_in_messages(1), listening(heard))
    (passage,) = heard.only().interaction.contexts
    assert (passage.id, passage.text) == ("1", "How long may one keep a topic1? Thirty days.")


def text_block(text):
    return {"type": "text", "text": text}


def found_block(text):
    return {
        "type": "search_result",
        "title": "",
        "source": "a.md",
        "content": [{"type": "text", "text": text}],
    }


def document_block(text):
    return {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}}


def parted_block(text):
    return {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": text}]}}


def plain_block(text):
    return {"type": "text-plain", "text": text, "mime_type": "text/plain"}


def wrapped_block(text):
    return {"type": "non_standard", "value": document_block(text)}


BLOCKS = [found_block, document_block, parted_block, plain_block, wrapped_block]


@pytest.mark.parametrize("block", BLOCKS)
def test_documents_in_blocks_of_a_prompt_are_what_the_model_was_told(block, heard):
    """As providers want them for citations; the documents keep their ids."""

    def prompt(given):
        blocks = [block(document.page_content) for document in given["context"][:2]]
        return [HumanMessage([*blocks, {"type": "text", "text": given["question"]}])]

    chain = {"context": Library(), "question": RunnablePassthrough()} | RunnableLambda(prompt) | Oracle()
    chain.invoke(question(1), listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1)[:2], answer(1))
    assert [passage.id for passage in heard.only().interaction.contexts] == ["1-0", "1-1"]


@pytest.mark.parametrize("block", [found_block, document_block, text_block])
def test_the_blocks_that_a_tool_returns_are_what_it_brought(block, heard):
    """Each of them: one sentence does not run into the next."""

    @apps.tool
    def search(query: str) -> list:
        """Search."""
        return [block(text) for text in texts(1)]

    create_agent(Oracle(), [search]).invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only())[:3] == (None, question(1), ["\n\n".join(texts(1))])


def test_a_block_of_json_that_a_tool_returns_is_what_it_brought(heard):
    """As it was written."""

    @apps.tool
    def search(query: str) -> list:
        """Search."""
        return [{"type": "json", "json": {"rows": texts(1)}}]

    create_agent(Oracle(), [search]).invoke(apps.asked_in_messages(1), listening(heard))
    (passage,) = heard.only().interaction.contexts
    assert json.loads(passage.text) == {"rows": texts(1)}


def test_pictures_among_a_tool_s_blocks_bring_no_words(heard):
    """Nor do references to files."""

    @apps.tool
    def search(query: str) -> list:
        """Search."""
        picture = {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8"},
        }
        link = {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}
        return [picture, link, text_block(texts(1)[0])]

    create_agent(Oracle(), [search]).invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only())[2] == texts(1)[:1]


def agent_whose_tools_are(change, *tools, model=None):
    """An agent that is told what ``change`` makes of what its tools say."""

    @wrap_tool_call
    def changed(request, handler):
        return change(request, handler)

    return create_agent(model or Oracle(), tools, middleware=[changed])


@apps.tool
def whole(query: str) -> str:
    """Search."""
    return "\n".join(texts(1))


@apps.tool(response_format="content_and_artifact")
def with_documents(query: str) -> tuple[str, list[Document]]:
    """Search."""
    return "\n".join(texts(1)), documents(1)


def first_line(request, handler):
    message = handler(request)
    return message.model_copy(update={"content": message.text.partition("\n")[0]})


@pytest.mark.parametrize(("search", "id_"), [(whole, None), (with_documents, "1-0")])
def test_of_what_a_tool_said_counts_what_the_model_was_told(search, id_, heard):
    """An application may cut it before the model reads it, documents and all."""
    app = agent_whose_tools_are(first_line, search)
    app.invoke(apps.asked_in_messages(1), listening(heard))
    (passage,) = heard.only().interaction.contexts
    assert (passage.id, passage.text) == (id_, texts(1)[0])


def test_what_was_put_away_counts_as_far_as_it_is_read(heard):
    """As where a long result is kept in a file, and the model told of that."""
    kept = {}

    @apps.tool
    def read(line: int) -> str:
        """Read a line of the file."""
        return kept["file"].splitlines()[line]

    def put_away(request, handler):
        message = handler(request)
        if request.tool_call["name"] == "read":
            return message
        kept["file"] = message.text
        return message.model_copy(update={"content": "It is in a file."})

    calls = [
        AIMessage("", tool_calls=[{"name": "whole", "args": {"query": "topic1"}, "id": "a"}]),
        AIMessage("", tool_calls=[{"name": "read", "args": {"line": 0}, "id": "b"}]),
        AIMessage(answer(1)),
    ]
    app = agent_whose_tools_are(put_away, whole, read, model=Script(responses=calls))
    app.invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only())[2] == ["It is in a file.", texts(1)[0]]


def test_of_a_tool_that_a_model_sums_up_on_the_way_counts_what_it_said(heard):
    """What the model in between made of it is no evidence."""
    sums_up = FakeListChatModel(responses=["All of it, in short: topic1 weighs 1000 kilos and is red."])

    def summed_up(request, handler):
        message = handler(request)
        return message.model_copy(update={"content": sums_up.invoke(message.text).text})

    agent_whose_tools_are(summed_up, whole).invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only())[2] == ["\n".join(texts(1))]


def test_what_was_kept_from_the_model_is_no_evidence(heard):
    """It was told that the tool had failed."""

    def refused(request, handler):
        return handler(request).model_copy(update={"content": "Not for you.", "status": "error"})

    agent_whose_tools_are(refused, whole).invoke(apps.asked_in_messages(1), listening(heard))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT


def test_a_result_that_was_kept_is_evidence_beside_what_other_tools_bring(heard):
    """No event tells of the tool that is not run again; the model is told of it all the same."""

    @apps.tool
    def clock(place: str) -> str:
        """Tell the time."""
        return "It is noon in Rome."

    def kept(request, handler):
        call = request.tool_call
        return (
            handler(request) if call["name"] == "clock" else ToolMessage(texts(1)[0], tool_call_id=call["id"])
        )

    calls = [
        AIMessage(
            "",
            tool_calls=[
                {"name": "whole", "args": {"query": "topic1"}, "id": "a"},
                {"name": "clock", "args": {"place": "Rome"}, "id": "b"},
            ],
        ),
        AIMessage(answer(1)),
    ]
    app = agent_whose_tools_are(kept, whole, clock, model=Script(responses=calls))
    app.invoke(apps.asked_in_messages(1), listening(heard))
    assert sorted(said(heard.only())[2]) == ["It is noon in Rome.", texts(1)[0]]


def test_what_an_application_writes_in_a_tool_s_message_itself_is_evidence(heard):
    """No tool was heard, and no model has asked for one."""

    def fetch(state):
        calls = [{"name": "whole", "args": {}, "id": "a"}]
        return {"messages": [AIMessage("", tool_calls=calls), ToolMessage(TEXT, tool_call_id="a")]}

    builder = StateGraph(MessagesState)
    builder.add_node("fetch", fetch)
    builder.add_node("tell", lambda state: {"messages": [Oracle().invoke(state["messages"])]})
    builder.add_edge(START, "fetch")
    builder.add_edge("fetch", "tell")
    builder.compile().invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only()) == (None, question(1), [TEXT], answer(1))


@pytest.mark.parametrize("tools", [0, 1])
def test_what_a_model_says_in_a_tool_s_place_is_no_evidence(tools, heard):
    """A node may answer a call without any tool that is heard, by a model of its own."""
    model = Script(
        responses=[AIMessage("", tool_calls=[{"name": "ask", "args": {}, "id": "a"}]), AIMessage("1")]
    )
    inner = FakeListChatModel(responses=["topic1 weighs 1000 kilos and is red."])

    def act(state):
        for _ in range(tools):
            whole.invoke({"query": "topic1"})
        return {"messages": [ToolMessage(inner.invoke("What of topic1?").text, tool_call_id="a")]}

    builder = StateGraph(MessagesState)
    builder.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("act", act)
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", lambda s: "act" if s["messages"][-1].tool_calls else END)
    builder.add_edge("act", "think")
    builder.compile().invoke(apps.asked_in_messages(1), listening(heard))
    assert not any("1000" in context for context in said(heard.captured[-1])[2])


PAGES = [{"url": f"https://a.example/{i}", "content": text} for i, text in enumerate(texts(1))]


@apps.tool
def pages(query: str) -> list:
    """Search the web."""
    return PAGES


@apps.tool
def pages_as_json(query: str) -> str:
    """Search the web."""
    return json.dumps({"results": PAGES})


@apps.tool
def pages_as_documents(query: str) -> list[Document]:
    """Search the web."""
    return documents(1)


def contents(found):
    if isinstance(found, str):
        found = json.loads(found)["results"]
    return [page.page_content if isinstance(page, Document) else page["content"] for page in found]


def by_template(asked, told):
    return (PROMPT | Oracle() | StrOutputParser()).invoke({"context": told, "question": asked})


def by_documents(asked, told):
    found = [Document(text) for text in told.splitlines()]
    return (PROMPT | Oracle() | StrOutputParser()).invoke({"context": found, "question": asked})


def by_hand(asked, told):
    return Oracle().invoke(f"{told}\n\n{asked}").text


def searching_by_hand(search, answered, keep):
    """A graph that runs its search itself, keeps a part of what that brought, and answers from it."""
    builder = StateGraph(State)
    builder.add_node("find", lambda state: {"documents": keep(contents(search.invoke(state["question"])))})
    builder.add_node(
        "answer",
        lambda state: {"generation": answered(state["question"], "\n".join(state["documents"]))},
    )
    builder.add_edge(START, "find")
    builder.add_edge("find", "answer")
    builder.add_edge("answer", END)
    return builder.compile()


@pytest.mark.parametrize("search", [pages, pages_as_json, pages_as_documents])
@pytest.mark.parametrize("answered", [by_template, by_documents, by_hand])
def test_of_a_tool_that_an_application_runs_counts_what_it_hands_on(search, answered, heard):
    """Once, and not what it left out."""
    app = searching_by_hand(search, answered, keep=lambda found: found[:1])
    app.invoke({"question": question(1)}, listening(heard))
    contexts = " ".join(said(heard.only())[2])
    assert [contexts.count(text) for text in texts(1)] == [1, 0, 0]


@pytest.mark.parametrize("search", [pages, pages_as_json, pages_as_documents])
def test_a_tool_s_results_that_no_model_was_told_are_no_evidence(search, heard):
    """As where an application leaves all of them out."""
    app = searching_by_hand(search, by_hand, keep=lambda found: [])
    app.invoke({"question": question(1)}, listening(heard))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT


def test_results_that_are_told_in_other_words_count_as_they_are(heard):
    """With figures that stand in a field of their own."""

    @apps.tool
    def prices(query: str) -> list:
        """Look prices up."""
        return [
            {"name": "a red topic1 of solid wood", "price": 25},
            {"name": "a big box made of tin", "price": 9},
        ]

    def answered(asked):
        rows = prices.invoke(asked)[:1]
        return Oracle().invoke("\n".join(f"{row['name']}: {row['price']} euros" for row in rows) + asked).text

    RunnableLambda(answered).invoke(question(1), listening(heard))
    (context,) = said(heard.only())[2]
    assert json.loads(context) == [{"name": "a red topic1 of solid wood", "price": 25}]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (25.4567, "{:.1f} days"),
        (Decimal("25.50"), "{} days"),
        (date(2026, 3, 4), "from {}"),
        ([101.5, 102.25], "{0[0]:.2f} and {0[1]:.1f} euros"),
        ({"net": 100, "vat": 19}, "Net {0[net]:.2f}, tax {0[vat]:.2f} euros."),
        ({"name": "a red chair of solid wood", "price": 25.5}, "{0[price]} euros"),
    ],
)
def test_figures_that_an_application_writes_in_its_own_way_count(found, told, heard):
    """All of them: nobody knows them again for sure."""

    @apps.tool
    def look(query: str) -> object:
        """Look something up."""
        return found

    def answered(asked):
        return Oracle().invoke(told.format(look.invoke(asked)) + "\n\n" + asked).text

    RunnableLambda(answered).invoke(question(1), listening(heard))
    (context,) = said(heard.only())[2]
    assert context == chat.tool_text(found)


def test_a_result_that_is_told_in_other_words_counts_beside_one_that_is_told_in_its_own(heard):
    """As where an application takes marks out of what it found."""

    @apps.tool
    def look(query: str) -> list:
        """Look something up."""
        return ["The topic1 is a thing of solid wood.", "It *weighs* 1 kilos[3] and comes *painted* in blue."]

    def answered(asked):
        found = [re.sub(r"[*]|\[\d+\]", "", text) for text in look.invoke(asked)]
        return Oracle().invoke("\n".join(found) + "\n\n" + asked).text

    RunnableLambda(answered).invoke(question(1), listening(heard))
    (context,) = said(heard.only())[2]
    assert "solid wood" in context
    assert "painted" in context


def test_what_is_said_of_an_answer_that_lacks_its_form_is_no_evidence(heard):
    """It holds the model's own words."""

    class Weight(BaseModel):
        """A weight."""

        answer: str
        kilos: int

    def call(name, **args):
        return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"{name} {args}"}])

    model = Script(
        responses=[
            call("whole", query="topic1"),
            call("Weight", answer=answer(1), kilos="It weighs a lot"),
            call("Weight", answer=answer(1), kilos=1),
        ]
    )
    agent = create_agent(model, [whole], response_format=ToolStrategy(Weight))
    agent.invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only())[2] == ["\n".join(texts(1))]


def test_results_that_a_model_sums_up_for_the_one_that_answers_count(heard):
    """Though the one that answers was told none of them."""
    sums_up = FakeListChatModel(responses=["It is one of those things that one finds in many a house."])

    def answered(asked):
        notes = sums_up.invoke(f"Sum up: {whole.invoke(asked)}").text
        return Oracle().invoke(f"{notes}\n\n{asked}").text

    RunnableLambda(answered).invoke(question(1), listening(heard))
    assert said(heard.only())[2] == ["\n".join(texts(1))]


def test_what_a_tool_says_after_the_answer_is_no_evidence(heard):
    """Such as that it was sent."""

    @apps.tool
    def send(text: str) -> str:
        """Send an answer."""
        return f"Sent: {text}"

    def answered(asked):
        said = by_hand(asked, whole.invoke(asked))
        send.invoke(said)
        return said

    RunnableLambda(answered).invoke(question(1), listening(heard))
    assert said(heard.only())[2] == ["\n".join(texts(1))]


def test_a_query_that_a_search_repeats_in_a_field_of_its_own_is_no_evidence(heard):
    """As Tavily's does: a model may ask for what it has made up."""
    made_up = "Why does the topic1 weigh 99 kilos?"

    @apps.tool
    def search(query: str) -> dict:
        """Search the web."""
        return {"query": query, "results": [{"content": text} for text in texts(1)], "response_time": 1.2}

    call = AIMessage("", tool_calls=[{"name": "search", "args": {"query": made_up}, "id": "1"}])
    judged = []
    middleware = HallucinationMiddleware(
        checker=CHECKER, on_hallucination=lambda interaction, _: judged.append(interaction)
    )
    agent = create_agent(
        Script(responses=[call, AIMessage("It weighs 99 kilos.")]), [search], middleware=[middleware]
    )
    agent.invoke({"messages": [HumanMessage(question(1))]}, listening(heard))
    for interaction in (judged[0], heard.only().interaction):
        (passage,) = interaction.contexts
        assert "99" not in passage.text
        assert all(text in passage.text for text in texts(1))
