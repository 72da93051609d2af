"""What is captured of real applications: the question, the contexts and the answer of the same call."""

import asyncio
import contextvars
import copy
import gc
import json
import threading
import time
from operator import itemgetter
from uuid import uuid4

import pytest
from langchain.agents.structured_output import ToolStrategy
from langchain_classic.chains import ConversationalRetrievalChain
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.documents import Document
from langchain_core.documents.base import Blob
from langchain_core.language_models.fake_chat_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.output_parsers import JsonOutputParser, StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from langsmith import traceable
from pydantic import BaseModel

from groundwire import AbstentionReason, ConfigurationError, Role
from groundwire.langchain import Capture, interaction, runs
from groundwire.langchain.tree import Run, Tree
from tests.langchain import apps
from tests.langchain.apps import (
    APPS,
    PROMPT,
    STREAMS,
    WAYS,
    Library,
    Oracle,
    State,
    answer,
    documents,
    joined,
    lcel,
    question,
    texts,
)
from tests.langchain.conftest import Heard, listening, said, whole

RUNS = [(name, way) for name, app in APPS.items() for way in WAYS if way not in STREAMS or app().streams]


@pytest.mark.parametrize(("name", "way"), RUNS, ids=[f"{name}, {way}" for name, way in RUNS])
def test_each_answer_is_captured_with_its_own_question_and_contexts(name, way, heard):
    """Whatever the application and the way it is run, each call is captured once, whole and unmixed."""
    app = APPS[name]()
    WAYS[way](app.runnable, [app.ask(n) for n in (1, 2, 3)], listening(heard, **app.config))
    captured = sorted(heard.captured, key=lambda each: each.interaction.question)
    assert [said(each) for each in captured] == [
        (None, question(n), app.contexts(n), answer(n)) for n in (1, 2, 3)
    ]
    passages = [passage for each in captured for passage in each.interaction.contexts]
    assert all(passage.id and passage.score and passage.metadata["source"] for passage in passages) or (
        not app.documents
    )
    assert heard.live_runs == 0


# -- which runs make one answer -----------------------------------------------------------------------------


def test_two_parallel_rags_are_two_answers(heard):
    """Branches of one chain that each retrieve and answer are captured each by itself."""
    both = RunnableParallel(first=lcel(), second=(lambda asked: asked.replace("topic", "topic1")) | lcel())
    both.batch([question(1), question(2)], listening(heard))
    answers = sorted(each.interaction.answer for each in heard.captured)
    assert answers == sorted(answer(n) for n in (1, 2, 11, 12))
    assert all(
        [p.text for p in each.interaction.contexts] == texts(apps.topic(each.interaction.answer))
        for each in heard.captured
    )
    assert len({each.trace_id for each in heard.captured}) == 2


def test_the_ids_and_the_time_are_those_of_the_run(heard):
    """run_id is the run that answered, trace_id the topmost one, and the time carries its zone."""
    root = uuid4()
    chain = RunnableLambda(lambda asked: lcel().invoke(asked))
    chain.invoke(question(4), listening(heard, run_id=root))
    captured = heard.only()
    assert captured.trace_id == root
    assert captured.run_id != root
    assert captured.interaction.id == str(captured.run_id)
    assert captured.started.tzinfo is not None


def test_a_graph_that_hands_over_is_no_failure(heard):
    """A subgraph that leaves for another node of its parent has found what it has found."""

    def find(state):
        found = joined(Library().invoke(state["messages"][-1].text))
        update = {"messages": [AIMessage(f"Found: {found}")]}
        return Command(goto="write", update=update, graph=Command.PARENT)

    inner = StateGraph(MessagesState)
    inner.add_node("find", find)
    inner.add_edge(START, "find")
    outer = StateGraph(MessagesState)
    outer.add_node("search", inner.compile())
    outer.add_node("write", lambda state: {"messages": [Oracle().invoke(state["messages"])]})
    outer.add_edge(START, "search")
    outer.compile().invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only()) == whole(1)


def test_a_handler_that_is_listed_twice_captures_once():
    """LangChain tells such a handler of the topmost run twice."""
    heard = Heard()
    lcel().invoke(question(1), listening(heard, heard))
    assert said(heard.only()) == whole(1)


def test_a_parent_that_was_never_seen_does_not_hide_a_run(heard):
    """Below a traced function or on an inner runnable, the first event names a parent nobody announced."""

    @traceable(enabled=False)
    def outer(asked):
        return lcel().invoke(asked, listening(heard))

    outer(question(1))
    (RunnableLambda(lambda x: x) | lcel().with_config(callbacks=[heard])).invoke(question(2))
    assert [said(each) for each in heard.captured] == [whole(1), whole(2)]
    assert heard.live_runs == 0


def test_threads_do_not_mix(heard):
    """Any number of threads may share one handler."""
    chain = lcel()
    threads = [threading.Thread(target=chain.invoke, args=(question(n), listening(heard))) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(said, heard.captured)) == sorted(map(whole, range(16)))


def test_a_model_can_be_copied_with_its_handler(heard):
    """A handler survives copy and deepcopy as itself, so a copied model is still heard."""
    model = Oracle(callbacks=[heard])
    assert copy.copy(heard) is heard
    assert copy.deepcopy(heard) is heard
    lcel(model.model_copy(deep=True)).invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


def test_judges_are_not_captured(heard):
    """What carries the judge's tag is no part of the application."""
    lcel().with_config(tags=["groundwire:judge"]).invoke(question(1), listening(heard))
    assert heard.captured == []
    assert heard.live_runs == 0


# -- what the model really saw ------------------------------------------------------------------------------


def captured_contexts(heard, form):
    lcel(form=form).invoke(question(5), listening(heard))
    return [(p.id, p.text) for p in heard.only().interaction.contexts]


def test_documents_that_were_cut_are_captured_as_they_were_shown(heard):
    """A passage is the part of its document that stood in the prompt, with the document's id."""
    long = "topic5 " + "is described at length, " * 20

    class Long(Library):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(long, id="long")]

    lcel(retriever=Long(), form=lambda found: found[0].page_content[:200]).invoke(
        question(5), listening(heard)
    )
    (passage,) = heard.only().interaction.contexts
    assert (passage.id, passage.text) == ("long", long[:200])


def test_headings_stay_with_their_documents(heard):
    """What the application wrote above a document was shown to the model, and can support an answer."""
    shown = captured_contexts(
        heard,
        lambda found: "\n---\n".join(
            f"From the year {2000 + i}:\n{d.page_content}" for i, d in enumerate(found)
        ),
    )
    assert shown == [(f"5-{i}", f"From the year {2000 + i}:\n{text}") for i, text in enumerate(texts(5))]


