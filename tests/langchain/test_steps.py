"""Which model runs of one call are steps on the way, and which answer: what each is judged against."""

import json
import operator
import time
from typing import Annotated

import pytest
from langchain_classic.chains import create_retrieval_chain
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MultiQueryRetriever,
)
from langchain_classic.retrievers.document_compressors import LLMChainExtractor
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send

from groundwire import AbstentionReason
from tests.langchain import apps
from tests.langchain.apps import PROMPT, WAYS, Library, Oracle, State, answer, joined, lcel, question, texts
from tests.langchain.conftest import listening, said, whole

# -- steps: what they found belongs to the answer that follows ----------------------------------------------


def test_steps_on_the_way_are_not_reported(heard):
    """A retriever alone, a rewritten query, and a bare tool call are no answers."""
    Library().invoke(question(1), listening(heard))
    (Oracle() | (lambda m: m.text) | Library()).invoke(question(1), listening(heard))
    Oracle().bind_tools([apps.search]).invoke(question(1), listening(heard))
    assert heard.captured == []
    assert heard.live_runs == 0


def test_an_agent_that_uses_a_rag_chain_as_a_tool_is_judged_on_the_documents(heard):
    """The user reads the agent's answer; what the chain's model told the agent is no evidence for it."""

    @apps.tool
    def ask(query: str) -> str:
        """Ask."""
        return lcel().invoke(query)

    apps.agent(ask).invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only()) == whole(1)


@pytest.mark.parametrize(
    "form",
    [
        lambda text: json.dumps({"answer": f"{text} €"}),
        lambda text: {"answer": text, "source": "the library"},
        lambda text: f"{text[:12]}...",
        lambda text: text.replace("*", ""),
        lambda text: "5",
    ],
    ids=["as JSON", "a dict", "cut", "without its stars", "a number"],
)
def test_a_rag_chain_in_a_tool_is_a_step_in_whatever_form_the_tool_tells_its_answer(form, heard):
    """The agent was given what the tool said: its own answer is judged, on the documents."""
    inner = lcel(Oracle(reply=lambda n: f"It **weighs**\nso many kilos, says topic{n}."))

    @apps.tool
    def ask(query: str):
        """Ask."""
        return form(inner.invoke(query))

    apps.agent(ask).invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only()) == whole(1)


def test_an_agent_that_uses_another_as_a_tool_is_judged_on_what_that_ones_tools_said(heard):
    """None of them a retriever; what the inner agent's model told the outer one is no evidence."""
    inner = apps.agent(apps.search)

    @apps.tool
    def ask(query: str) -> str:
        """Ask."""
        return inner.invoke({"messages": [HumanMessage(query)]})["messages"][-1].text

    apps.agent(ask).invoke(apps.asked_in_messages(1), listening(heard))
    assert said(heard.only()) == (None, question(1), [apps.search.invoke(question(1))], answer(1))


@pytest.mark.parametrize("by_heart", [True, False])
def test_a_tool_whose_model_speaks_by_heart_brings_nothing(by_heart, heard):
    """One whose model only writes what is looked up, such as a query, brings what it finds."""

    @apps.tool
    def ask(query: str) -> str:
        """Ask."""
        written = Oracle(reply=lambda n: f"Of topic{n} nothing is known for sure.").invoke(query).text
        return f"It says: {written}" if by_heart else texts(apps.topic(written))[0]

    apps.agent(ask).invoke(apps.asked_in_messages(1), listening(heard))
    problem = AbstentionReason.NO_CONTEXT if by_heart else None
    assert said(heard.only()) == (problem, question(1), [] if by_heart else texts(1)[:1], answer(1))


@pytest.mark.parametrize("retrieves", [True, False])
def test_a_tool_that_answers_the_user_itself_is_no_evidence(retrieves, heard):
    """``return_direct``: its documents are, and there may be none."""

    @apps.tool(return_direct=True)
    def ask(query: str) -> str:
        """Ask."""
        return lcel().invoke(query) if retrieves else answer(apps.topic(query))

    apps.agent(ask).invoke(apps.asked_in_messages(1), listening(heard))
    expected = whole(1) if retrieves else (AbstentionReason.NO_CONTEXT, question(1), [], answer(1))
    assert said(heard.only()) == expected


