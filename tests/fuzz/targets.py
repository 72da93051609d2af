"""The targets: each takes bytes, and fails where what is promised for any input does not hold."""

import asyncio
import inspect
import io
import json
import tempfile
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from groundwire import Abstention, AbstentionReason, ConfigurationError, Interaction, Verdict, config
from groundwire.core import wire
from groundwire.core.plan import Complete, Completed, Failed
from groundwire.detectors.judge import JudgeDetector
from groundwire.detectors.lexical import Lexical
from groundwire.judge.drivers import run
from groundwire.langchain.capture import Capture as LangChainCapture
from groundwire.llama_index.capture import Capture as LlamaIndexCapture
from groundwire.prompts import forms, replies
from groundwire.prompts.quoting import fence, neutral, places
from groundwire.report.visible import visible
from groundwire.tables import Format, TableError, read
from groundwire.text import claims, facts, sentences, tokens
from groundwire.text.quotes import Quotable
from tests.fuzz.feed import Feed

_FORMS = [
    one
    for one in vars(forms).values()
    if inspect.isclass(one) and issubclass(one, forms.Form) and one is not forms.Form
]
_ENTRIES = [one for one in vars(forms).values() if inspect.isclass(one) and issubclass(one, replies.Entry)]


def text(data: bytes) -> None:
    """Whatever the text: spans are in order, apart, inside of it, and slice back; quoting loses no place."""
    feed = Feed(data)
    said = feed.text(200) if feed.byte() % 2 else feed.rest().decode("utf-8", "surrogateescape")
    for cut in (sentences.split, claims.cut):
        spans = cut(said)
        ends = [end for span in spans for end in (span.start, span.end)]
        assert ends == sorted(ends)
        assert all(span.of(said).strip() for span in spans)
    for word in tokens.words(said):
        assert word.span.of(said) == word.text
        tokens.stem(tokens.fold(word.text))
    for fact in facts.extract(said):
        assert fact.span.of(said) == fact.text
    marks = fence([said])
    assert marks.code not in neutral(said).lower()
    assert len(places(said)) == len(neutral(said)) + 1
    assert not {"\x1b", "\u202e"} & set(visible(said))
    for found in Quotable(said).find(said[:40]):
        found.of(said)


def judging(data: bytes) -> None:
    """Whatever is judged: the offline detector gives an outcome that can be sent, with places that hold."""
    feed = Feed(data)
    interaction = Interaction(
        question=feed.text(), contexts=[feed.text(40) for _ in range(feed.byte() % 5)], answer=feed.text(60)
    )
    _sound(run(Lexical().detect(interaction), _Says("")), interaction)


def replied(data: bytes) -> None:
    """Whatever a model replies: a form or UnreadableError, and a verdict that holds or an abstention."""
    feed = Feed(data)
    canary, said = bool(feed.byte() % 2), feed.rest().decode("utf-8", "surrogateescape")
    for form in _FORMS:
        with suppress(replies.UnreadableError):
            replies.read_object(said, form)
    for entry in _ENTRIES:
        with suppress(replies.UnreadableError):
            replies.read_entries(said, entry, key="claims")
    for reader in (replies.claim_replies, replies.score_reply, lambda text: forms.readings(text, 2)):
        with suppress(replies.UnreadableError):
            reader(said)
    interaction = Interaction(
        question="The fee?", contexts=["The fee is 25 EUR."], answer="The fee is 75 EUR. Dogs fly free."
    )
    outcome = run(JudgeDetector(canary=canary).detect(interaction), _Says(said))
    _sound(outcome, interaction)
    assert not outcome.grounded, "an exact fact refutes this answer"


def decoding(data: bytes) -> None:
    """Whatever is decoded as an outcome: an outcome, or ValueError."""
    feed = Feed(data)
    if feed.byte() % 2:
        try:
            told = json.loads(feed.rest())
        except (ValueError, RecursionError):
            return
        _decoded(told)
        return
    told = wire.encode(_outcome(feed))
    for _ in range(feed.byte() % 6):
        _disturb(told, feed)
    _decoded(told)


