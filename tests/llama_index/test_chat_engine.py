"""The checked chat engine: the verdict is on the response, and no wrong answer stays in the conversation."""

import asyncio
import json

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.chat_engine.types import (
    AgentChatResponse,
    BaseChatEngine,
    StreamingAgentChatResponse,
)
from llama_index.core.memory import Memory

from groundwire import Abstention, AbstentionReason, Checker, ConfigurationError
from groundwire.host.actions import HallucinationError
from groundwire.llama_index import CheckedChatEngine, CheckedQueryEngine, Expand, GroundwireHandler
from tests.llama_index.apps import (
    CHAT_APPS,
    EARLIER,
    Library,
    Oracle,
    answer,
    engine,
    memory,
    question,
    topic,
)
from tests.llama_index.test_handler import calling
from tests.llama_index.test_query_engine import (
    Breaks,
    Improves,
    Told,
    everything,
    flagged,
    odd_ones_invent,
    right,
    verdict,
)
from tests.scripted import NovelWords

CHECKER = Checker(NovelWords())
WAYS = pytest.mark.parametrize("way", ["chat", "achat", "stream_chat", "astream_chat"])


def talk(way, engine, message, **options):
    """One turn in some way, to the whole text and the response."""

    async def run():
        response = await getattr(engine, way)(message, **options)
        if way == "achat":
            return str(response), response
        return "".join([token async for token in response.async_response_gen()]), response

    if way.startswith("a"):
        return asyncio.run(run())
    response = getattr(engine, way)(message, **options)
    return (str(response) if way == "chat" else "".join(response.response_gen)), response


def inner(model=None, **options):
    llm = model or Oracle(reply=odd_ones_invent)
    return ContextChatEngine.from_defaults(Library(**options), llm=llm, memory=memory())


def checked(model=None, **options):
    return CheckedChatEngine(inner(model), checker=CHECKER, **options)


def said(engine):
    return [(str(message.role.value), message.content) for message in engine.chat_history]


@pytest.mark.parametrize("name", CHAT_APPS)
@WAYS
def test_every_chat_mode_can_be_checked(name, way):
    """The verdict is on the response, on the answer and the nodes of that very turn."""
    seen = []

    def decide(interaction, outcome):
        seen.append(interaction)

    chat = CheckedChatEngine(CHAT_APPS[name].build(), checker=CHECKER)
    text, response = talk(way, chat, question(8))
    assert text == answer(8)
    assert flagged(response) == ["The"]
    json.dumps(verdict(response))
    CheckedChatEngine(CHAT_APPS[name].build(), checker=CHECKER, on_hallucination=decide).chat(question(8))
    (interaction,) = seen
    assert interaction.question == question(8)
    assert [turn.text for turn in interaction.history] == ["Hello, topic0!", "Hello."]


@WAYS
@pytest.mark.parametrize("name", CHAT_APPS)
def test_the_judge_is_told_of_the_earlier_turns(name, way):
    """Of a stream, too, whose model is only told of them once it is read."""
    seen = []

    def judge(interaction):
        seen.append([turn.text for turn in interaction.history])
        return Abstention(why=AbstentionReason.NO_CLAIMS)

    talk(way, CheckedChatEngine(CHAT_APPS[name].build(), checker=calling(judge)), question(8))
    assert seen == [["Hello, topic0!", "Hello."]]


@pytest.mark.parametrize("way", ["stream_chat", "astream_chat"])
def test_a_stream_stays_the_stream_it_was(way):
    """Tokens pass one by one, the verdict is pending until the last one, and the type is kept."""
    chat = checked()

    async def run():
        response = await chat.astream_chat(question(3))
        assert verdict(response)["status"] == "pending"
        return response, [token async for token in response.async_response_gen()]

    if way == "astream_chat":
        response, tokens = asyncio.run(run())
    else:
        response = chat.stream_chat(question(3))
        assert verdict(response)["status"] == "pending"
        tokens = list(response.response_gen)
    assert tokens == ["topic3 ", "weighs ", "nothing."]
    assert isinstance(response, StreamingAgentChatResponse)
    assert flagged(response) == ["nothing"]
    assert said(chat) == [("user", question(3)), ("assistant", odd_ones_invent(3))]