def test_a_corrective_graph_counts_what_passed_its_grader(heard):
    """Graders between retrieval and answer are no answers, and what they threw out is no context."""
    grader = ChatPromptTemplate.from_template("{document} {question}") | Oracle(reply=lambda n: "yes")

    def grade(state):
        for document in state["documents"]:
            grader.invoke({"document": document.page_content, "question": state["question"]})
        return {"documents": state["documents"][1:]}

    builder = StateGraph(State)
    builder.add_node("retrieve", lambda state: {"documents": Library().invoke(state["question"])})
    builder.add_node("grade", grade)
    builder.add_node("generate", apps.generate_with_prompt)
    for a, b in [(START, "retrieve"), ("retrieve", "grade"), ("grade", "generate")]:
        builder.add_edge(a, b)
    builder.compile().invoke({"question": question(1)}, listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1)[1:], answer(1))


def graded(verdict="yes"):
    """Retrieves and grades in one step, and answers in the next."""
    grade = ChatPromptTemplate.from_template("Is {context} about {question}?") | Oracle(
        reply=lambda n: verdict
    )

    def checked(asked):
        found = Library().invoke(asked)
        grade.invoke({"context": joined(found), "question": asked})
        return {"context": joined(found), "question": asked}

    return RunnableLambda(checked) | PROMPT | Oracle()


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_grades_what_was_found_gives_no_answer(way, heard):
    """A later model was given the documents to read: the grader was only a step towards its answer."""
    WAYS[way](graded(), [question(n) for n in range(4)], listening(heard))
    assert sorted(map(said, heard.captured)) == [whole(n) for n in range(4)]
    assert heard.live_runs == 0


def test_a_thousand_models_that_grade_what_was_found_hold_nobody_up(heard):
    """Each has its document to read, and the last all of them: a long text, to seek all their words in."""
    many = [Document(f"topic{n} weighs {n} kilos, which is {2 * n} halves. " * 300) for n in range(1000)]
    grader = Oracle(reply=lambda n: "no way" if n % 2 else f"This speaks of topic{n} and nothing else.")

    class Shelf(BaseRetriever):
        """Finds them all."""

        def _get_relevant_documents(self, query, *, run_manager):
            return many

    def ask(asked):
        kept = Shelf().invoke(asked)
        for document in kept:
            grader.invoke(document.page_content)
        return Oracle().invoke([("system", joined(kept)), ("human", asked)]).text

    begin = time.process_time()
    RunnableLambda(ask).invoke(question(1), listening(heard))
    assert time.process_time() - begin < 5
    assert heard.only().interaction.answer == answer(1)


def test_hundreds_of_answers_that_code_puts_together_hold_nobody_up(heard):
    """Each of them may be what the whole was made of."""
    ask = lcel(Oracle(reply=lambda n: f"topic{n} weighs {n} kilos, and {n} is what it weighs. " * 20))
    app = RunnableLambda(lambda ns: "\n".join(ask.invoke(question(n)) for n in ns))
    begin = time.process_time()
    app.with_config(tags=["groundwire:unit"]).invoke(list(range(300)), listening(heard))
    assert time.process_time() - begin < 5
    assert heard.only().interaction.answer.count("\n") == 299


def test_documents_are_not_read_word_by_word_where_no_other_model_has_spoken(heard, monkeypatch):
    """It took two thirds of what the capture costs a plain chain."""
    read = []
    monkeypatch.setattr("groundwire.langchain.sources.folded", lambda text: read.append(text) or text)
    lcel().invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)
    assert read == []


def test_a_model_that_condenses_what_was_found_gives_no_answer(heard):
    """Its words were given to a later model; that one's answer is held against the documents themselves."""
    condense = ChatPromptTemplate.from_template("Condense: {context}") | Oracle(
        reply=lambda n: f"In short, topic{n} has a weight of {n} kilos and a colour."
    )
    found = Library() | joined | (lambda context: {"context": context}) | condense | (lambda m: m.text)
    chain = {"context": found, "question": RunnablePassthrough()} | PROMPT | Oracle()
    chain.invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