def test_headings_of_a_prompt_that_is_written_by_hand_stay_with_their_documents(heard):
    """No event tells the context from the rest of it, but the documents' own metadata does."""

    def generate(state):
        told = "\n\n".join(f"{d.metadata['source']}\n{d.page_content}" for d in state["documents"])
        return {"answer": Oracle().invoke(f"Answer {state['question']} from:\n\n{told}").text}

    apps.graph(generate).invoke({"question": question(1)}, listening(heard))
    shown = [f"1.md\n{text}" for text in texts(1)]
    assert said(heard.only()) == (None, question(1), shown, answer(1))
    assert [passage.id for passage in heard.only().interaction.contexts] == ["1-0", "1-1", "1-2"]


def test_white_space_may_be_evened_out(heard):
    """Joining lines, as many applications do, does not lose the document."""

    class Lines(Library):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document("topic5 has\n  two lines", id="lines")]

    chain = lcel(retriever=Lines(), form=lambda found: " ".join(found[0].page_content.split()))
    chain.invoke(question(5), listening(heard))
    (passage,) = heard.only().interaction.contexts
    assert (passage.id, passage.text) == ("lines", "topic5 has two lines")


def test_a_document_found_twice_is_one_passage(heard):
    """The same text from two searches stands in the prompt twice, and is captured once."""

    class Twice(Library):
        def _get_relevant_documents(self, query, *, run_manager):
            return apps.documents(5) * 2

    lcel(retriever=Twice()).invoke(question(5), listening(heard))
    assert said(heard.only()) == whole(5)


def test_reworded_documents_are_captured_as_the_prompt_has_them(heard):
    """When no document stands in the prompt any more, the prompt's own context counts."""
    shown = captured_contexts(heard, lambda found: "Five kilos, from 1005, of a blue colour.")
    assert shown == [(None, "Five kilos, from 1005, of a blue colour.")]


@pytest.mark.parametrize("left", [[], "", " "], ids=["a list", "a text", "a blank"])
def test_an_empty_context_is_not_all_that_was_found(left, heard):
    """A grader has thrown every document out: an answer by heart is held against none of them."""
    lcel(form=lambda found: left).invoke(question(1), listening(heard))
    assert said(heard.only()) == (AbstentionReason.NO_CONTEXT, question(1), [], answer(1))


def test_a_graph_that_keeps_no_document_leaves_no_context(heard):
    """Also where its node writes the prompt by hand: the state that it was given holds none."""
    builder = StateGraph(State)
    builder.add_node("retrieve", lambda state: {"documents": Library().invoke(state["question"])})
    builder.add_node("grade", lambda state: {"documents": []})
    builder.add_node("generate", lambda state: {"answer": Oracle().invoke(f"Say: {state['question']}").text})
    for a, b in [(START, "retrieve"), ("retrieve", "grade"), ("grade", "generate")]:
        builder.add_edge(a, b)
    builder.compile().invoke({"question": question(1)}, listening(heard))
    assert said(heard.only()) == (AbstentionReason.NO_CONTEXT, question(1), [], answer(1))


@pytest.mark.parametrize("reworded", [True, False])
def test_documents_that_stand_in_a_prompt_in_no_words_were_not_seen(reworded, heard):
    """A node that searches and writes its prompt by hand: what it leaves out is no context."""

    def answered(state):
        found = [d.page_content.replace("topic1", "it").split() for d in Library().invoke(state["question"])]
        told = " / ".join(" ".join(reversed(words)) for words in found) if reworded else f"{len(found)} found"
        return {"answer": Oracle().invoke(f"{told}. {state['question']}").text}

    builder = StateGraph(State)
    builder.add_node("answer", answered)
    builder.add_edge(START, "answer")
    builder.compile().invoke({"question": question(1), "documents": []}, listening(heard))
    assert said(heard.only()) == (
        whole(1) if reworded else (AbstentionReason.NO_CONTEXT, question(1), [], answer(1))
    )


@pytest.mark.parametrize("made", ["cited", "without its stars"])
@pytest.mark.parametrize("after", ["A title for: ", "Is this rude? ", "Which language is it? "])
def test_an_answer_that_was_edited_is_still_that_of_the_model_that_read_the_documents(made, after, heard):
    """Whatever a model is asked of it afterwards, which was told no document."""

    def answered(asked):
        shown = joined(Library().invoke(asked))
        given = Oracle(reply=lambda n: f"**{answer(n)}**").invoke(f"Use {shown}. {asked}").text
        edited = f"{given} [1]" if made == "cited" else given.strip("*")
        Oracle(reply=lambda _: "en").invoke(f"{after}{edited} {asked}")
        return {"answer": edited}

    RunnableLambda(answered).invoke(question(1), listening(heard))
    edited = f"**{answer(1)}** [1]" if made == "cited" else answer(1)
    assert said(heard.only()) == (None, question(1), texts(1), edited)


def test_a_draft_that_was_read_out_of_its_form_is_no_evidence(heard):
    """A polished answer is held against the documents that the draft was made of, and not the draft."""
    draft = Oracle(
        reply=lambda n: json.dumps({"draft": f"{' '.join(texts(n))} It may be painted.", "sure": 1})
    )
    first = {"context": Library() | joined, "question": RunnablePassthrough()} | PROMPT | draft
    polish = ChatPromptTemplate.from_template("Polish this: {draft}")
    (first | JsonOutputParser() | polish | Oracle()).invoke(question(1), listening(heard))
    assert said(heard.only())[2] == texts(1)


def test_an_answer_that_fills_a_structure_is_that_of_the_model_that_filled_it(heard):
    """And not that of one before it, whose words are like it: it rewrote the question."""
    filled = AIMessage("", tool_calls=[{"name": "Reply", "args": {"answer": answer(1)}, "id": "1"}])

    def answered(asked):
        rewritten = Oracle(reply=lambda n: f"{answer(n)} Is that so?").invoke(asked).text
        shown = joined(Library().invoke(rewritten))
        model = GenericFakeChatModel(messages=iter([filled]))
        return model.invoke(f"From this: {shown}. {asked}").tool_calls[0]["args"]

    RunnableLambda(answered).invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


def test_what_an_earlier_model_quoted_is_still_in_the_context_that_it_was_given(heard):
    """Nobody made up what stood there before, be it all of the context."""
    chain = (
        RunnablePassthrough.assign(draft=PROMPT | Oracle(reply=lambda n: texts(n)[0]) | StrOutputParser())
        | ChatPromptTemplate.from_template("From this: {context}, and {draft}: {question}")
        | Oracle()
    )
    given = {"context": texts(1)[0], "question": question(1)}
    chain.invoke(given, listening(heard))
    assert said(heard.only())[2] == texts(1)[:1]