@WAYS
def test_warn_appends_the_warning(way):
    """To what the caller reads, not to what the engine remembers."""
    chat = checked(on_hallucination="warn")
    text, response = talk(way, chat, question(3))
    assert text == f"{odd_ones_invent(3)}\n\n{verdict(response)['warning']}"
    assert str(response) == text
    assert said(chat) == [("user", question(3)), ("assistant", odd_ones_invent(3))]


@WAYS
def test_replace_leaves_no_trace_in_the_conversation(way):
    """The next turn is told what the user was told."""
    chat = checked(on_hallucination="replace", replacement="I can't say.")
    text, response = talk(way, chat, question(3))
    assert text == str(response) == "I can't say."
    assert verdict(response)["hallucinated"] is True
    assert said(chat) == [("user", question(3)), ("assistant", "I can't say.")]
    assert talk(way, chat, question(2))[0] == right(2)


@WAYS
def test_raise_takes_the_turn_back(way):
    """Nobody got an answer, so the conversation is as it was before."""
    chat = checked(on_hallucination="raise")
    talk(way, chat, question(2))
    before = said(chat)
    with pytest.raises(HallucinationError):
        talk(way, chat, question(3))
    assert said(chat) == before


@WAYS
def test_retry_asks_again_and_leaves_one_turn(way):
    """Neither the draft nor the note is remembered."""

    class Chats(Improves):
        def _message(self, messages, tools=()):
            return ChatMessage(role="assistant", content=self._said(str(messages[-1].content)))

    model = Chats(asked=[])
    chat = checked(model, on_hallucination="retry")
    text, response = talk(way, chat, question(3))
    assert text == right(3)
    assert verdict(response)["hallucinated"] is False
    assert '- "nothing"' in model.asked[-1]
    assert said(chat) == [("user", question(3)), ("assistant", right(3))]


def test_a_retry_is_judged_with_the_same_history():
    """The note changes the question, not what was said before it."""
    seen = []

    class Chats(Improves):
        def _message(self, messages, tools=()):
            return ChatMessage(role="assistant", content=self._said(str(messages[-1].content)))

    def decide(interaction, outcome):
        seen.append((interaction.question, len(interaction.history)))
        return "retry"

    asked = ContextChatEngine.from_defaults(
        Library(), llm=Chats(asked=[], rule=lambda n: "nothing"), memory=memory(*EARLIER)
    )
    CheckedChatEngine(asked, checker=CHECKER, on_hallucination=decide).chat(question(3))
    assert seen == [(question(3), 2), (question(3), 2)]


def test_retry_can_search_wider():
    """With the same memory, in a copy of the engine."""

    class Wide(Library):
        def __init__(self, k=1):
            super().__init__()
            self.similarity_top_k = k

    class Counts(Oracle):
        def _message(self, messages, tools=()):
            n = topic(str(messages[-1].content))
            seen = "\n".join(str(message.content) for message in messages)
            said = right(n) if f"topic{n} is blue" in seen else f"topic{n} weighs nothing."
            return ChatMessage(role="assistant", content=said)

    asked = ContextChatEngine.from_defaults(Wide(), llm=Counts(), memory=memory())
    chat = CheckedChatEngine(asked, checker=CHECKER, on_hallucination="retry", retry=Expand(factor=3))
    assert str(chat.chat(question(3))) == right(3)
    assert said(chat) == [("user", question(3)), ("assistant", right(3))]


async def test_the_newer_memory_is_put_right_on_an_event_loop():
    """It keeps its messages in a database, which must be asked without blocking."""
    asked = ContextChatEngine.from_defaults(
        Library(), llm=Oracle(reply=odd_ones_invent), memory=Memory.from_defaults(token_limit=3000)
    )
    chat = CheckedChatEngine(asked, checker=CHECKER, on_hallucination="replace", replacement="No.")
    assert str(await chat.achat(question(3))) == "No."
    assert [m.content for m in await asked._memory.aget_all()] == [question(3), "No."]


def test_a_stream_that_is_given_up_says_so():
    """Its verdict is an abstention; the engine's own writer still completes its memory."""
    told = Told()
    chat = checked(sinks=[told])
    response = chat.stream_chat(question(3))
    tokens = response.response_gen
    next(tokens)
    tokens.close()
    assert verdict(response)["abstention"] == "PARTIAL_ANSWER"
    assert told.outcomes == [("annotate", AbstentionReason.PARTIAL_ANSWER)]