class Notes(State, total=False):
    notes: Annotated[list, operator.add]


def noting(condensed, form=lambda text: text):
    """A node that searches, and has a model make notes of what it found, under a key of its own."""

    def note(state):
        found = joined(Library().invoke(state["question"]))
        model = Oracle(reply=condensed.format)
        return {"notes": [form(model.invoke(f"Note of {found}: {state['question']}").text)]}

    return note


def writing(state):
    """A node that answers from notes alone."""
    notes = "; ".join(state["notes"])
    return {"answer": Oracle().invoke(f"Write of {notes}. {state['question']}").text}


@pytest.mark.parametrize("form", [str, str.upper], ids=["as they are", "in capitals"])
def test_notes_under_a_key_of_their_own_are_no_answer(form, heard):
    """The node that made them is a step, and the one that writes of them gives the answer."""
    builder = StateGraph(Notes)
    builder.add_node("note", noting("topic{0} weighs {0} kilos, and was built long ago", form))
    builder.add_node("write", writing)
    builder.add_edge(START, "note")
    builder.add_edge("note", "write")
    builder.compile().invoke({"question": question(1)}, listening(heard))
    assert said(heard.only()) == whole(1)


@pytest.mark.parametrize("last", [2, 60])
def test_what_is_made_of_several_answers_rests_on_the_documents_of_all(last, heard):
    """Each part of the question is answered in a branch of its own, the whole of it in the end."""
    builder = StateGraph(Notes)
    builder.add_node("note", noting("The topic{} has a weight, and it was built long ago."))
    builder.add_node("write", writing)
    branches = [Send("note", {"question": question(n)}) for n in range(last, 0, -1)]
    builder.add_conditional_edges(START, lambda state: branches, ["note"])
    builder.add_edge("note", "write")
    builder.compile().invoke({"question": question(1)}, listening(heard))
    (problem, asked, contexts, told) = said(heard.only())
    assert (problem, asked, told) == (None, question(1), answer(1))
    assert sorted(contexts) == sorted(text for n in range(1, last + 1) for text in texts(n))


