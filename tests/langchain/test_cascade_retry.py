"""A cascade's recommendation, done by the wrapper: more is retrieved, or the answer waits for review."""

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from groundwire import Checker
from groundwire.langchain import Expand, recommended, with_hallucination_check


class Shop(BaseRetriever):
    """Finds the first ``k`` of its pages."""

    k: int = 1

    def _get_relevant_documents(self, query, *, run_manager):
        pages = ["A first bag costs 40 EUR.", "A second bag costs 25 EUR."]
        return [Document(page_content=page) for page in pages[: self.k]]


def chain(answer):
    read = RunnablePassthrough.assign(answer=RunnableLambda(lambda given: answer(given["context"])))
    return {"question": RunnablePassthrough(), "context": Shop()} | read


def test_a_cascade_that_wants_more_retrieved_is_obeyed_by_the_wrapper():
    """The first answer is refuted by what was retrieved; the second has the page that it needed."""

    def answer(documents):
        return "A first bag costs 25 EUR." if len(documents) == 1 else "A second bag costs 25 EUR."

    checked = with_hallucination_check(
        chain(answer), checker=Checker("cascade"), on_hallucination=recommended, retry=Expand()
    )
    result = checked.invoke("What does a second bag cost?")
    assert result["answer"] == "A second bag costs 25 EUR."
    assert len(result["context"]) == 2
    verdict = result["hallucination"]
    assert (verdict["hallucinated"], verdict["recommendation"]) == (False, "return")


def test_what_is_to_be_reviewed_is_returned_and_says_so():
    checked = with_hallucination_check(
        chain(lambda documents: "Bags may be paid on board."),
        checker=Checker("cascade"),
        on_hallucination=recommended,
        retry=Expand(),
    )
    result = checked.invoke("Pets?")
    assert result["hallucination"]["recommendation"] == "review"
    assert result["hallucination"]["route"]["decided"] == "embedded"
    assert len(result["context"]) == 1