def tables(data: bytes) -> None:
    """Whatever a file holds: TableError, or rows that are each an interaction or say why there is none."""
    feed = Feed(data)
    kind = feed.one_of([None, *Format])
    name = feed.one_of(["", "a.jsonl", "a.csv", "a.json", "a.tsv", "a.parquet", "a.csv.gz"])
    with suppress(TableError):
        for row in read(io.BytesIO(feed.rest()), name=name, kind=kind).rows:
            assert (row.interaction is None) == bool(row.problem)
            assert row.line >= 1


def settings(data: bytes) -> None:
    """Whatever a settings file says: settings and a detector, or ConfigurationError."""
    feed = Feed(data)
    kind = feed.one_of(["dict", ".json", ".toml", ".yaml"])
    with suppress(ConfigurationError):
        if kind == "dict":
            keys = [*config.Settings.model_fields, "name", "stages", "cross_check", "oracles"]
            given = {feed.one_of(keys): feed.value() for _ in range(feed.byte() % 4)}
            if feed.byte() % 2:
                given["detector"] = {"name": feed.one_of(_DETECTORS), feed.one_of(_PARAMETERS): feed.value()}
            config.load(given).build_detector()
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "settings" + kind)
            path.write_bytes(feed.rest())
            config.load(path).build_detector()


def langchain(data: bytes) -> None:
    """Whatever events come, in whatever order: nothing is raised, and what has ended is forgotten."""
    feed, caught = Feed(data), []
    capture = LangChainCapture(caught.append, max_runs=8)
    runs = [UUID(int=i + 1) for i in range(12)]
    while feed.left:
        event, run_id = feed.one_of(_EVENTS), feed.one_of(runs)
        parent = feed.one_of([None, *runs])
        call = getattr(capture, event)
        if event.endswith("_start"):
            about = {"tags": feed.one_of([None, [], ["a"]]), "metadata": feed.one_of([None, {}, {"a": 1}])}
            call(None, _handed(feed), run_id=run_id, parent_run_id=parent, **about)
        elif event.endswith("_error"):
            call(feed.one_of([ValueError("x"), asyncio.CancelledError(), KeyboardInterrupt()]), run_id=run_id)
        else:
            call(_handed(feed), run_id=run_id)
        assert capture.live_runs <= 8
    for run_id in runs:
        capture.on_chain_error(ValueError("x"), run_id=run_id)
    assert capture.live_runs == 0
    assert all(one.interaction is not None or one.problem for one in caught)


def llama_index(data: bytes) -> None:
    """The same for LlamaIndex's spans."""
    feed, caught = Feed(data), []
    capture = LlamaIndexCapture(caught.append, max_spans=8)
    spans = capture.span_handler
    ids = [f"{name}-{UUID(int=i + 1)}" for i, name in enumerate(_SPANS)]
    bound = inspect.signature(lambda self, query_bundle=None, message=None, nodes=None: None).bind
    while feed.left:
        id_, parent = feed.one_of(ids), feed.one_of([None, *ids])
        arguments = bound(None, *[_handed(feed) for _ in range(feed.byte() % 4)])
        match feed.byte() % 3:
            case 0:
                spans.span_enter(id_, arguments, _handed(feed), parent, feed.one_of([None, {}, {"a": 1}]))
            case 1:
                spans.span_exit(id_, arguments, _handed(feed), _handed(feed))
            case 2:
                error = feed.one_of([None, ValueError("x"), asyncio.CancelledError()])
                spans.span_drop(id_, arguments, _handed(feed), error)
        assert capture.live_spans <= 16
    for id_ in ids:
        spans.span_drop(id_, bound(None), None, None)
    assert len(capture._open) == 0
    assert all(one.interaction is not None or one.problem for one in caught)


TARGETS = {
    one.__name__: one for one in (text, judging, replied, decoding, tables, settings, langchain, llama_index)
}