def test_what_a_writer_makes_of_another_agents_message_is_judged(heard):
    """The other's stands in the conversation too, and is judged as well."""

    def research(state):
        told = apps.agent(apps.retriever_tool()).invoke({"messages": state["messages"]})["messages"][-1]
        return {"messages": [AIMessage(told.content, name="researcher")]}

    def write(state):
        return {"messages": [Oracle(reply=lambda n: f"So topic{n} is red.").invoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("research", research)
    builder.add_node("write", write)
    builder.add_edge(START, "research")
    builder.add_edge("research", "write")
    builder.compile().invoke(apps.asked_in_messages(1), listening(heard))
    first, last = heard.captured
    assert said(first) == whole(1)
    assert said(last) == (None, question(1), texts(1), "So topic1 is red.")


def test_documents_that_a_model_has_written_are_a_step(heard):
    """Of each document a model takes out what matters; the answer is that of the model after them."""

    def extract(found):
        extracting = Oracle(reply=lambda n: f"Of topic{n} this matters.")
        return [Document(extracting.invoke(f"What matters in {d.page_content}").text) for d in found]

    lcel(retriever=Library() | extract, form=None).invoke(question(1), listening(heard))
    captured = heard.only()
    assert (captured.interaction.question, captured.interaction.answer) == (question(1), answer(1))


def test_an_answer_by_heart_beside_one_from_documents_is_not_passed_over(heard):
    """It is the answer, and no document supports it; the other is shown too, and judged."""
    both = RunnableParallel(
        found=lcel(), answer=(lambda asked: asked) | Oracle(reply=lambda n: "Green, I say.")
    )
    both.invoke(question(1), listening(heard))
    found, by_heart = heard.captured
    assert said(found) == whole(1)
    assert said(by_heart) == (AbstentionReason.NO_CONTEXT, question(1), [], "Green, I say.")


@pytest.mark.parametrize("key", ["answer", "reply"])
def test_what_is_said_beside_an_answer_is_none(key, heard):
    """A title that is made of the question alone, under a key that nobody knows."""

    def app(asked):
        told = lcel().invoke(asked)
        return {key: told, "title": Oracle(reply=lambda n: "A fine title").invoke(f"A title: {asked}").text}

    RunnableLambda(app).invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


@pytest.mark.parametrize("key", ["answer", "reply"])
@pytest.mark.parametrize("short", ["Yes.", "No"])
def test_a_check_that_says_the_same_short_word_gives_no_answer(short, key, heard):
    """It has read the question alone."""

    def app(asked):
        told = lcel(Oracle(reply=lambda n: short)).invoke(asked)
        return {key: told, "harmless": Oracle(reply=lambda n: short).invoke(f"Harmless? {asked}").text}

    RunnableLambda(app).invoke(question(1), listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), short)


def test_a_check_that_repeats_an_answer_in_a_form_of_its_own_has_not_given_it(heard):
    """It is told the answer, and one of the documents of which that was made."""

    def reply(form):
        return Oracle(reply=lambda n: json.dumps(form(answer(n))))

    def app(asked):
        found = Library().invoke(asked)
        told = reply(lambda said: {"answer": said, "cited": [1]}).invoke(f"{joined(found)}\n{asked}")
        draft = json.loads(told.text)["answer"]
        claims = reply(lambda said: {"claims": [said]}).invoke(f"List: {draft}\n{found[0].page_content}")
        reply(lambda said: {"right": [said]}).invoke(f"Check: {claims.text}\n{found[0].page_content}")
        return {"answer": draft}

    RunnableLambda(app).invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


@pytest.mark.parametrize("end", ["", "\n\nYours, the desk"])
@pytest.mark.parametrize("form", [str, "Confirmed: {}".format, lambda said: json.dumps({"answer": said})])
def test_a_draft_from_memory_is_held_against_what_a_check_read_and_said_again(form, end, heard):
    """It was made of no documents, and goes out because a model has read some."""

    def app(asked):
        draft = Oracle().invoke(asked).text
        told = f"{joined(Library().invoke(asked))}\nIs this right?\n{draft}"
        Oracle(reply=lambda n: form(answer(n))).invoke(told)
        return {"answer": draft + end}

    RunnableLambda(app).invoke(question(1), listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), answer(1) + end)


def test_a_model_whose_template_has_an_answer_s_words_is_not_taken_for_told_of_it(heard):
    """What it says stands beside the answer, under a key that nobody knows."""
    asking = ChatPromptTemplate.from_template("We tell what weighs how many kilos and why. Go on: {asked}")
    answering = Oracle(reply=lambda n: f"Who knows what weighs how many kilos and why, topic{n}?")
    chain = RunnableParallel(reply=lcel(answering), asked=RunnablePassthrough()) | RunnablePassthrough.assign(
        related=asking | Oracle(reply=lambda n: f"And topic{n + 1}?") | StrOutputParser()
    )
    chain.invoke(question(1), listening(heard))
    assert heard.only().interaction.contexts
    assert heard.only().interaction.answer == answering.reply(1)


def test_later_calls_on_the_same_subject_take_no_answers_where_nothing_is_shown(heard):
    """Each question is judged with its own documents; the run returns a status."""

    def app(_):
        for n in (1, 2, 3):
            lcel().invoke(question(n))
        for n in (1, 2, 3):
            Oracle(reply=lambda n: "Fine.").invoke(f"Whoever weighs {n} or more kilos is like topic{n}.")
        return "all done"

    RunnableLambda(app).invoke("Of which topics do you know?", listening(heard))
    assert [said(each) for each in heard.captured] == [whole(n) for n in (1, 2, 3)]


class Titled(State, total=False):
    output: str


