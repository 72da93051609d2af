"""What is taken out of a context is what models have said, and all else stays as it was found."""

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from tests.langchain.apps import Library, Oracle, answer, joined, question
from tests.langchain.conftest import listening, said

TEXT = "The topic1 weighs 1 kilos and is blue."


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