_DETECTORS = ("judge", "lexical", "cascade", "token", "semantic", "claim_ensemble", "level", "x")
_PARAMETERS = (
    "canary",
    "cross_check",
    "facts",
    "stages",
    "examples",
    "prompts",
    "turns",
    "claims_per_call",
    "oracles",
)
_EVENTS = [
    f"on_{kind}_{end}" for kind in ("chain", "retriever", "tool", "llm") for end in ("start", "end", "error")
] + ["on_chat_model_start"]
_SPANS = (
    "RetrieverQueryEngine.query", "RetrieverQueryEngine._query", "VectorIndexRetriever.retrieve",
    "CompactAndRefine.synthesize", "CondensePlusContextChatEngine.chat", "MockLLM.chat", "MockLLM.complete",
    "StreamingAgentChatResponse.write_response_to_history", "AgentWorkflow.run", "Other.thing",
    "FunctionTool.call", "SubQuestionQueryEngine.query",
)  # fmt: skip


class _Says:
    """A backend that always replies the same."""

    def __init__(self, said):
        self._said = said

    def perform(self, requests, *, timeout):
        return [
            Completed(texts=(self._said,))
            if isinstance(one, Complete)
            else Failed(reason=AbstentionReason.MODEL_FAILED)
            for one in requests
        ]


def _sound(outcome, interaction):
    """An outcome of which all can be shown and sent."""
    json.dumps(outcome.to_dict(), allow_nan=False).encode("utf-8")
    for span in outcome.spans:
        span.of(interaction.answer)
    for claim in outcome.claims:
        assert claim.span.of(interaction.answer) == claim.text
        for evidence in claim.evidence:
            assert evidence.span.of(interaction.contexts[evidence.passage].text) == evidence.quote


def _outcome(feed):
    interaction = Interaction(contexts=["The fee is 25 EUR."], answer=feed.text(20) or "The fee is 75 EUR.")
    return run(Lexical().detect(interaction), _Says(""))


def _decoded(told):
    try:
        outcome = wire.decode(told)
    except ValueError:
        return
    assert isinstance(outcome, Verdict | Abstention)


def _disturb(told, feed):
    """Put something else, or nothing, somewhere in a nested value."""
    at = told
    while isinstance(at, dict | list) and at:
        key = feed.one_of(sorted(at)) if isinstance(at, dict) else feed.byte() % len(at)
        if feed.byte() % 2 or not isinstance(at[key], dict | list):
            if feed.byte() % 3:
                at[key] = feed.value(1)
            elif isinstance(at, dict):
                del at[key]
            return
        at = at[key]


def _handed(feed):
    """What a host might hand to an event: right, wrong, or of another framework."""
    return feed.one_of(_MAKERS)(feed)


def _documents(feed):
    from langchain_core.documents import Document

    return [Document(page_content=feed.text(), metadata={"source": feed.text(4)})]


def _messages(feed):
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    return [[HumanMessage(feed.text()), AIMessage(feed.text()), ToolMessage(feed.text(), tool_call_id="1")]]


def _generation(feed):
    from langchain_core.outputs import Generation, LLMResult

    return LLMResult(generations=[[Generation(text=feed.text())]] * (feed.byte() % 3))


def _nodes(feed):
    from llama_index.core.schema import NodeWithScore, TextNode

    return [NodeWithScore(node=TextNode(text=feed.text()), score=feed.one_of([None, 0.5]))]


def _response(feed):
    from llama_index.core.base.response.schema import Response

    return Response(response=feed.one_of([None, feed.text()]), source_nodes=feed.one_of([[], _nodes(feed)]))


def _bundle(feed):
    from llama_index.core.schema import QueryBundle

    return QueryBundle(feed.text())


class _Hostile:
    """An object of which every part fails."""

    def __getattribute__(self, name):
        if name.startswith("__"):
            return object.__getattribute__(self, name)
        raise RuntimeError(name)

    def __repr__(self):
        raise RuntimeError("repr")


_MAKERS = [
    lambda feed: feed.value(),
    lambda feed: feed.text(),
    lambda feed: {"question": feed.text(), "context": feed.value(), "answer": feed.text()},
    _documents,
    _messages,
    _generation,
    _nodes,
    _response,
    _bundle,
    lambda feed: _Hostile(),
]