def titled(*nodes):
    """A graph whose last node makes a title of the question alone, under another usual key."""
    builder, before = StateGraph(Titled), START
    title = Oracle(reply=lambda n: f"All on topic{n}")
    last = ("title", lambda state: {"output": title.invoke(f"Title: {state['question']}").text})
    for name, node in [*((f"node{i}", node) for i, node in enumerate(nodes)), last]:
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    return builder.compile()


PARTS = ["It weighs some kilos, they say.", "Somebody built it long ago.", "Blue is what everyone calls it."]


def test_an_answer_that_code_has_put_together_is_not_given_up_for_a_title(heard):
    """No one model has said most of it."""

    def tell(state):
        found = Library().invoke(state["question"])
        told = [Oracle(reply=lambda n, p=part: p).invoke(f"{joined(found)} topic1").text for part in PARTS]
        return {"answer": "\n".join(told), "documents": found}

    titled(tell).invoke({"question": question(1)}, listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), "\n".join(PARTS))


def test_answers_that_code_has_put_together_stay_theirs_beside_a_title(heard):
    """Each with its own documents."""

    def tell(_):
        chains = [lcel(Oracle(reply=lambda n, p=part: p)) for part in PARTS]
        return {"answer": "\n".join(chain.invoke(question(n)) for n, chain in enumerate(chains, 1))}

    titled(tell).invoke({"question": question(1)}, listening(heard))
    expected = [(None, question(n), texts(n), part) for n, part in enumerate(PARTS, 1)]
    assert [said(each) for each in heard.captured] == expected


def test_an_answer_that_code_has_edited_is_not_given_up_for_a_title(heard):
    """Few of its words are still the model's."""

    def edit(state):
        told = state["answer"].upper()
        return {"answer": f"**Answer**: {told} Kind regards, your friends from the library"}

    titled(lambda state: {"answer": lcel().invoke(state["question"])}, edit).invoke(
        {"question": question(1)}, listening(heard)
    )
    assert said(heard.only()) == whole(1)


def extracting(said):
    """A retriever in which a model extracts what is relevant, of each document as ``said``."""
    extractor = LLMChainExtractor.from_llm(FakeListChatModel(responses=said))
    return ContextualCompressionRetriever(base_retriever=Library(), base_compressor=extractor)


INVENTED = "topic1 weighs 99 kilos, and gold members may carry two of them."


def in_a_tool(retriever):
    return apps.agent(create_retriever_tool(retriever, "library", "Finds documents."))


def in_a_retrieval_chain(retriever):
    return create_retrieval_chain(retriever, apps._stuffed())


EXTRACTED = {
    "a prompt": (lambda retriever: lcel(retriever=retriever), question),
    "documents in a prompt": (lambda retriever: lcel(retriever=retriever, form=None), question),
    "a retrieval chain": (in_a_retrieval_chain, apps.asked_in_chat),
    "an agent's tool": (in_a_tool, apps.asked_in_messages),
}


@pytest.mark.parametrize("name", EXTRACTED)
@pytest.mark.parametrize("nested", [False, True])
def test_what_a_model_in_a_retriever_made_up_is_no_evidence(nested, name, heard):
    """What it was told is: the one document of which it made words of its own, and not those it dropped."""
    build, ask = EXTRACTED[name]
    retriever = extracting([INVENTED, "NO_OUTPUT", "NO_OUTPUT"])
    if nested:
        retriever = EnsembleRetriever(retrievers=[retriever], weights=[1])
    build(retriever).invoke(ask(1), listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1)[:1], answer(1))


@pytest.mark.parametrize("name", EXTRACTED)
def test_what_a_model_in_a_retriever_quoted_is_the_passage(name, heard):
    """Nobody has made that up; nor what stands beside what one has."""
    build, ask = EXTRACTED[name]
    build(extracting(["topic1 weighs 1 kilos.", INVENTED, "NO_OUTPUT"])).invoke(ask(1), listening(heard))
    assert sorted(said(heard.only())[2]) == sorted(texts(1)[:2])