@pytest.mark.parametrize("grader", ["all of it", "a part"])
def test_what_a_grader_quoted_of_a_document_is_still_in_the_context(grader, heard):
    """Be it told of one document at a time, and the answering model of all."""

    def answered(asked):
        found = Library().invoke(asked)
        for document in found:
            quoted = document.page_content if grader == "all of it" else document.page_content[:12]
            Oracle(reply=lambda n, said=quoted: said).invoke(f"Quote {document.page_content}. {asked}")
        return (PROMPT | Oracle()).invoke({"context": joined(found), "question": asked}).text

    RunnableLambda(answered).invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


def test_a_state_s_answer_goes_before_what_a_tool_said_last(heard):
    """A graph whose agent fetched something, and whose last node answers under a key of its own."""

    class Fetched(MessagesState):
        question: str
        answer: str

    def fetch(state):
        calls = [{"name": "search", "args": {}, "id": "1"}]
        return {
            "messages": [AIMessage("", tool_calls=calls), ToolMessage("Something else.", tool_call_id="1")]
        }

    def told(state):
        shown = joined(Library().invoke(state["question"]))
        return {"answer": Oracle().invoke(f"From this: {shown}. {state['question']}").text}

    builder = StateGraph(Fetched)
    builder.add_node("fetch", fetch)
    builder.add_node("answer", told)
    for a, b in [(START, "fetch"), ("fetch", "answer")]:
        builder.add_edge(a, b)
    builder.compile().invoke({"question": question(1), "messages": []}, listening(heard))
    assert heard.only().interaction.answer == answer(1)


@pytest.mark.parametrize("blank", ["", " ", "---"])
def test_a_blank_document_does_not_make_all_of_them_seen(blank, heard):
    """A model that was shown none of the others answers by heart."""

    class Blank(Library):
        def _get_relevant_documents(self, query, *, run_manager):
            found = super()._get_relevant_documents(query, run_manager=run_manager)
            return [*found, Document(page_content=blank)]

    RunnableLambda(lambda asked: [Blank().invoke(asked), Oracle().invoke(asked).text][1]).invoke(
        question(1), listening(heard)
    )
    assert said(heard.only()) == (AbstentionReason.NO_CONTEXT, question(1), [], answer(1))


@pytest.mark.parametrize("name", ["draft", "chat"])
def test_a_draft_that_quotes_a_document_is_no_evidence(heard, name):
    """What stands beside the quotation was said by a model, or by anybody."""
    prompt = ChatPromptTemplate.from_template(f"{{context}}\nSo far: {{{name}}}\n{{question}}")
    filled = {
        "context": Library() | (lambda found: joined(found[1:])),
        name: lambda _: f"Assistant: {texts(1)[0]} It was never painted, and dogs may ride on it.",
        "question": RunnablePassthrough(),
    }
    (filled | prompt | Oracle()).invoke(question(1), listening(heard))
    assert sorted(said(heard.only())[2]) == sorted(texts(1))


def test_documents_may_fill_several_variables_of_a_prompt(heard):
    """What each of them holds was shown to the model."""
    prompt = ChatPromptTemplate.from_template("Manual: {manual}\nFAQ: {faq}\n{question}")
    halves = {
        "manual": Library() | (lambda found: joined(found[:1])),
        "faq": Library() | (lambda found: joined(found[2:])),
        "question": RunnablePassthrough(),
    }
    (halves | prompt | Oracle()).invoke(question(1), listening(heard))
    assert said(heard.only()) == (None, question(1), [texts(1)[0], texts(1)[2]], answer(1))


PREMISE = (
    "I have read that topic1 weighs a lot, was built long ago, and costs 75 EUR. Does topic1 cost 75 EUR?"
)


class Blue(Library):
    """Finds a document that is like a question about it."""

    def _get_relevant_documents(self, query, *, run_manager):
        text = "topic1 weighs a lot. It was built long ago.\nIt costs 25 EUR, as they have told, and is blue."
        return [Document(text, id="1")]


BLUE = Blue().invoke("topic1")


@pytest.mark.parametrize("form", ["documents", "texts", "one text", "reworded", "with the question"])
def test_a_question_that_is_like_the_documents_is_not_taken_for_them(form, heard):
    """They fill the prompt under a name of the application's own, as a list or in one text."""
    forms = {
        "documents": list,
        "texts": lambda found: [document.page_content for document in found],
        "one text": joined,
        "reworded": lambda found: joined(found).replace("blue", "of a blue colour").replace("a lot", "much"),
        "with the question": lambda found: f"{joined(found)}\n\nQuestion: {PREMISE}",
    }
    prompt = ChatPromptTemplate.from_template("Facts: {facts}\n\nQuestion: {question}")
    facts = Blue() | RunnableLambda(forms[form])
    chain = {"facts": facts, "question": RunnablePassthrough()} | prompt | Oracle()
    chain.invoke(PREMISE, listening(heard))
    expected = forms["reworded" if form == "reworded" else "one text"](BLUE)
    assert said(heard.only()) == (None, PREMISE, [expected], answer(1))


@pytest.mark.parametrize("name", ["documents", "facts"])
def test_documents_that_a_prompt_leaves_out_were_not_shown(name, heard):
    """It is given a whole state, and fills in the question alone."""
    prompt = ChatPromptTemplate.from_template("Say: {question}")
    chain = {name: Library(), "question": RunnablePassthrough()} | prompt | Oracle()
    chain.invoke(question(1), listening(heard))
    assert said(heard.only()) == (AbstentionReason.NO_CONTEXT, question(1), [], answer(1))


def test_documents_that_an_application_took_out_of_the_context_were_not_shown(heard):
    """The prompt is given both, and its template fills in what was left."""
    chain = (
        RunnablePassthrough.assign(docs=(lambda x: x["question"]) | Library())
        | RunnablePassthrough.assign(context=lambda x: joined(x["docs"][:1]))
        | PROMPT
        | Oracle()
    )
    chain.invoke({"question": question(1)}, listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1)[:1], answer(1))


def test_a_context_that_takes_the_place_of_a_default_was_shown(heard):
    """Reworded, so that the prompt alone would not tell; a default is no variable that has to be given."""
    context = "One kilo, from 1001, of a blue colour."
    prompt = PROMPT.partial(context="Nothing is known.")
    ({"context": lambda _: context, "question": RunnablePassthrough()} | prompt | Oracle()).invoke(
        question(1), listening(heard)
    )
    assert said(heard.only()) == (None, question(1), [context], answer(1))


def test_a_question_in_a_document_s_words_leaves_the_document_whole(heard):
    """Its title may be the question."""

    class Asked(Library):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(f"{PREMISE}\nNo, topic1 costs 25 EUR.", id="1")]

    prompt = ChatPromptTemplate.from_template("Facts: {facts}\n\nQuestion: {question}")
    chain = {"facts": Asked() | joined, "question": RunnablePassthrough()} | prompt | Oracle()
    chain.invoke(PREMISE, listening(heard))
    assert said(heard.only())[2] == [f"{PREMISE}\nNo, topic1 costs 25 EUR."]


