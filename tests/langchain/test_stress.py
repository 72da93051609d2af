"""One handler, everything at once: no outcome may belong to another call's question."""

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor

from groundwire import Checker, Verdict
from groundwire.langchain import GroundwireCallbackHandler
from tests.langchain.apps import (
    agent,
    answer,
    asked_in_messages,
    lcel,
    question,
    retriever_tool,
    texts,
    topic,
)
from tests.scripted import NovelWords


def test_hundreds_of_calls_at_once_do_not_mix():
    """20 threads of batches, 200 concurrent ainvokes, streams of both colours and agents on one handler."""
    handler = GroundwireCallbackHandler(Checker(NovelWords()), max_pending=10_000, keep=10_000)
    chain, searching = lcel(), agent(retriever_tool())
    config = {"callbacks": [handler]}

    def batch(first):
        chain.batch([question(n) for n in range(first, first + 10)], config)

    def stream(n):
        assert "".join(chain.stream(question(n), config)) == answer(n)

    async def astream(n):
        assert "".join([chunk async for chunk in chain.astream(question(n), config)]) == answer(n)

    async def everything():
        await asyncio.gather(
            *(chain.ainvoke(question(n), config) for n in range(1000, 1200)),
            *(astream(n) for n in range(2000, 2020)),
            *(searching.ainvoke(asked_in_messages(n), config) for n in range(3000, 3010)),
        )

    with ThreadPoolExecutor(24) as threads:
        waiting = [threads.submit(batch, 10 * i) for i in range(20)]
        waiting += [threads.submit(stream, n) for n in range(4000, 4020)]
        asyncio.run(everything())
        for each in waiting:
            each.result()
    assert handler.flush(60)

    expected = [*range(200), *range(1000, 1200), *range(2000, 2020), *range(3000, 3010), *range(4000, 4020)]
    records = handler.outcomes
    assert sorted(topic(record.interaction.question) for record in records) == expected
    for record in records:
        n = topic(record.interaction.question)
        assert record.interaction.question == question(n)
        assert [passage.text for passage in record.interaction.contexts] == texts(n)
        assert record.interaction.answer == answer(n)
        assert isinstance(record.outcome, Verdict)
        assert record.outcome.id == str(record.run_id)
    assert handler.live_runs == 0
    assert handler.stats.dropped == 0


def test_a_stream_that_is_collected_in_the_midst_of_an_event_ends_after_it():
    """The garbage collector runs anywhere, also while the map of runs is written to by the same thread."""
    handler = GroundwireCallbackHandler(Checker(NovelWords()), langsmith=False)
    chain, config = lcel(), {"callbacks": [handler]}
    runs = handler._runs
    order, midst = runs._order, []

    class Collects:
        def __next__(self):
            if given_up:
                given_up.clear()
                gc.collect()
                midst.append(runs._busy)
            return next(order)

    def use():
        tokens = chain.stream(question(1), config)
        next(tokens)
        circle = [tokens]
        circle.append(circle)
        given_up.append(True)
        del tokens, circle
        runs._order = Collects()
        assert chain.invoke(question(2), config) == answer(2)

    given_up = []
    gc.disable()
    try:
        user = threading.Thread(target=use, daemon=True)
        user.start()
        user.join(60)
        assert not user.is_alive(), "the stream's end waits for the lock that its own thread holds"
    finally:
        gc.enable()
    assert handler.flush(30)
    assert midst == [True]
    assert sorted((topic(r.interaction.question), type(r.outcome).__name__) for r in handler.outcomes) == [
        (1, "Abstention"),
        (2, "Verdict"),
    ]
    assert handler.live_runs == 0