def test_a_model_that_writes_a_retriever_s_queries_makes_up_no_document(heard):
    """Though its words stand in what is found for them."""
    writing = FakeListChatModel(responses=[f"{texts(1)[0]}\n{question(1)}"])
    retriever = MultiQueryRetriever.from_llm(Library(), writing)
    lcel(retriever=retriever).invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


def test_a_retriever_that_is_a_model_alone_finds_nothing(heard):
    """It was told no document."""

    class ByHeart(Library):
        def _get_relevant_documents(self, query, *, run_manager):
            model = FakeListChatModel(responses=[INVENTED])
            told = model.invoke(query, {"callbacks": run_manager.get_child()}).text
            return [Document(told)]

    lcel(retriever=ByHeart()).invoke(question(1), listening(heard))
    assert said(heard.only()) == (AbstentionReason.NO_CONTEXT, question(1), [], answer(1))


def test_an_answer_condensed_in_steps_rests_on_all_documents(heard):
    """A last model that saw only an earlier model's summary answered from what that one had read."""
    summary = "A summary that is long enough to be told from a mere yes or no."
    condense = ChatPromptTemplate.from_template("Summarise {context}") | FakeListChatModel(
        responses=[summary]
    )
    final = ChatPromptTemplate.from_template("From {summary} tell of {question}") | Oracle()
    chain = (
        RunnablePassthrough.assign(context=(lambda x: x["question"]) | Library() | joined)
        | RunnablePassthrough.assign(summary=condense | StrOutputParser())
        | final
    ).with_config(tags=["groundwire:unit"])
    chain.invoke({"question": question(6)}, listening(heard))
    assert said(heard.only()) == whole(6)


def test_what_every_prompt_suggests_was_handed_on_by_no_model(heard):
    """Each document is asked by itself, and the answer of one is chosen: it rests on that document."""
    unsure = "The document does not tell."

    def answered(asked):
        prompts = [f"{d.page_content} Or say: {unsure} {asked}" for d in Library().invoke(asked)]
        told = [
            Oracle(reply=lambda n, i=i: unsure if i else answer(n)).invoke(prompt).text
            for i, prompt in enumerate(prompts)
        ]
        return told[0]

    RunnableLambda(answered).invoke(question(1), listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1)[:1], answer(1))


@pytest.mark.parametrize("drawn", ["5 kilos", "It weighs 5 kilos."])
def test_short_answers_that_are_put_together_rest_on_all_documents(drawn, heard):
    """Whatever fills a variable of the last prompt was handed on, be it two words."""
    both = RunnableParallel(
        a=(lambda _: question(5)) | lcel(Oracle(reply=lambda n: drawn)), b=(lambda _: question(6)) | lcel()
    )
    chain = both | ChatPromptTemplate.from_template("Put together: {a} {b}") | Oracle()
    chain.invoke("Tell me of both.", listening(heard))
    assert sorted(said(heard.only())[2]) == sorted(texts(5) + texts(6))  # in the order of two threads


# -- several answers in one run -----------------------------------------------------------------------------


def test_two_answers_from_the_same_documents_stay_two(heard):
    """A model with a retrieval of its own takes nothing from another branch, however late it starts."""
    chain = RunnableLambda(lambda asked: [lcel().invoke(asked), lcel().invoke(asked)])
    chain.invoke(question(1), listening(heard))
    assert [said(each) for each in heard.captured] == [whole(1), whole(1)]


def test_an_earlier_answer_in_the_conversation_is_no_step(heard):
    """Within one run, the second answer has the first one before it as a turn."""
    prompt = ChatPromptTemplate.from_messages(
        [("system", "{context}"), ("placeholder", "{past}"), ("human", "{question}")]
    )

    def talk(_):
        past = []
        for n in (1, 2):
            found = {
                "context": (lambda s: s["question"]) | Library() | joined,
                "question": lambda s: s["question"],
                "past": lambda s: s["past"],
            }
            said = (RunnableParallel(found) | prompt | Oracle()).invoke(
                {"question": question(n), "past": past}
            )
            past = [HumanMessage(question(n)), said]

    RunnableLambda(talk).invoke("go", listening(heard))
    assert [each.interaction.answer for each in heard.captured] == [answer(1), answer(2)]