def test_documents_that_a_tool_returns_are_captured(heard):
    """A tool of one's own may hand over documents, as they are or as its artifact."""

    @apps.tool(response_format="content_and_artifact")
    def look_up(query: str):
        """Look something up."""
        found = apps.documents(apps.topic(query))
        return joined(found), found

    apps.agent(look_up).invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only()) == whole(1)
    assert all(passage.id for passage in heard.only().interaction.contexts)


def test_what_an_application_gives_to_a_tool_was_made_up_by_no_model(heard):
    """A node may fetch a text by itself, and have a tool cut it, or hand it back as it is."""

    @apps.tool
    def cleaned(page: str) -> str:
        """Clean a page."""
        return page.strip()

    page = "topic1 weighs a kilo, as anybody knows who has ever tried to carry it home."

    def answered(asked):
        return Oracle().invoke(f"From this: {cleaned.invoke({'page': page})} {asked}").text

    RunnableLambda(answered).invoke(question(1), listening(heard))
    assert said(heard.only()) == (None, question(1), [page], answer(1))


def test_a_context_that_the_caller_brings_is_captured(heard):
    """Without any retriever, what fills the prompt's context is the context."""
    (PROMPT | Oracle()).invoke({"question": question(1), "context": "Brought along."}, listening(heard))
    assert said(heard.only()) == (None, question(1), ["Brought along."], answer(1))


@pytest.mark.parametrize("shown", [slice(None), slice(1)])
def test_documents_that_the_caller_brings_are_captured_as_far_as_the_prompt_shows_them(shown, heard):
    """Whoever searches outside of the chain hands them in, and a prompt may be written by hand."""

    def prompt(given):
        return f"From this:\n{joined(given['found'][shown])}\n\n{given['question']}"

    chain = RunnableLambda(prompt) | Oracle()
    chain.invoke({"question": question(1), "found": documents(1)}, listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1)[shown], answer(1))
    chain = RunnableLambda(itemgetter("question")) | Oracle()
    chain.invoke({"question": question(1), "found": documents(1)}, listening(heard))
    assert heard.captured[1].problem is AbstentionReason.NO_CONTEXT


@pytest.mark.parametrize("key", ["score", "relevance_score"])
def test_the_retrievers_scores_are_kept(heard, key):
    """A passage carries its document's score, id and metadata."""
    lcel(retriever=Library(score=key)).invoke(question(1), listening(heard))
    first, *_ = heard.only().interaction.contexts
    assert (first.score, first.id, first.metadata["source"]) == (1.0, "1-0", "1.md")


# -- history ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["retrieval chain", "history-aware retrieval", "message history"])
def test_earlier_turns_are_captured(name, heard):
    """The history is what was said before the question, oldest first."""
    app = APPS[name]()
    app.runnable.invoke(app.ask(1), listening(heard, **app.config))
    turns = [(turn.role, turn.text) for turn in heard.only().interaction.history]
    assert turns == [(Role.USER, "Hello"), (Role.ASSISTANT, "Hello to you")]


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")
def test_a_memory_that_the_chain_fills_is_no_history_of_this_very_turn(heard):
    """It holds the answer before the chain has ended, which is no earlier turn to whoever judges it."""
    memory = ConversationBufferMemory(memory_key="chat_history", return_messages=True)
    chain = ConversationalRetrievalChain.from_llm(Oracle(), Library(), memory=memory)
    for n in (1, 2):
        chain.invoke({"question": question(n)}, listening(heard))
    first, second = heard.captured
    assert (said(first), said(second)) == (whole(1), whole(2))
    assert first.interaction.history == ()
    assert [turn.text for turn in second.interaction.history] == [question(1), answer(1)]


def test_a_second_turn_of_an_agent_has_the_first_as_its_history(heard):
    """With a checkpointer, contexts are those of this turn and history is the earlier turns."""
    agent = apps.create_agent(Oracle(), [apps.search], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    for n in (1, 2):
        agent.invoke(apps.asked_in_messages(n), listening(heard, **config))
    first, second = heard.captured
    assert said(first) == (None, question(1), apps.one_text(1), answer(1))
    assert said(second) == (None, question(2), apps.one_text(2), answer(2))
    assert (second.interaction.history[0].text, second.interaction.history[-1].text) == (
        question(1),
        answer(1),
    )


# -- answers in other shapes --------------------------------------------------------------------------------


class Cited(BaseModel):
    answer: str
    sources: list[str]


class Report(BaseModel):
    weight: int


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (lambda text: {"result": text, "n": 1}, answer(1)),
        (lambda text: {"output": {"answer": text}}, answer(1)),
        (lambda text: Cited(answer=text, sources=["a"]), answer(1)),
        (lambda text: {"anything": text}, answer(1)),
        (lambda text: {"messages": [HumanMessage("?"), AIMessage(text)]}, answer(1)),
        (lambda text: [text], answer(1)),
        (lambda text: {"answer": Report(weight=1)}, '{"weight":1}'),
        (lambda text: AIMessage([{"type": "text", "text": text}]), answer(1)),
    ],
)
def test_answers_are_read_out_of_many_shapes(shape, expected, heard):
    """Known keys, messages, blocks and models are understood; otherwise the model's own words count."""
    (lcel() | shape).invoke(question(1), listening(heard))
    assert heard.only().interaction.answer == expected


PAST = [HumanMessage("Hello"), AIMessage("Hello to you")]


@pytest.mark.parametrize(
    ("echoed", "reply"),
    [
        ({"messages": [*PAST, HumanMessage(question(1))]}, "reply"),
        ({"text": question(1)}, "verdict"),
        ({"question": question(1), "answer": "The last turn's."}, "reply"),
        ({"question": question(1), "answer": "The last turn's."}, "response"),
        ({"question": question(1), "messages": PAST}, "reply"),
    ],
)
def test_what_the_input_held_is_not_the_answer(echoed, reply, heard):
    """A chain may hand its input on, under a key that often holds the answer."""
    found = RunnablePassthrough.assign(context=(lambda _: question(1)) | Library())
    told = RunnableLambda(lambda x: {"context": joined(x["context"]), "question": question(1)})
    chain = found | RunnablePassthrough.assign(**{reply: told | PROMPT | Oracle() | StrOutputParser()})
    chain.invoke(echoed, listening(heard))
    assert said(heard.only()) == whole(1)