def test_a_stream_that_is_read_as_a_text_ends_with_the_warning_too():
    """Once it is complete, as a text is; read again, it is the same."""
    response = checked(on_hallucination="warn").stream_chat(question(3))
    response.write_response_to_history_thread.join(5)
    text = str(response)
    assert text == f"{odd_ones_invent(3)}\n\n{verdict(response)['warning']}"
    assert str(response) == text


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("way", ["stream_chat", "astream_chat"])
async def test_a_stream_that_fails_says_so(way):
    """Its error is its reader's, and no verdict stays pending that will never come."""
    chat = checked(Breaks())
    response = (
        await chat.astream_chat(question(3)) if way == "astream_chat" else chat.stream_chat(question(3))
    )
    with pytest.raises(ConnectionError):
        _ = await everything(response) if way == "astream_chat" else list(response.response_gen)
    assert verdict(response)["abstention"] == "PARTIAL_ANSWER"


@pytest.mark.parametrize("way", ["stream_chat", "astream_chat"])
def test_a_stream_that_is_read_again_is_judged_once(way):
    """LlamaIndex then yields the whole answer; it ends with the same warning, and is one answer."""
    told = Told()
    chat = checked(on_hallucination="warn", sinks=[told])

    async def twice():
        response = await chat.astream_chat(question(3))
        return [[token async for token in response.async_response_gen()] for _ in range(2)]

    if way == "astream_chat":
        first, again = asyncio.run(twice())
    else:
        response = chat.stream_chat(question(3))
        first, again = list(response.response_gen), list(response.response_gen)
    assert "".join(first) == "".join(again)
    assert [action for action, _ in told.outcomes] == ["warn"]


def test_a_chat_without_nodes_has_no_context():
    """Nothing is called clean for want of documents."""
    chat = CheckedChatEngine(SimpleChatEngine.from_defaults(llm=Oracle(), memory=memory()), checker=CHECKER)
    assert verdict(chat.chat(question(3)))["abstention"] == "NO_CONTEXT"


class Bare(BaseChatEngine):
    """An engine of someone's own, without a memory that can be seen."""

    chat_history = ()

    def reset(self):
        self.was_reset = True

    def chat(self, message, chat_history=None, *, loud=False):
        text = odd_ones_invent(topic(message))
        response = engine().query(message)
        return AgentChatResponse(response=text.upper() if loud else text, source_nodes=response.source_nodes)

    async def achat(self, message, chat_history=None):
        return self.chat(message)

    def stream_chat(self, message, chat_history=None):
        raise NotImplementedError

    astream_chat = stream_chat


def test_an_engine_of_ones_own_can_be_checked():
    """What it takes besides, and what it has besides, goes through; a retry would need its memory."""
    chat = CheckedChatEngine(Bare(), checker=CHECKER, on_hallucination="replace", replacement="No.")
    assert str(chat.chat(question(3))) == "No."
    assert str(chat.chat(question(2), loud=True)) == "No."
    chat.reset()
    assert chat.was_reset
    decides = CheckedChatEngine(
        Bare(), checker=CHECKER, on_hallucination=lambda *_: "retry", after_retries="replace", replacement="-"
    )
    assert str(decides.chat(question(3))) == "-"
    with pytest.raises(ConfigurationError, match="memory"):
        CheckedChatEngine(Bare(), on_hallucination="retry")
    with pytest.raises(ConfigurationError, match="BaseChatEngine"):
        CheckedChatEngine(engine())


def test_a_history_that_is_given_is_passed_on():
    """As the inner engine takes it."""
    chat = checked()
    chat.chat(question(2), chat_history=list(EARLIER))
    assert [content for _, content in said(chat)] == ["Hello, topic0!", "Hello.", question(2), right(2)]


@WAYS
def test_a_handler_judges_it_as_ever(way):
    """Both look at the same answer, each once."""
    with GroundwireHandler(CHECKER).install() as handler:
        _, response = talk(way, checked(), question(3))
        asked = CheckedQueryEngine(engine(), checker=CHECKER)
        asked.query(question(4))
    assert sorted(topic(r.interaction.question) for r in handler.outcomes) == [3, 4]
    assert flagged(response) == ["nothing"]
