"""One handler, everything at once: no outcome may belong to another call's question."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from groundwire import AbstentionReason, Checker, Verdict
from groundwire.llama_index import CheckedQueryEngine, GroundwireHandler
from tests.llama_index.apps import CHAT_APPS, answer, engine, question, searching, told, topic
from tests.scripted import NovelWords

GIVEN_UP = range(10_000, 10_020)


def is_its_own(record):
    """Whether a record holds nothing but what belongs to its question."""
    n = topic(record.interaction.question)
    whole = n not in GIVEN_UP
    return (
        record.interaction.question == question(n)
        and [passage.text for passage in record.interaction.contexts] == told(n)
        and record.interaction.answer == (answer(n) if whole else "The ")
        and isinstance(record.outcome, Verdict) == whole
        and (whole or record.outcome.why is AbstentionReason.PARTIAL_ANSWER)
        and record.outcome.id == str(record.run_id)
    )


def test_hundreds_of_calls_at_once_do_not_mix():
    """Queries, streams, chats and agents, in one loop and 24 threads; streams read late, or given up."""
    handler = GroundwireHandler(Checker(NovelWords()), max_pending=10_000, keep=10_000)
    asked, streaming = engine(), engine(streaming=True)
    checked = CheckedQueryEngine(engine(), checker=Checker(NovelWords()))

    def query(n):
        assert str(asked.query(question(n))) == answer(n)

    def stream(n):
        assert "".join(streaming.query(question(n)).response_gen) == answer(n)

    def chat_stream(n):
        response = CHAT_APPS["context"].build().stream_chat(question(n))
        assert "".join(response.response_gen) == answer(n)

    def check(n):
        response = checked.query(question(n))
        assert str(response) == answer(n)
        assert response.metadata["hallucination"]["claims"][0]["text"] == "The"

    def give_up(n):
        next(streaming.query(question(n)).response_gen)

    async def astream(n):
        response = await streaming.aquery(question(n))
        await asyncio.sleep(0)
        assert "".join([token async for token in response.async_response_gen()]) == answer(n)

    async def everything():
        late = [await streaming.aquery(question(n)) for n in range(6000, 6020)]
        await asyncio.gather(
            *(asked.aquery(question(n)) for n in range(1000, 1200)),
            *(astream(n) for n in range(2000, 2020)),
            *(searching().run(user_msg=question(n)) for n in range(3000, 3010)),
            *(CHAT_APPS["condense question"].build().achat(question(n)) for n in range(7000, 7020)),
            *(checked.aquery(question(n)) for n in range(8000, 8020)),
        )
        for response in reversed(late):
            assert "".join([token async for token in response.async_response_gen()])

    with handler.install(), ThreadPoolExecutor(24) as threads:
        waiting = [threads.submit(query, n) for n in range(200)]
        waiting += [threads.submit(stream, n) for n in range(4000, 4020)]
        waiting += [threads.submit(chat_stream, n) for n in range(5000, 5020)]
        waiting += [threads.submit(check, n) for n in range(9000, 9020)]
        waiting += [threads.submit(give_up, n) for n in GIVEN_UP]
        asyncio.run(everything())
        for each in waiting:
            each.result()
    assert handler.flush(100)

    read = [
        *range(200),
        *range(1000, 1200),
        *range(2000, 2020),
        *range(3000, 3010),
        *range(4000, 4020),
        *range(5000, 5020),
        *range(6000, 6020),
        *range(7000, 7020),
        *range(8000, 8020),
        *range(9000, 9020),
    ]
    records = handler.outcomes
    assert sorted(topic(r.interaction.question) for r in records) == [*read, *GIVEN_UP]
    assert [record for record in records if not is_its_own(record)] == []
    assert handler.live_spans == 0
    assert handler.stats.dropped == 0


def test_a_stream_may_end_in_the_midst_of_an_event():
    """As when the garbage collector closes one that nobody reads any more."""
    handler = GroundwireHandler(Checker(NovelWords()), sinks=())

    def use():
        with handler.install():
            tokens = engine(streaming=True).query(question(1)).response_gen
            next(tokens)
            with handler._capture._lock:
                tokens.close()
                assert str(engine().query(question(2))) == answer(2)

    user = threading.Thread(target=use, daemon=True)
    user.start()
    user.join(60)
    assert not user.is_alive()
    assert [topic(record.interaction.question) for record in handler.outcomes] == [1, 2]