def test_an_input_that_the_model_repeats_is_the_answer(heard):
    """It said so now."""
    chain = RunnablePassthrough.assign(text=lambda x: x["text"], verdict=(lambda x: x["question"]) | lcel())
    chain.invoke({"text": answer(1), "question": question(1)}, listening(heard))
    assert said(heard.only()) == whole(1)


def test_what_a_graph_remembers_is_not_this_turns_answer(heard):
    """Another node answered this time, in the conversation alone."""

    class Talk(MessagesState, total=False):
        documents: list
        answer: str

    def told(state):
        reply = Oracle().invoke(f"From {joined(state['documents'])}: {state['messages'][-1].text}")
        return {"messages": [reply], **({} if state.get("answer") else {"answer": reply.text})}

    builder = StateGraph(Talk)
    builder.add_node("find", lambda state: {"documents": Library().invoke(state["messages"][-1].text)})
    builder.add_node("tell", told)
    builder.add_edge(START, "find")
    builder.add_edge("find", "tell")
    graph = builder.compile(checkpointer=InMemorySaver())
    for n in (1, 2):
        graph.invoke(apps.asked_in_messages(n), listening(heard, configurable={"thread_id": "1"}))
    assert [said(each) for each in heard.captured] == [whole(1), whole(2)]


class Found(MessagesState, total=False):
    documents: list


def talking(direct):
    """Looks a topic up and answers; what names no topic goes to the node ``direct``."""

    def told(state):
        found = SystemMessage(joined(state["documents"]))
        return {"messages": [Oracle().invoke([found, state["messages"][-1]])]}

    def way(state):
        return "find" if "topic" in state["messages"][-1].text else "direct"

    builder = StateGraph(Found)
    builder.add_node("find", lambda state: {"documents": Library().invoke(state["messages"][-1].text)})
    builder.add_node("tell", told)
    builder.add_node("direct", direct)
    builder.add_conditional_edges(START, way, ["find", "direct"])
    builder.add_edge("find", "tell")
    return builder.compile(checkpointer=InMemorySaver())


def by_heart(state):
    model = FakeListChatModel(responses=["Everything weighs a few kilos."])
    return {"messages": [model.invoke(state["messages"])]}


def from_memory(state):
    model = FakeListChatModel(responses=["It was built in 1001."])
    return {"messages": [model.invoke([SystemMessage(joined(state["documents"])), *state["messages"]])]}


@pytest.mark.parametrize(
    ("direct", "contexts"), [(by_heart, []), (from_memory, texts(1))], ids=["by heart", "told again"]
)
def test_documents_of_an_earlier_turn_count_where_the_model_was_told_them_again(direct, contexts, heard):
    """That an earlier answer in the conversation quotes one tells the model of none."""
    graph = talking(direct)
    for asked in (question(1), "And what of its weight and its age?"):
        graph.invoke({"messages": [HumanMessage(asked)]}, listening(heard, configurable={"thread_id": "1"}))
    first, second = heard.captured
    assert said(first) == whole(1)
    assert [passage.text for passage in second.interaction.contexts] == contexts
    assert second.problem is (None if contexts else AbstentionReason.NO_CONTEXT)


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("Answer: yes", lambda text: text.removeprefix("Answer: ")),
        ('{"answer": "Yes.", "why": "It says so."}', lambda text: json.loads(text)["answer"]),
        ("no", lambda text: "Nothing was found on that."),
    ],
    ids=["cut", "JSON", "a fixed text"],
)
@pytest.mark.parametrize("apart", [True, False])
def test_an_answer_that_repeats_the_last_turns_is_this_turns_too(apart, reply, read, heard):
    """A graph remembers it, and its node has said it once more; or one without a model, ``apart``."""

    class Remembered(apps.State, total=False):
        raw: str

    def tell(state):
        told = Oracle(reply=lambda n: reply).invoke(f"{joined(state['documents'])} {state['question']}").text
        return {"raw": told} if apart else {"answer": read(told)}

    builder = StateGraph(Remembered)
    builder.add_node("find", lambda state: {"documents": Library().invoke(state["question"])})
    builder.add_node("tell", tell)
    builder.add_node("give", lambda state: {"answer": read(state["raw"])} if apart else {"raw": "-"})
    for one, other in [(START, "find"), ("find", "tell"), ("tell", "give")]:
        builder.add_edge(one, other)
    graph = builder.compile(checkpointer=InMemorySaver())
    for n in (1, 2):
        graph.invoke({"question": question(n)}, listening(heard, configurable={"thread_id": "1"}))
    assert [said(each) for each in heard.captured] == [
        (None, question(n), texts(n), read(reply)) for n in (1, 2)
    ]


def test_an_answer_that_code_has_made_of_a_reply_goes_before_the_reply(heard):
    """A sentence made of JSON, beside the message that holds that."""

    def told(context):
        reply = Oracle(reply=lambda n: '{"weight": 1}').invoke(f"{context} {question(1)}")
        return {"messages": [reply], "answer": "You will find that it has the weight of a bag of sugar."}

    (Library() | joined | told).invoke(question(1), listening(heard))
    assert heard.only().interaction.answer == "You will find that it has the weight of a bag of sugar."


def test_of_several_usual_keys_the_one_counts_that_a_model_filled(heard):
    """A status under one of them is no answer."""
    (lcel() | (lambda text: {"result": "ok", "response": f"{text} [1]"})).invoke(
        question(1), listening(heard)
    )
    assert heard.only().interaction.answer == f"{answer(1)} [1]"


def answering(reply, model, **found):
    """Each of the keys is filled with what its function makes of the documents, then a model answers."""
    library = (lambda x: x["question"]) | Library()
    made = {name: (lambda x, form=form: form(x["documents"])) for name, form in found.items()}
    told = (lambda x: {**x, "context": joined(x["documents"])}) | PROMPT | model
    return (
        RunnablePassthrough.assign(documents=library)
        | (RunnablePassthrough.assign(**made) if made else RunnablePassthrough())
        | RunnablePassthrough.assign(**{reply: told if reply == "messages" else told | StrOutputParser()})
    )


@pytest.mark.parametrize("reply", ["response", "summary", "messages"])
@pytest.mark.parametrize(
    "form",
    [joined, lambda found: found[0].page_content, lambda found: f"Found:\n1. {joined(found)}"],
    ids=["all", "one", "with a heading"],
)
def test_documents_under_a_usual_key_are_no_answer(form, reply, heard):
    """A model has answered from them, be it under a key that nobody knows."""
    model = Oracle(reply=lambda n: "It weighs as much as a whale.")
    answering(reply, model, text=form, result=form).invoke({"question": question(1)}, listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), model.reply(1))


def test_documents_that_code_has_chosen_are_the_answer(heard):
    """What the model said is not shown: it only chose."""
    chain = answering("choice", Oracle(reply=lambda n: "1"), text=lambda found: found[0].page_content)
    (chain | (lambda x: {"text": x["text"]})).invoke({"question": question(1)}, listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), texts(1)[0])