def made(reply):
    """A prompt and a model that makes something of an answer."""
    return ChatPromptTemplate.from_template("Go on from: {answer}") | Oracle(reply=reply) | StrOutputParser()


def hops():
    """A second question that builds on the answer to the first."""

    def ask(asked):
        first = lcel().invoke(asked)
        then = lcel(Oracle(reply=lambda n: f"So it is topic{n}.")).invoke(
            f"{first} And topic{topic_after(asked)}?"
        )
        return first, then

    def topic_after(asked):
        return apps.topic(asked) + 1

    return ask


def test_an_answer_that_builds_on_another_rests_on_the_documents_of_both(heard):
    """What the first one found is not held against the second by itself, and the first is no answer."""
    (RunnableLambda(hops()) | (lambda both: both[1])).invoke(question(1), listening(heard))
    assert said(heard.only())[2:] == ([*texts(1), *texts(2)], "So it is topic2.")


def test_an_answer_that_is_shown_in_the_end_is_judged_though_another_builds_on_it(heard):
    """The user reads both: each is captured, with its own question."""
    RunnableLambda(hops()).invoke(question(1), listening(heard))
    first, second = heard.captured
    assert said(first) == whole(1)
    assert second.interaction.answer == "So it is topic2."


def test_a_conversation_told_as_text_loses_no_answer(heard):
    """Earlier answers stand in the later prompts, and all of them in the output."""
    prompt = ChatPromptTemplate.from_template("{context}\nSo far: {past}\nQ: {question}")
    unsure = Oracle(reply=lambda n: f"Of {n}, nobody knows.")

    def talk(_):
        past = []
        for n in (1, 2, 3):
            found = {
                "context": (lambda s: s["question"]) | Library() | joined,
                "question": lambda s: s["question"],
                "past": lambda s: s["past"],
            }
            asked = {"question": question(n), "past": "\n".join(past)}
            told = (RunnableParallel(found) | prompt | unsure).invoke(asked)
            past.append(f"{question(n)} {told.text}")
        return past

    RunnableLambda(talk).invoke("go", listening(heard))
    captured = sorted(heard.captured, key=lambda each: each.interaction.question)
    assert [each.interaction.question for each in captured] == [question(n) for n in (1, 2, 3)]
    assert [each.interaction.answer for each in captured] == [f"Of {n}, nobody knows." for n in (1, 2, 3)]
    assert all(each.interaction.contexts for each in captured)


def test_an_answer_that_every_prompt_suggests_is_not_taken_for_handed_on(heard):
    """Questions one after the other, and what to say of those that can't be answered."""
    prompt = ChatPromptTemplate.from_template("From {context}, or else say: I don't know.\nWell: {question}")

    def ask(n):
        model = Oracle(reply=lambda n: answer(n) if n == 2 else "I don't know.")
        found = {"context": Library() | joined, "question": RunnablePassthrough()}
        return (found | prompt | model | StrOutputParser()).invoke(question(n))

    RunnableLambda(lambda _: [ask(n) for n in (1, 2, 3)]).invoke("go", listening(heard))
    unsure = [(None, question(n), texts(n), "I don't know.") for n in (1, 3)]
    assert [said(each) for each in heard.captured] == [unsure[0], whole(2), unsure[1]]


def test_an_answer_in_a_documents_words_is_not_taken_for_handed_on(heard):
    """Another question is answered from the same documents, in which the first answer stands."""
    quoting = lcel(Oracle(reply=lambda n: texts(n)[0]))
    (RunnableLambda(lambda asked: [quoting.invoke(asked), lcel().invoke(asked)])).invoke(
        question(1), listening(heard)
    )
    assert [each.interaction.answer for each in heard.captured] == [texts(1)[0], answer(1)]


