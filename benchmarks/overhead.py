"""What the callback handler costs an application: per chain, per event, and as a stall of its event loop.

    python -m benchmarks.overhead

The chain answers at once, so that everything measured is LangChain and the handler, and nothing hides behind
a model's latency. Rounds are interleaved, in changing order: what disturbs the machine disturbs all alike.
"""

from __future__ import annotations

import asyncio
import itertools
import operator
import os
import platform
import random
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.callbacks.base import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnablePassthrough

from groundwire import Abstention, AbstentionReason, Checker, Detector, Interaction
from groundwire.core.plan import Plan
from groundwire.core.verdict import Outcome
from groundwire.detectors import Lexical
from groundwire.langchain import Capture, GroundwireCallbackHandler

ROUNDS = 61
CALLS = 25
STALL_ROUNDS = 5
JUDGE_SECONDS = 0.2
LATENESS_SECONDS, _NAP = 6, 0.001


class Shelf(BaseRetriever):
    def _get_relevant_documents(
        self,
        query: str,  # noqa: ARG002
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
    ) -> list[Document]:
        return [
            Document(page_content=f"Passage {i}. " + "The fee is 25 euro. " * 20, id=str(i)) for i in range(5)
        ]


def join(documents: list[Document]) -> str:
    return "\n\n".join(document.page_content for document in documents)


def chain() -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    model = FakeListChatModel(responses=["The fee is 25 euro."])
    return {"context": Shelf() | join, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()


class NoOp(BaseCallbackHandler):
    """Hears every event and does nothing: the price of having any handler at all."""

    run_inline = True

    def __init__(self) -> None:
        self.events = 0

    def _hear(self, *_: Any, **__: Any) -> None:
        self.events += 1

    on_chain_start = on_chain_end = on_chat_model_start = on_llm_end = _hear
    on_retriever_start = on_retriever_end = _hear


@dataclass(frozen=True, kw_only=True)
class Slow(Detector):
    """Takes as long as a language model that judges over a network; ``busy`` computes all the while."""

    name: ClassVar[str] = "slow"
    version: ClassVar[str] = "1"
    seconds: float = 0.0
    busy: bool = False

    def detect(self, interaction: Interaction) -> Plan[Outcome]:  # noqa: ARG002
        yield from ()
        end = time.perf_counter() + self.seconds
        while self.busy and time.perf_counter() < end:
            pass
        time.sleep(max(0.0, end - time.perf_counter()))
        return Abstention(why=AbstentionReason.NO_CLAIMS)


def watching(detector: Detector, **options: Any) -> GroundwireCallbackHandler:
    return GroundwireCallbackHandler(Checker(detector), langsmith=False, max_pending=1_000_000, **options)


def listening(*handlers: BaseCallbackHandler) -> RunnableConfig:
    return {"callbacks": list(handlers)}


def costs() -> None:
    """What a chain takes, by the clock and on all cores: medians of interleaved rounds."""
    app = chain()
    noop = NoOp()
    app.invoke("How much?", listening(noop))
    events = noop.events
    handler = watching(Slow())
    variants: dict[str, RunnableConfig] = {
        "bare": {},
        "no-op handler": listening(NoOp()),
        "capture, without judging": listening(Capture(lambda _: None)),
        "groundwire, with an instant judge": listening(handler),
    }
    wall: dict[str, list[float]] = {name: [] for name in variants}
    core: dict[str, list[float]] = {name: [] for name in variants}
    order = random.Random(1)
    for _ in range(ROUNDS):
        for name in order.sample(list(variants), len(variants)):
            clock, cpu = time.perf_counter(), time.process_time()
            for _ in range(CALLS):
                app.invoke("How much?", variants[name])
            wall[name].append((time.perf_counter() - clock) / CALLS * 1e6)
            handler.flush()
            core[name].append((time.process_time() - cpu) / CALLS * 1e6)
    print(f"{events} events a chain; medians of {ROUNDS} interleaved rounds of {CALLS} chains.\n")
    print("| variant | µs a chain | ratio to bare | µs an event over no-op | the same in CPU time |")
    print("|---|---|---|---|---|")
    for name in variants:
        print(
            f"| {name} | {statistics.median(wall[name]):.0f} "
            f"| {_paired(wall[name], wall['bare'], operator.truediv):.2f} "
            f"| {_paired(wall[name], wall['no-op handler'], operator.sub) / events:+.1f} "
            f"| {_paired(core[name], core['no-op handler'], operator.sub) / events:+.1f} |"
        )


def _paired(mine: list[float], theirs: list[float], compare: Callable[[float, float], float]) -> float:
    """The median over rounds, compared within each: what slows a round down slows all of its variants."""
    return statistics.median(map(compare, mine, theirs))


async def longest_stall(config: RunnableConfig) -> float:
    """The longest time in seconds that an event loop did not come back while 10 chains ran in it."""
    app, longest = chain(), 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - before)

    await app.ainvoke("How much?", config)  # what is imported and built at first use is no stall of every day
    ticking = asyncio.create_task(tick())
    for _ in range(10):
        await app.ainvoke("How much?", config)
        await asyncio.sleep(0.02)
    ticking.cancel()
    return longest