@pytest.mark.parametrize("reply", ["response", "summary"])
def test_a_plan_under_a_usual_key_is_no_answer(reply, heard):
    """A model wrote it before anything was found."""
    plan = Oracle(reply=lambda n: f"First look up topic{n}")
    made = RunnablePassthrough.assign(output=(lambda x: x["question"]) | plan | StrOutputParser())
    (made | answering(reply, Oracle())).invoke({"question": question(1)}, listening(heard))
    assert said(heard.only()) == whole(1)


def test_an_answer_by_heart_that_is_then_reviewed_is_the_answer(heard):
    """Its key says so; what a model then says of it does not take its place."""
    by_heart = Oracle(reply=lambda n: "It weighs as much as a whale.")
    made = RunnablePassthrough.assign(answer=(lambda x: x["question"]) | by_heart | StrOutputParser())
    (made | answering("output", Oracle())).invoke({"question": question(1)}, listening(heard))
    assert heard.only().interaction.answer == by_heart.reply(1)


def test_a_structured_answer_is_captured_as_json(heard):
    """A reply that is only a tool call has no words: the structure made of it is the answer."""
    call = {"name": "Report", "args": {"weight": 1}, "id": "1"}
    model = GenericFakeChatModel(messages=iter([AIMessage("", tool_calls=[call])]))
    chain = {"context": Library() | joined, "question": RunnablePassthrough()} | PROMPT | model
    (chain | (lambda reply: Report(**reply.tool_calls[0]["args"]))).invoke(question(1), listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), '{"weight":1}')


class Points(BaseModel):
    points: list[Report]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (lambda points: points, '[{"weight": 1}]'),
        (lambda points: [f"It weighs {point.weight}" for point in points], '["It weighs 1"]'),
        (lambda points: {"question": "?", "answer": points}, '[{"weight": 1}]'),
    ],
    ids=["structures", "texts", "in a state"],
)
def test_a_list_is_captured_as_json(shape, expected, heard):
    """Of a reply that is only a tool call, as other structures are."""
    chain = filling(Points, {"points": [{"weight": 1}]}) | (lambda filled: shape(filled["parsed"].points))
    chain.invoke(question(1), listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), expected)


def test_a_list_of_documents_is_no_answer(heard):
    """A model has only chosen among them."""
    chosen = filling(Points, {"points": [{"weight": 1}]}) | (lambda _: [Document(texts(1)[0])])
    chosen.invoke(question(1), listening(heard))
    assert heard.only().interaction.answer == ""


def filling(form, args):
    """A chain whose model fills a form, and gives what it said beside it."""
    call = {"name": form.__name__, "args": args, "id": "1"}
    model = Filling(messages=iter([AIMessage("", tool_calls=[call])]))
    given = {"context": Library() | joined, "question": RunnablePassthrough()}
    return given | PROMPT | model.with_structured_output(form, include_raw=True)


class Filling(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


@pytest.mark.parametrize(
    ("form", "args", "expected"),
    [
        (Cited, {"answer": answer(1), "sources": ["a"]}, answer(1)),
        (Report, {"weight": 1}, '{"weight":1}'),
        (Report, {"height": 1}, ""),
    ],
    ids=["with an answer", "a structure", "of another form"],
)
@pytest.mark.parametrize("around", [lambda filled: filled, lambda filled: {"output": filled}])
def test_of_a_form_that_comes_with_the_reply_the_form_is_the_answer(around, form, args, expected, heard):
    """Not the objects that hold both, as Python writes them."""
    (filling(form, args) | around).invoke(question(1), listening(heard))
    assert heard.only().interaction.answer == expected


# -- what is not judged -------------------------------------------------------------------------------------


def test_an_abandoned_stream_is_a_partial_answer(heard):
    """A reader that goes away leaves no whole answer, though LangChain calls that a success."""
    stream = lcel().stream(question(1), listening(heard))
    next(stream)
    stream.close()
    assert heard.only().problem is AbstentionReason.PARTIAL_ANSWER
    assert [passage.text for passage in heard.only().interaction.contexts] == texts(1)
    assert heard.live_runs == 0


async def test_an_abandoned_async_stream_is_a_partial_answer(heard):
    """The same in the other colour, where LangChain calls it an error."""
    stream = lcel().astream(question(1), listening(heard))
    await anext(stream)
    await stream.aclose()
    await asyncio.get_running_loop().shutdown_asyncgens()  # LangChain leaves inner generators to it
    assert heard.only().problem is AbstentionReason.PARTIAL_ANSWER
    assert heard.live_runs == 0


async def test_a_cancelled_run_is_a_partial_answer(heard):
    """A caller that stops waiting gets no answer, and none is judged."""
    begun = asyncio.Event()

    async def forever(asked):
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task((lcel() | forever).ainvoke(question(1), listening(heard)))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert heard.only().problem is AbstentionReason.PARTIAL_ANSWER


@pytest.mark.parametrize("way", WAYS)
def test_a_failed_run_is_not_captured(way, heard):
    """A run that raises has given no answer."""
    with pytest.raises(ConnectionError):
        WAYS[way](lcel(Oracle(failures=9)), [question(1)], listening(heard))
    assert heard.captured == []
    assert heard.live_runs == 0


async def test_what_a_failed_run_leaves_behind_is_not_captured(heard):
    """A branch that outlives its failed chain answers nobody."""
    failed, done = asyncio.Event(), asyncio.Event()

    async def fail(asked):
        raise ConnectionError

    async def wait(asked):
        await failed.wait()
        return asked

    async def tell(said):
        done.set()

    both = RunnableParallel(a=RunnableLambda(fail), b=RunnableLambda(wait) | lcel() | tell)
    with pytest.raises(ConnectionError):
        await both.ainvoke(question(1), listening(heard))
    failed.set()
    await done.wait()
    await asyncio.sleep(0)
    assert heard.captured == []


async def test_broken_off_events_leave_nothing_behind(heard):
    """Of each request whose reader goes away, no run and none of its input is kept."""
    for n in range(5):
        async for event in lcel().astream_events(question(n), listening(heard), version="v2"):
            if event["event"] == "on_chat_model_stream":
                break
    for _ in range(100):
        gc.collect()
        await asyncio.sleep(0.01)
        if not heard.live_runs:
            break
    heard_inputs = [run.inputs for run in gc.get_objects() if isinstance(run, Run) and run.inputs is not None]
    assert heard_inputs == []
    assert heard.live_runs == 0
    assert [each.problem for each in heard.captured] == [AbstentionReason.PARTIAL_ANSWER] * 5


def test_a_model_without_any_context_is_reported(heard):
    """A run that answered from nothing we saw is told once, with what to do about it."""
    chain = ChatPromptTemplate.from_template("{question}") | Oracle() | (lambda m: m.text) | (lambda t: t)
    chain.invoke({"question": question(1)}, listening(heard))
    Oracle().invoke(question(2), listening(heard))
    first, second = heard.captured
    assert said(first) == (AbstentionReason.NO_CONTEXT, question(1), [], answer(1))
    assert said(second) == (AbstentionReason.NO_CONTEXT, question(2), [], answer(2))
    assert "groundwire:context" in first.detail


def test_an_agent_that_searched_nothing_is_reported_once(heard):
    """Its several model calls are one answer."""
    apps.create_agent(Oracle(), []).invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only()) == (AbstentionReason.NO_CONTEXT, question(1), [], answer(1))