@pytest.mark.parametrize(
    "form", [lambda a, more: {"reply": a, "more": more}, lambda a, more: (a, more)], ids=["keys", "a pair"]
)
def test_what_was_made_of_an_answer_is_not_judged_for_it(form, heard):
    """Where no key tells which of them the answer is, nothing is judged, and the record says why."""

    def app(asked):
        told = lcel().invoke(asked)
        return form(told, made(lambda n: f"And what of topic{n + 1}?").invoke({"answer": told}))

    RunnableLambda(app).invoke(question(1), listening(heard))
    assert heard.only().problem is AbstentionReason.NO_CLAIMS
    assert "several models" in heard.only().detail


def test_what_was_made_of_an_answer_and_not_returned_is_not_judged_for_it(heard):
    """A title goes to a log; the user is shown the answer, under a key that nobody knows."""

    def app(asked):
        told = lcel().invoke(asked)
        made(lambda n: "A fine title").invoke({"answer": told})
        return {"reply": told}

    RunnableLambda(app).invoke(question(1), listening(heard))
    assert said(heard.only()) == whole(1)


def spread(shape, library=None, form=joined):
    """Each question is answered by a model of its own, in one function."""

    def app(asked):
        found = (library or Library()).batch(asked)
        prompts = [f"{form(of_one)}\n{one}" for one, of_one in zip(asked, found, strict=True)]
        return shape([reply.text for reply in Oracle().batch(prompts)])

    return app


@pytest.mark.parametrize(
    "shape",
    [
        lambda told: told,
        lambda told: {"replies": told},
        lambda told: {"parts": told, "report": "\n\n".join(told)},
    ],
    ids=["a list", "in a state", "joined"],
)
def test_of_several_answers_side_by_side_none_passes_for_all(shape, heard):
    """Where they stand under no usual key, nothing is judged, and the record says why."""
    RunnableLambda(spread(shape)).invoke([question(1), question(2)], listening(heard))
    assert heard.only().problem is AbstentionReason.NO_CLAIMS
    assert "several models" in heard.only().detail


@pytest.mark.parametrize(
    "form",
    [joined, lambda found: " ".join(joined(found).split()), lambda found: json.dumps(joined(found)), str],
)
def test_documents_of_several_lines_are_known_however_they_are_written(form, heard):
    """None of several answers passes for all where the models read them in one line, or as JSON."""

    class Lines(Library):
        def _get_relevant_documents(self, query, *, run_manager):
            found = super()._get_relevant_documents(query, run_manager=run_manager)
            return [Document(joined(found).replace(" ", "\n"))]

    app = spread(lambda told: told, Lines(), form)
    RunnableLambda(app).invoke([question(1), question(2)], listening(heard))
    assert heard.only().problem is AbstentionReason.NO_CLAIMS


def test_the_last_of_several_that_read_the_documents_is_the_answer(heard):
    """A plan and a report, both written from what was found."""

    def app(asked):
        found = joined(Library().invoke(asked))
        plan = (PROMPT | Oracle(reply=lambda n: "First the weight.") | StrOutputParser()).invoke(
            {"context": found, "question": asked}
        )
        return {
            "plan": plan,
            "report": (PROMPT | Oracle() | StrOutputParser()).invoke(
                {"context": f"{found}\n{plan}", "question": asked}
            ),
        }

    RunnableLambda(app).invoke(question(1), listening(heard))
    assert heard.only().interaction.answer == answer(1)


@pytest.mark.parametrize(
    ("told", "taken"),
    [('{{"answer": "{}"}}', lambda text: json.loads(text)["answer"]), ("Final: {}", lambda t: t[7:])],
    ids=["json", "label"],
)
def test_two_answers_in_the_same_words_are_both_judged(told, taken, heard):
    """Also where code takes them out of what a model has said, so that neither model said exactly that."""
    model = FakeListChatModel(responses=[told.format("There is none.")])
    to_prompt = {"context": Library() | joined, "question": RunnablePassthrough()}
    chain = to_prompt | PROMPT | model | StrOutputParser() | taken

    def each(questions, config):
        return [chain.invoke(one, config) for one in questions]

    RunnableLambda(each).invoke([question(1), question(2)], listening(heard))
    asked = [captured.interaction.question for captured in heard.captured]
    assert asked == [question(1), question(2)]
