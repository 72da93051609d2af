"""Bad input: each has its clear outcome, by every road into groundwire, and none is ever called grounded."""

import json

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

import groundwire as gw
from groundwire import AbstentionReason, InputError
from groundwire.cli.main import main
from groundwire.langchain import GroundwireCallbackHandler, with_hallucination_check

FEE = "The fee for a second bag is 25 EUR."


def outcome_of(**fields):
    outcome = gw.check(**fields)
    json.dumps(outcome.to_dict(), allow_nan=False).encode("utf-8")
    for span in outcome.spans:
        span.of(fields["answer"])
    return outcome


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"answer": "", "contexts": FEE}, AbstentionReason.NO_CLAIMS),
        ({"answer": " \n\t", "contexts": FEE}, AbstentionReason.NO_CLAIMS),
        ({"answer": "---\n\n***", "contexts": FEE}, AbstentionReason.NO_CLAIMS),
        ({"answer": FEE}, AbstentionReason.NO_CONTEXT),
        ({"answer": FEE, "contexts": []}, AbstentionReason.NO_CONTEXT),
        ({"answer": FEE, "contexts": ["", "  "]}, AbstentionReason.NO_CONTEXT),
    ],
)
def test_what_leaves_nothing_to_judge_abstains(fields, reason):
    outcome = outcome_of(**fields)
    assert outcome.why is reason
    assert outcome.score is None
    assert not outcome.grounded


@pytest.mark.parametrize("answer", [None, b"The fee is 25 EUR.", 25, ["The fee"]])
@pytest.mark.parametrize("field", ["answer", "contexts", "question"])
def test_what_is_not_text_is_refused_by_name(field, answer):
    fields = {"answer": FEE, "contexts": FEE, "question": "What is the fee?"}
    if (field, answer) in (("contexts", None), ("question", None)) or (
        field == "contexts" and isinstance(answer, list)
    ):
        pytest.skip("None is no context and no question; a list of str is a list of passages")
    with pytest.raises(InputError, match=field):
        gw.check(**{**fields, field: answer})


@pytest.mark.parametrize(
    "odd",
    [
        "\ud800 lone \udfff surrogates",
        "\x00\x01 control \x1b[31mcharacters\x1b[0m",
        "\u202e right to left \u202c",
        "الرسوم لحقيبة ثانية هي 25 يورو.",
        "二つ目の手荷物の料金は25ユーロです。",
        "\N{ZERO WIDTH SPACE}\N{ZERO WIDTH NO-BREAK SPACE}hidden\N{ZERO WIDTH JOINER}",
        "e\u0301" * 50,
        "🧳" * 100,
    ],
    ids=ascii,
)
def test_odd_text_is_judged_with_offsets_that_hold(odd):
    supported = outcome_of(answer=FEE, contexts=[odd, FEE], question=odd)
    assert supported.grounded
    odd_answer = outcome_of(answer=f"{odd} The fee for a second bag is 75 EUR.", contexts=[odd, FEE])
    assert odd_answer.hallucinated


def test_a_number_as_the_whole_answer_is_judged():
    assert outcome_of(answer="42 million", contexts="The airline carried 42 million passengers.").grounded
    assert outcome_of(answer="42 million", contexts="The airline carried 24 million passengers.").hallucinated


def test_a_refusal_is_no_hallucination():
    assert outcome_of(answer="I can't answer that from the documents.", contexts=FEE).grounded


def test_two_megabytes_of_answer_are_judged():
    answer = "The fee for a second bag is 25 EUR. " * (2_000_000 // 36) + "The fee is 75 EUR."
    outcome = outcome_of(answer=answer, contexts=FEE)
    assert outcome.hallucinated


def test_ten_thousand_passages_are_judged():
    passages = [f"Rule {n}: a bag of kind {n} costs {n + 10} EUR." for n in range(10_000)]
    outcome = outcome_of(answer="A bag of kind 777 costs 787 EUR.", contexts=passages)
    assert outcome.grounded
    assert outcome.claims[0].evidence[0].passage == 777


def chain_with(context, answer="The fee is 25 EUR."):
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    found = {"context": RunnableLambda(lambda _: context), "question": RunnablePassthrough()}
    return found | prompt | FakeListChatModel(responses=[answer]) | StrOutputParser()


@pytest.mark.parametrize("context", [None, "", [], 42, b"bytes", [Document(page_content="")], {"a": None}])
def test_a_chain_with_an_odd_context_runs_on_and_is_never_called_grounded(context):
    with GroundwireCallbackHandler() as handler:
        result = with_hallucination_check(chain_with(context)).invoke(
            "What is the fee?", config={"callbacks": [handler]}
        )
        handler.flush(30)
    assert result["answer"] == "The fee is 25 EUR."
    assert result["hallucination"]["status"] == "abstained"
    assert not any(record.outcome.grounded for record in handler.outcomes)


def test_malformed_rows_are_named_by_line_and_the_rest_is_judged(tmp_path, capsys):
    rows = [
        json.dumps({"question": "q", "context": FEE, "answer": FEE}),
        "{not json",
        json.dumps({"question": "q", "context": FEE, "answer": None}),
        json.dumps({"question": "q", "context": 42, "answer": FEE}),
        json.dumps({"question": "q", "context": FEE}),
        json.dumps({"question": "q", "context": [FEE], "answer": FEE}),
    ]
    table = tmp_path / "answers.jsonl"
    table.write_text("\n".join(rows), encoding="utf-8")
    assert main(["check", str(table), "--jsonl"]) == 3
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [result["status"] for result in results] == ["checked", *["abstained"] * 4, "checked"]
    assert [result["abstention"] for result in results[1:5]] == ["UNREADABLE_INPUT"] * 4
    assert all(f"line {line}" in results[line - 1]["reason"] for line in (2, 3, 4, 5))