def test_a_structured_reply_is_no_context_of_itself(heard):
    """An agent's structured reply comes back to it as a tool's message, which no model has read."""
    call = {"name": "Report", "args": {"weight": 1}, "id": "1"}
    model = Oracle(call=call)
    agent = apps.create_agent(model, [], response_format=ToolStrategy(Report))
    agent.invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only()) == (AbstentionReason.NO_CONTEXT, question(1), [], '{"weight":1}')


@pytest.mark.parametrize("form", [joined, str, json.dumps])
def test_a_retriever_that_finds_nothing_is_no_context(form, heard):
    """Documents were asked for and none came, however that is told: it is not the same as a clean answer."""

    class Empty(Library):
        def _get_relevant_documents(self, query, *, run_manager):
            return []

    lcel(retriever=Empty(), form=form).invoke(question(1), listening(heard))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT


def with_review(before_answer):
    """A graph that asks a human, before or after it answers."""
    builder = StateGraph(State)
    builder.add_node("retrieve", lambda state: {"documents": Library().invoke(state["question"])})
    builder.add_node("generate", apps.generate_with_prompt)
    builder.add_node("review", lambda state: {"question": interrupt("Right?") and state["question"]})
    order = ["retrieve", "review", "generate"] if before_answer else ["retrieve", "generate", "review"]
    for a, b in zip([START, *order], [*order, END], strict=True):
        builder.add_edge(a, b)
    return builder.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize("before_answer", [True, False])
def test_an_interrupted_graph_is_captured_once(before_answer, heard):
    """Whichever of its legs gives the answer, it is captured there, with the documents of the state."""
    app = with_review(before_answer)
    config = listening(heard, configurable={"thread_id": "1"})
    app.invoke({"question": question(1)}, config)
    assert len(heard.captured) == (0 if before_answer else 1)
    app.invoke(Command(resume=True), config)
    assert said(heard.only()) == whole(1)


# -- what only the application knows ------------------------------------------------------------------------


def test_a_step_can_be_declared_to_give_the_context(heard):
    """A search that is no retriever is captured by its tag, and everything else as ever."""
    search = RunnableLambda(lambda asked: texts(apps.topic(asked))).with_config(tags=["groundwire:context"])

    def reply(found):
        return Oracle().invoke(f"{found}, what about {found[0].split()[0]}?")

    (RunnableLambda(lambda asked: asked) | search | reply).invoke(question(1), listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), answer(1))


def test_resources_of_a_server_are_a_context_that_can_be_declared(heard):
    """As the client of the Model Context Protocol gives them; a picture brings no words."""
    search = RunnableLambda(
        lambda asked: [*map(Blob.from_data, texts(apps.topic(asked))), Blob.from_data(b"a picture")]
    ).with_config(tags=["groundwire:context"])

    def reply(found):
        return Oracle().invoke(f"{[blob.data for blob in found]}, what about {found[0].data.split()[0]}?")

    (RunnableLambda(lambda asked: asked) | search | reply).invoke(question(1), listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), answer(1))


def test_a_step_can_be_declared_to_give_the_answer(heard):
    """A model that is no LangChain model answers too."""
    generate = RunnableLambda(lambda found: {"words": 1, "answer": answer(1)}).with_config(
        tags=["groundwire:answer"]
    )
    (Library() | generate | (lambda said: {"shown": "something else"})).invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


def test_a_step_that_is_declared_to_give_the_answer_was_told_no_document_that_was_thrown_out(heard):
    """It was handed an empty context."""
    sdk = RunnableLambda(lambda asked: answer(1)).with_config(tags=["groundwire:answer"])
    chain = {"context": Library() | (lambda found: []), "question": RunnablePassthrough()} | sdk
    chain.invoke(question(1), listening(heard))
    assert said(heard.only()) == (AbstentionReason.NO_CONTEXT, question(1), [], answer(1))


@pytest.mark.parametrize(("answers", "seconds", "judged"), [(300, 0, 40), (100, 60, 60)])
def test_a_topmost_run_that_never_ends_holds_back_a_bounded_number_of_answers(
    answers, seconds, judged, heard, monkeypatch
):
    """A worker that loops inside one run has its answers judged while it goes on, the oldest first."""
    now, seen = time.time(), []
    monkeypatch.setattr(time, "time", lambda: now + seconds * len(seen))

    def work(_):
        for n in range(answers):
            lcel().invoke(question(n))
            seen.append(len(heard.captured))

    RunnableLambda(work).invoke("go", listening(heard))
    assert seen[-1] >= judged
    assert [each.interaction.answer for each in heard.captured] == [answer(n) for n in range(answers)]


def test_a_block_may_be_left_in_another_context_than_it_was_entered_in(heard):
    """Web servers step through a generator in one context after another."""

    def served():
        with interaction(question=question(1), contexts=texts(1)):
            yield Oracle().invoke(question(1), listening(heard))

    generator = served()
    for _ in range(2):
        contextvars.copy_context().run(next, generator, None)
    assert said(heard.only()) == (None, question(1), texts(1), answer(1))


def test_a_run_can_be_declared_to_be_one_answer(heard):
    """What retrieves and answers below such a run is part of it, whatever became of it."""
    both = RunnableLambda(lambda asked: [lcel().invoke(asked), lcel().invoke(asked)][-1])
    both.with_config(tags=["groundwire:unit"]).invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


def test_a_run_can_be_left_out(heard):
    """A grader that is skipped has no part in any answer."""
    grade = (ChatPromptTemplate.from_template("{context}") | Oracle(reply=lambda n: "yes")).with_config(
        tags=["groundwire:skip"]
    )

    def checked(asked):
        found = Library().invoke(asked)
        grade.invoke({"context": joined(found)})
        return {"context": joined(found), "question": asked}

    (RunnableLambda(checked) | PROMPT | Oracle()).invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


