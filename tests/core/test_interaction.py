"""Interactions: whatever can be judged can be built, and nothing else can."""

import copy
import pickle
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from llama_index.core import Response
from llama_index.core.schema import NodeWithScore, TextNode

from groundwire import InputError, Interaction, Passage, Role, Turn

NODE = NodeWithScore(node=TextNode(text="x"), score=1.0)


@pytest.mark.parametrize(
    ("contexts", "texts"),
    [
        (None, []),
        ("one", ["one"]),
        (Passage(text="one"), ["one"]),
        (["one", Passage(text="two", id="p2")], ["one", "two"]),
        ((text for text in ("one", "two")), ["one", "two"]),
        ([], []),
    ],
)
def test_contexts_of_every_accepted_shape_become_passages(contexts, texts):
    interaction = Interaction(answer="a", contexts=contexts)
    assert [passage.text for passage in interaction.contexts] == texts


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"answer": None}, "answer is None: no answer to judge was given; expected a str"),
        ({"answer": b"bytes"}, "answer must be a str, not bytes b'bytes'; decode it first"),
        ({"answer": "a", "contexts": 42}, "contexts must be a str, a Passage or a list of them, not int 42"),
        ({"answer": "a", "contexts": b"x"}, "decode it first"),
        ({"answer": "a", "contexts": {"text": "x"}}, "not dict"),
        ({"answer": "a", "contexts": [{"page_content": "x"}]}, r"give its text: document\['page_content'\]"),
        ({"answer": "a", "contexts": ["fine", 3.5]}, r"contexts\[1\] must be a str, not float 3.5"),
        ({"answer": "a", "contexts": ["fine", None]}, r"contexts\[1\] is None: no text was given"),
        ({"answer": "a", "question": 7}, "question must be a str, not int 7"),
        ({"answer": "a", "id": 7}, r"id must be a str, not int 7; give its text: str\(id\)"),
        ({"answer": "a", "id": 0}, "id must be a str, not int 0"),
        ({"answer": "a", "metadata": ["x"]}, "metadata must be a mapping, not list"),
        ({"answer": "a", "history": "hi"}, "history must be a list of Turns, not str 'hi'"),
        ({"answer": "a", "history": [("user", "hi")]}, r"history\[0\] must be a Turn, not tuple"),
        ({"answer": "a", "history": [{"role": "user"}]}, r"not dict .*: Turn\(role=Role.USER, text=...\)"),
        ({"answer": {"input": "q", "answer": "a"}}, r"give its text: result\['answer'\]"),
        ({"answer": {"messages": [AIMessage("a")]}}, r"give its text: result\['messages'\]\[-1\].text"),
        ({"answer": [{"type": "text", "text": "a"}]}, r"give its text: message.text"),
        ({"answer": {"role": "assistant", "content": "a"}}, r"give its text: result\['content'\]"),
        ({"answer": "a", "question": {"input": "q", "answer": "a"}}, r"give its text: result\['input'\]"),
        ({"answer": "a", "contexts": {"context": ["x"], "answer": "a"}}, r"not dict [^;]*$"),
        ({"answer": "a", "contexts": [{"answer": "a", "text": "x"}]}, r"give its text: document\['text'\]"),
        ({"answer": Path("a.txt")}, r"give its text: path.read_text\(\)"),
        ({"answer": "a", "contexts": [(NODE, 0.3)]}, r"give its text: Passage\(text=node.get_content\(\)"),
        ({"answer": AIMessage("25 EUR")}, r"AIMessage\(content='25 EUR'.*…; give its text: message.text"),
        ({"answer": Response("25 EUR")}, r"Response\(response='25 EUR'.*; give its text: str\(response\)"),
        ({"answer": "a", "contexts": Document("x")}, r"contexts must be .*; give .*document.page_content"),
        ({"answer": "a", "contexts": [Document("x")]}, r"contexts\[0\] .*; give .*document.page_content"),
        ({"answer": "a", "contexts": NODE.node}, r"contexts must be .*; give .*node.get_content\(\)"),
        ({"answer": "a", "contexts": [NODE]}, r"contexts\[0\] .*; give .*node.get_content\(\)"),
    ],
)
def test_what_is_not_text_is_refused_by_name(fields, message):
    with pytest.raises(InputError, match=message):
        Interaction(**fields)


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_a_table_is_no_list_of_passages(package):
    """A DataFrame is iterable over its columns' names, which would be all the evidence there is."""
    made = {"pandas": lambda it: it.DataFrame, "pyarrow": lambda it: it.table}[package]
    table = made(pytest.importorskip(package))({"text": ["A bag costs 25 EUR."], "page": [1]})
    with pytest.raises(
        InputError, match=r"contexts must be .* not (DataFrame|Table) .*; give .*column of texts"
    ):
        Interaction(answer="a", contexts=table)


def test_no_history_is_an_empty_one():
    assert Interaction(answer="a", history=None).history == ()


def test_a_long_wrong_value_is_shortened_in_the_message():
    with pytest.raises(InputError) as caught:
        Interaction(answer=b"x" * 1_000_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("contexts", "holds"), [(None, False), ("  \n", False), (["", " "], False), (["", "x"], True)]
)
def test_blank_passages_are_no_context(contexts, holds):
    assert Interaction(answer="a", contexts=contexts).has_context is holds


def test_an_interaction_is_a_value():
    one = Interaction(
        question="q",
        contexts=[Passage(text="p", id="1", metadata={"source": "a.md"}, score=0.5)],
        answer="a",
        history=[Turn(role=Role.USER, text="earlier")],
        id="x",
        metadata={"route": "faq"},
    )
    assert copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one
    assert hash(copy.copy(one)) == hash(one)
    with pytest.raises(AttributeError):
        one.answer = "other"


@pytest.mark.parametrize("role", list(Role))
def test_a_role_may_be_given_by_its_name(role):
    assert Turn(role=str(role), text="a").role is role


def test_a_role_that_is_none_is_refused_where_it_is_given():
    """It would be kept, and nobody could read what was kept."""
    with pytest.raises(
        InputError, match="a turn's role must be one of user, assistant, system, tool, not str 'bot'"
    ):
        Turn(role="bot", text="a")


def test_a_passage_s_metadata_are_a_mapping_of_its_own():
    given = {"page": 3}
    passage = Passage(text="a", metadata=given)
    given["page"] = 4
    assert passage.metadata == {"page": 3}
    assert Passage(text="a", metadata=None).metadata == {}
    with pytest.raises(InputError, match="a passage's metadata must be a mapping, not list"):
        Passage(text="a", metadata=[1])