def stalls() -> None:
    """How long an event loop is held, the median over rounds of the longest time in each."""
    wait, busy = Slow(seconds=JUDGE_SECONDS), Slow(seconds=JUDGE_SECONDS, busy=True)
    taken = f"{JUDGE_SECONDS * 1000:.0f} ms"
    variants: dict[str, Callable[[], RunnableConfig]] = {
        "bare": listening,
        f"groundwire, a judge that waits {taken}": lambda: listening(watching(wait)),
        f"groundwire, a judge that computes for {taken}": lambda: listening(watching(busy)),
        "groundwire, the default detector": lambda: listening(watching(Checker().detector)),
        f"mode inline, a judge that waits {taken}": lambda: listening(watching(wait, mode="inline")),
    }
    print("\n| variant | longest stall of the event loop, ms |")
    print("|---|---|")
    for name, config in variants.items():
        longest = statistics.median(asyncio.run(longest_stall(config())) * 1000 for _ in range(STALL_ROUNDS))
        print(f"| {name} | {longest:.1f} |")


async def lateness(detector: Detector) -> list[float]:
    """How late in seconds an event loop woke, sorted, while ``detector`` judged without a pause beside it."""
    checker, over = Checker(detector), threading.Event()
    question, documents = (
        "What may I borrow?",
        ["Members borrow ten books. A late one costs 20 cents. " * 17] * 5,
    )
    answer = " ".join(
        f"You may borrow {n} books for three weeks, and late ones cost 20 cents." for n in range(8)
    )

    def judge() -> None:
        for n in itertools.takewhile(lambda _: not over.is_set(), itertools.count()):
            checker.check(Interaction(question=question, contexts=[*documents, f"{n}"], answer=answer))

    late: list[float] = []
    checker.check(Interaction(question=question, contexts=documents, answer=answer))
    judging = threading.Thread(target=judge)
    judging.start()
    end = time.perf_counter() + LATENESS_SECONDS
    while (before := time.perf_counter()) < end:
        await asyncio.sleep(_NAP)
        late.append(time.perf_counter() - before - _NAP)
    over.set()
    judging.join()
    return sorted(late)


def waits() -> None:
    """How late an event loop wakes while a detector computes on another thread."""
    print("\n| judging without a pause beside the loop | it wakes late by ms: p50, p99, most |")
    print("|---|---|")
    for detector in (Slow(), Lexical(), Checker().detector):
        late = asyncio.run(lateness(detector))
        figures = (late[len(late) // 2], late[len(late) * 99 // 100], late[-1])
        print(f"| {detector.name} | {', '.join(f'{one * 1000:.1f}' for one in figures)} |")


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores\n")
    costs()
    stalls()
    waits()