def test_a_whole_call_can_be_left_out(heard):
    """Neither its answer nor an abstention is told of, and nothing of it is kept."""
    asked = {**listening(heard), "tags": ["groundwire:skip"]}
    lcel().invoke(question(1), asked)
    Oracle().invoke(question(1), asked)
    assert heard.captured == []
    lcel().invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


def exotic():
    class Exotic(State, total=False):
        q: str
        junk: str
        hits: list
        draft: str

    builder = StateGraph(Exotic)
    builder.add_node("hunt", lambda state: {"hits": texts(apps.topic(state["q"]))})
    builder.add_node("write", lambda state: {"draft": Oracle().invoke(state["q"]).text + " Indeed."})
    builder.add_edge(START, "hunt")
    builder.add_edge("hunt", "write")
    return builder.compile()


KEYS = {"question_key": "q", "context_key": "hits", "answer_key": "draft"}


@pytest.mark.parametrize("where", ["metadata", "constructor"])
def test_keys_can_be_declared(where):
    """States of any make are read under the names that they have."""
    heard = Heard(**KEYS) if where == "constructor" else Heard()
    metadata = {"groundwire": KEYS} if where == "metadata" else {}
    exotic().invoke({"q": question(1), "junk": "x"}, listening(heard, metadata=metadata))
    assert said(heard.only()) == (None, question(1), texts(1), answer(1) + " Indeed.")


def test_separate_calls_can_be_declared_to_be_one_answer(heard):
    """Retrieval and generation that nothing else connects are captured as one."""
    with interaction(question=question(1)):
        found = Library().invoke("topic1", listening(heard))
        Oracle().invoke(f"{joined(found[:2])}\n{question(1)}", listening(heard))
    captured = heard.only()
    assert said(captured) == (None, question(1), texts(1)[:2], answer(1))
    assert captured.run_id == captured.trace_id
    assert heard.live_runs == 0


def test_parts_can_be_given_as_they_become_known(heard):
    """What is set on the block goes before what the calls show."""
    with interaction() as block:
        block.question = "Which?"
        block.contexts = raw = ["One text.", "Another."]
        block.answer = Oracle().invoke(f"{raw} {question(1)}", listening(heard)).text.upper()
    assert said(heard.only()) == (None, "Which?", ["One text.", "Another."], answer(1).upper())


async def test_blocks_do_not_mix(heard):
    """Concurrent blocks each see their own calls."""

    async def one(n):
        with interaction(question=question(n)):
            found = await Library().ainvoke(question(n), listening(heard))
            await Oracle().ainvoke(f"{joined(found)} {question(n)}", listening(heard))

    await asyncio.gather(*map(one, range(9)))
    assert sorted(map(said, heard.captured)) == sorted(map(whole, range(9)))


def test_a_block_that_fails_is_not_captured(heard):
    """An exception ends the block without an answer."""
    failing = Oracle() | (lambda said: 1 / 0)
    with pytest.raises(ZeroDivisionError), interaction(question=question(1)):
        failing.invoke(question(1), listening(heard))
    assert heard.captured == []
    assert heard.live_runs == 0


# -- harm and bounds ----------------------------------------------------------------------------------------


class Hostile(str):
    """A text that can't be looked at."""

    __slots__ = ()

    def strip(self, *_):
        raise RuntimeError("not to be read")


def test_what_cant_be_read_costs_nobody_else(heard, caplog):
    """A part that breaks the reading is lost and told once; the chain and the other parts are not."""
    chain = RunnableLambda(lambda asked: question(1)) | lcel()
    for _ in range(2):
        assert chain.invoke(Hostile("secret"), listening(heard)) == answer(1)
    assert [each.interaction.answer for each in heard.captured] == [answer(1)] * 2
    assert [each.interaction.question for each in heard.captured] == ["", ""]
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert "RuntimeError" in warnings[0]
    assert "secret" not in caplog.text


def test_a_listener_that_fails_harms_nobody(caplog):
    """Whatever happens in on_captured, the host's run goes on."""

    def fail(captured):
        raise RuntimeError

    assert lcel().invoke(question(1), listening(Capture(fail))) == answer(1)
    assert "unharmed" in caplog.text


def test_the_run_map_is_bounded(caplog):
    """Runs that never end are given up, oldest first, and counted; those that go on are captured."""
    heard = Heard(max_runs=20)
    leaked = [lcel().stream(question(n), listening(heard)) for n in range(30)]
    for stream in leaked:
        next(stream)
    assert heard.live_runs <= 20
    assert heard.evicted_runs > 0
    assert "max_runs" in caplog.text
    heard.captured.clear()
    lcel().invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


def test_a_capture_that_can_t_work_is_refused():
    """Every mistake is named, when it is made and not run by run."""

    async def later(captured): ...

    with pytest.raises(ConfigurationError, match="on_captured must be callable with a"):
        Capture(None)
    with pytest.raises(ConfigurationError) as caught:
        Capture(later, max_runs=0, context_key=["docs"])
    assert [problem.split()[0] for problem in caught.value.problems] == [
        "on_captured",
        "context_key",
        "max_runs",
    ]


@pytest.mark.parametrize("name", ["lcel", "agent with a retriever tool", "graph with a prompt"])
def test_what_was_captured_is_let_go_with_its_run(name):
    """No document is held until a garbage collection comes round."""
    app = APPS[name]()
    silent = Capture(lambda captured: None)
    gc.collect()
    gc.disable()
    try:
        app.runnable.invoke(app.ask(1), listening(silent))
        (Oracle() | (lambda said: said)).invoke(question(1), listening(silent))
        held = [each for each in gc.get_objects() if isinstance(each, Run | Tree)]
        assert [each for each in held if each is not runs._GONE and each is not runs._GONE.tree] == []
    finally:
        gc.enable()


@pytest.mark.parametrize("strange", [None, 3, b"bytes", float("nan"), "\ud800", "", object(), {}, []])
def test_strange_inputs_and_outputs_are_survived(strange, heard):
    """Whatever goes in and comes out, the chain runs and what was captured says so."""
    chain = RunnableLambda(lambda x: question(1)) | lcel() | (lambda said: strange)
    assert chain.invoke(strange, listening(heard)) is strange
    captured = heard.only()
    expected = strange if isinstance(strange, str) else answer(1)
    assert captured.interaction.answer == expected
    assert heard.live_runs == 0


def test_huge_contexts_stall_nobody_and_are_not_lost(heard):
    """Ten thousand documents that are nowhere to be found again are captured as they were retrieved."""

    class Huge(Library):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(f"document {i} " + "x" * 400) for i in range(10_000)]

    reply = RunnableLambda(lambda found: Oracle().invoke("y" * 1_000_000 + question(1)))
    (Huge() | reply).invoke(question(1), listening(heard))
    assert len(heard.only().interaction.contexts) == 10_000
