"""Small real LlamaIndex applications, in which everything tells which question it belongs to.

The question about topic 7 must be answered from the nodes about topic 7 with the words about topic 7; so a
capture that mixes two calls up can't look right.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pytest
from llama_index.core import QueryBundle
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.base_selector import BaseSelector, MultiSelection, SingleSelection
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    MultiStepQueryEngine,
    RetrieverQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import TreeSummarize, get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step
from pydantic import BaseModel

in_a_function = pytest.mark.skipif(
    tuple(map(int, version("llama-index-core").split(".")[:3])) < (0, 14, 22),
    reason="llama-index-core runs plain functions of agents outside of their context before 0.14.22",
)

# -- the world: questions, nodes and answers about numbered topics ------------------------------------------


def question(n):
    return f"What about topic{n}?"


def texts(n):
    return [f"topic{n} weighs {n} kilos.", f"topic{n} was built in {1000 + n}.", f"topic{n} is blue."]


def told(n):
    """The texts as a model is told them: with the metadata that is meant for it."""
    return [f"source: {n}.md\n\n{text}" for text in texts(n)]


def answer(n):
    return f"The topic{n} weighs {n} kilos."


def topic(text):
    """The topic that a text speaks of last."""
    return int(re.findall(r"topic(\d+)", text)[-1])


def nodes(n):
    return [
        NodeWithScore(
            node=TextNode(text=text, id_=f"{n}-{i}", metadata={"source": f"{n}.md"}), score=1 - i / 10
        )
        for i, text in enumerate(texts(n))
    ]


class Library(BaseRetriever):
    """Finds the nodes about the topic that a query names."""

    similarity_top_k = 3

    def _retrieve(self, query_bundle):
        return nodes(topic(query_bundle.query_str))[: self.similarity_top_k]


class Oracle(FunctionCallingLLM):
    """Answers about the topic that it is told of last, word by word when streamed. Decorated as real ones.

    Given tools, it calls the first of them once before it answers. Asked to condense, it asks in other words.
    """

    reply: Callable[[int], str] = answer
    chats: bool = True

    @property
    def metadata(self):
        return LLMMetadata(model_name="oracle", is_chat_model=self.chats, is_function_calling_model=True)

    def _said(self, text):
        n = topic(text)
        return f"Tell me of topic{n}." if "standalone question" in text else self.reply(n)

    def _message(self, messages, tools=()):
        asked = max(i for i, m in enumerate(messages) if m.role == "user")
        searched = any(m.role == "tool" and "handling" not in str(m.content) for m in messages[asked:])
        if tools and not searched:
            n = topic(str(messages[asked].content))
            call = {"id": f"call-{n}", "name": tools[0].metadata.name, "input": f"Look up topic{n}."}
            return ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]})
        text = "\n".join(str(m.content) for m in messages[asked:] if m.role == "user")
        return ChatMessage(role="assistant", content=self._said(text))

    @llm_chat_callback()
    def chat(self, messages, **kwargs):
        return ChatResponse(message=self._message(messages, kwargs.get("tools", ())))

    @llm_chat_callback()
    async def achat(self, messages, **kwargs):
        return self.chat(messages, **kwargs)

    @llm_chat_callback()
    def stream_chat(self, messages, **kwargs):
        return self._streamed(self._message(messages, kwargs.get("tools", ())))

    @llm_chat_callback()
    async def astream_chat(self, messages, **kwargs):
        async def stream():
            for chunk in self._streamed(self._message(messages, kwargs.get("tools", ()))):
                yield chunk

        return stream()

    def _streamed(self, message):
        words = re.findall(r"\S+\s*", message.content or "") or [""]
        said = ""
        for word in words:
            said += word
            yield ChatResponse(
                message=ChatMessage(
                    role="assistant", content=said, additional_kwargs=message.additional_kwargs
                ),
                delta=word,
            )

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **kwargs):
        return CompletionResponse(text=self._said(prompt))

    @llm_completion_callback()
    async def acomplete(self, prompt, formatted=False, **kwargs):
        return self.complete(prompt)

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        def stream():
            said = ""
            for word in re.findall(r"\S+\s*", self._said(prompt)):
                said += word
                yield CompletionResponse(text=said, delta=word)

        return stream()

    @llm_completion_callback()
    async def astream_complete(self, prompt, formatted=False, **kwargs):
        async def stream():
            for chunk in self.stream_complete(prompt):
                yield chunk

        return stream()

    def _prepare_chat_with_tools(self, tools, user_msg=None, chat_history=None, **kwargs):
        messages = list(chat_history or [])
        if user_msg is not None:
            messages.append(user_msg if isinstance(user_msg, ChatMessage) else ChatMessage(content=user_msg))
        return {"messages": messages, "tools": tools}

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs):
        calls = response.message.additional_kwargs.get("tool_calls", [])
        return [
            ToolSelection(tool_id=c["id"], tool_name=c["name"], tool_kwargs={"input": c["input"]})
            for c in calls
        ]


class First(BaseNodePostprocessor):
    """Lets the first node pass."""

    def _postprocess_nodes(self, nodes, query_bundle=None):
        return nodes[:1]


# -- the applications ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class App:
    """How an application is built, and what a capture of it must hold."""

    build: Callable[..., Any]
    contexts: Callable[[int], list[str]] = told
    answer: Callable[[int], str] = answer
    claimed: Callable[[int], str] | None = None  # of the answer, where that is not all of it
    question: Callable[[int], str] = question
    streams: bool = True


def engine(mode="compact", llm=None, retriever=None, streaming=False, **options):
    return RetrieverQueryEngine.from_args(
        retriever or Library(), llm=llm or Oracle(), response_mode=mode, streaming=streaming, **options
    )


class Selects(BaseSelector):
    """Selects the engines it was told to."""

    def __init__(self, *places):
        self.places = places

    def _select(self, choices, query):
        return MultiSelection(selections=[SingleSelection(index=i, reason="so") for i in self.places])

    async def _aselect(self, choices, query):
        return self._select(choices, query)

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        pass


class Asks(BaseQuestionGenerator):
    """Asks about the topic in two ways."""

    def generate(self, tools, query):
        n = topic(query.query_str)
        return [
            SubQuestion(sub_question=f"How {how} is topic{n}?", tool_name="shelf") for how in ("heavy", "old")
        ]

    async def agenerate(self, tools, query):
        return self.generate(tools, query)

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        pass


class Rewords(BaseQueryTransform):
    """Asks in other words."""

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        pass

    def _run(self, query_bundle, metadata):
        return QueryBundle(f"Rather: topic{topic(query_bundle.query_str)}?")


def as_tool(query_engine=None, **options):
    return QueryEngineTool.from_defaults(
        query_engine or engine(), name="shelf", description="Topics.", **options
    )


def router(*places, streaming=False):
    tools = [as_tool(engine(streaming=streaming and len(places) == 1)), as_tool(engine("refine"))]
    summarizer = TreeSummarize(llm=Oracle(), streaming=streaming)
    return RouterQueryEngine(Selects(*places), tools, llm=Oracle(), summarizer=summarizer)


def sub_questions(streaming=False):
    return SubQuestionQueryEngine(
        Asks(), get_response_synthesizer(llm=Oracle(), streaming=streaming), [as_tool()], use_async=True
    )


def multi_step(streaming=False):
    return MultiStepQueryEngine(
        engine(),
        Rewords(),
        response_synthesizer=get_response_synthesizer(llm=Oracle(), streaming=streaming),
        num_steps=1,
    )


class ByHand(CustomQueryEngine):
    """Retrieves, and fills a prompt of its own with the first of what it found."""

    retriever: Any
    llm: Any

    def custom_query(self, query_str):
        found = self.retriever.retrieve(query_str)
        return str(self.llm.complete(f"From this: {found[0].node.get_content()}\n{query_str}"))


class Delegates(CustomQueryEngine):
    """Hands on what an engine inside answers."""

    inner: Any

    def custom_query(self, query_str):
        return self.inner.query(query_str)

    async def acustom_query(self, query_str):
        return await self.inner.aquery(query_str)


def fused(streaming=False):
    retriever = QueryFusionRetriever([Library(), Library()], llm=Oracle(), num_queries=1, similarity_top_k=5)
    return engine(retriever=retriever, streaming=streaming)


def citing(streaming=False):
    return CitationQueryEngine(
        retriever=Library(),
        llm=Oracle(),
        response_synthesizer=get_response_synthesizer(llm=Oracle(), streaming=streaming),
    )


QUERY_APPS = {
    **{
        mode: App(build=lambda streaming=False, mode=mode: engine(mode, streaming=streaming))
        for mode in ("compact", "refine", "tree_summarize", "simple_summarize", "accumulate")
    },
    "postprocessed": App(
        build=lambda streaming=False: engine(streaming=streaming, node_postprocessors=[First()]),
        contexts=lambda n: told(n)[:1],
    ),
    "completion model": App(
        build=lambda streaming=False: engine(llm=Oracle(chats=False), streaming=streaming)
    ),
    "fused": App(build=fused),
    "router": App(build=lambda streaming=False: router(0, streaming=streaming)),
    "router of several": App(build=lambda streaming=False: router(0, 1, streaming=streaming)),
    "sub-questions": App(build=sub_questions),
    "multi-step": App(build=multi_step),
    "reworded": App(
        build=lambda streaming=False: TransformQueryEngine(engine(streaming=streaming), Rewords())
    ),
    "citing": App(
        build=citing,
        contexts=lambda n: [f"source: {n}.md\n\nSource {i}:\n{t}" for i, t in enumerate(texts(n), 1)],
    ),
    "by hand": App(
        build=lambda streaming=False: ByHand(retriever=Library(), llm=Oracle()),
        contexts=lambda n: told(n)[:1],
        streams=False,
    ),
    "delegating": App(build=lambda streaming=False: Delegates(inner=engine(streaming=streaming))),
    "router of a router": App(
        build=lambda streaming=False: RouterQueryEngine(
            Selects(0), [as_tool(router(0, streaming=streaming))], llm=Oracle()
        )
    ),
}
QUERY_APPS["accumulate"] = App(
    build=lambda streaming=False: engine("accumulate"),
    answer=lambda n: "\n---------------------\n".join(f"Response {i}: {answer(n)}" for i in (1, 2, 3)),
    claimed=lambda n: f"\n{' ' * 21}\n".join([" " * len("Response 1: ") + answer(n)] * 3),
    streams=False,
)


def memory(*said):
    return ChatMemoryBuffer.from_defaults(chat_history=list(said), token_limit=3000)


EARLIER = (
    ChatMessage(role="user", content="Hello, topic0!"),
    ChatMessage(role="assistant", content="Hello."),
)

CHAT_APPS = {
    "context": App(
        build=lambda **_: ContextChatEngine.from_defaults(
            Library(), llm=Oracle(), memory=memory(*EARLIER), system_prompt="Be brief."
        )
    ),
    "condense plus context": App(
        build=lambda **_: CondensePlusContextChatEngine.from_defaults(
            Library(), llm=Oracle(), memory=memory(*EARLIER)
        )
    ),
    "condense question": App(
        build=lambda **_: CondenseQuestionChatEngine.from_defaults(
            engine(), llm=Oracle(), memory=memory(*EARLIER)
        )
    ),
}


def simple_chat():
    return SimpleChatEngine.from_defaults(llm=Oracle(), memory=memory(*EARLIER))


def searching(tool=None, **options):
    return FunctionAgent(
        name="clerk",
        description="Answers.",
        tools=[tool or as_tool()],
        llm=Oracle(),
        **options,
    )


def look_up(input: str) -> str:  # noqa: A002 - the argument's name is what the model is told
    """Look a topic up."""
    return "\n".join(texts(topic(input)))


def ask_inside(input: str) -> str:  # noqa: A002 - as above
    """Ask an engine, and hand on what it says."""
    return str(engine().query(input))


class Reasons(Oracle):
    """Reasons in words, as models without tools do: looks the topic up, then answers."""

    def _message(self, messages, tools=()):
        n = topic(next(str(m.content) for m in reversed(messages) if "What about" in str(m.content)))
        if any("Observation:" in str(m.content) for m in messages if m.role == "user"):
            return ChatMessage(role="assistant", content=f"Thought: I know.\nAnswer: {answer(n)}")
        step = f'Action: shelf\nAction Input: {{"input": "Look up topic{n}."}}'
        return ChatMessage(role="assistant", content=f"Thought: I must look.\n{step}")


class Passes(Oracle):
    """Hands over to the clerk."""

    def _message(self, messages, tools=()):
        call = {"id": "pass", "name": "handoff", "input": ""}
        return ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]})

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs):
        to = {"to_agent": "clerk", "reason": "It knows."}
        return [ToolSelection(tool_id="pass", tool_name="handoff", tool_kwargs=to)]


def passing_on():
    desk = FunctionAgent(
        name="desk", description="Passes on.", llm=Passes(), tools=[], can_handoff_to=["clerk"]
    )
    return AgentWorkflow(agents=[desk, searching()], root_agent="desk")


AGENT_APPS = {
    "agent that reasons": App(
        build=lambda: ReActAgent(name="clerk", description="Answers.", tools=[as_tool()], llm=Reasons())
    ),
    "workflow of agents that hand over": App(build=passing_on),
    "agent with an engine": App(build=searching),
    "agent with a retriever": App(
        build=lambda: searching(RetrieverTool.from_defaults(Library(), name="shelf", description="Topics."))
    ),
    "agent with a function": App(
        build=lambda: searching(FunctionTool.from_defaults(look_up)),
        contexts=lambda n: ["\n".join(texts(n))],
    ),
    "agent with an engine in a function": App(
        build=lambda: searching(FunctionTool.from_defaults(ask_inside))
    ),
    "agent that returns its tool's words": App(build=lambda: searching(as_tool(return_direct=True))),
    "workflow of agents": App(
        build=lambda: AgentWorkflow(agents=[searching()], root_agent="clerk"),
    ),
}


class Fetched(Event):
    asked: str
    found: list


class Steps(Workflow):
    """The workflow of LlamaIndex's own documentation: retrieve, then synthesize."""

    @step
    async def fetch(self, ev: StartEvent) -> Fetched:
        return Fetched(asked=ev.query, found=await Library().aretrieve(ev.query))

    @step
    async def tell(self, ev: Fetched) -> StopEvent:
        synthesizer = get_response_synthesizer(llm=Oracle())
        return StopEvent(result=await synthesizer.asynthesize(ev.asked, ev.found))


class StepsByHand(Steps):
    """The same, with a prompt of its own."""

    @step
    async def tell(self, ev: Fetched) -> StopEvent:
        shown = "\n".join(node.node.get_content() for node in ev.found)
        return StopEvent(result=str(await Oracle().acomplete(f"From this: {shown}\n{ev.asked}")))


class Asking(Workflow):
    """Asks an engine."""

    @step
    async def ask(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=str(await engine().aquery(ev.query)))


FLOW_APPS = {
    "workflow that synthesizes": App(build=Steps),
    "workflow by hand": App(build=StepsByHand),
    "workflow that asks an engine": App(build=Asking),
}


class Reply(BaseModel):
    answer: str
    sure: bool = True


class Structured(Oracle):
    """Fills a form."""

    def structured_predict(self, output_cls, prompt, **kwargs):
        return output_cls(answer=answer(topic(prompt.format(**kwargs))))

    async def astructured_predict(self, output_cls, prompt, **kwargs):
        return self.structured_predict(output_cls, prompt, **kwargs)
