"""What the LlamaIndex handler costs an application: per query, and as a stall of its event loop.

    python -m benchmarks.overhead_llama_index

The model answers at once, so that everything measured is LlamaIndex and the handler. Rounds are interleaved,
in changing order: what disturbs the machine disturbs all alike.
"""

from __future__ import annotations

import asyncio
import os
import platform
import random
import statistics
import time
from typing import Any

from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from pydantic import PrivateAttr

from benchmarks.overhead import JUDGE_SECONDS, STALL_ROUNDS, Slow
from groundwire import Checker
from groundwire.llama_index import Capture, GroundwireHandler

ROUNDS = 31
CALLS = 10


class Shelf(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:  # noqa: ARG002
        return [
            NodeWithScore(node=TextNode(text=f"Passage {i}. " + "The fee is 25 euro. " * 20, id_=str(i)))
            for i in range(5)
        ]


class AtOnce(CustomLLM):
    """Answers at once; its asynchronous calls wait for nothing, as they would for a network."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="at-once")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002
        return CompletionResponse(text="The fee is 25 euro.")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError


class NoOp(BaseSpanHandler[BaseSpan]):
    """Hears every span and does nothing: the price of having any handler at all."""

    def span_enter(self, *_: Any, **__: Any) -> None:
        pass

    def span_exit(self, *_: Any, **__: Any) -> None:
        pass

    span_drop = span_exit

    def new_span(self, *_: Any, **__: Any) -> None:
        pass

    prepare_to_exit_span = prepare_to_drop_span = new_span


def engine() -> RetrieverQueryEngine:
    return RetrieverQueryEngine.from_args(Shelf(), llm=AtOnce())


def watching(checker: Checker, **options: Any) -> GroundwireHandler:
    return GroundwireHandler(checker, sinks=(), max_pending=1_000_000, **options)


def costs() -> None:
    """What a query takes: medians of interleaved rounds."""
    app = engine()
    handler = watching(Checker(Slow()))
    hears: dict[str, Any] = {
        "bare": None,
        "no-op handler": NoOp(),
        "capture, without judging": Capture(lambda _: None).span_handler,
        "groundwire, with an instant judge": handler._capture.span_handler,  # noqa: SLF001
    }
    root = get_dispatcher()
    before = list(root.span_handlers)
    taken: dict[str, list[float]] = {name: [] for name in hears}
    order = random.Random(1)
    for _ in range(ROUNDS):
        for name in order.sample(list(hears), len(hears)):
            root.span_handlers[:] = [*filter(None, [hears[name]]), *before]
            started = time.perf_counter()
            for _ in range(CALLS):
                app.query("How much?")
            taken[name].append((time.perf_counter() - started) / CALLS * 1e6)
            handler.flush()
    root.span_handlers[:] = before
    print(f"Medians of {ROUNDS} interleaved rounds of {CALLS} queries.\n")
    print("| variant | µs a query | ratio to bare |\n|---|---|---|")
    for name, times in taken.items():
        ratio = statistics.median(mine / bare for mine, bare in zip(times, taken["bare"], strict=True))
        print(f"| {name} | {statistics.median(times):.0f} | {ratio:.3f} |")


class Timed(BaseSpanHandler[BaseSpan]):
    """Passes each span on to another handler, and notes the processor time that this took its thread."""

    taken: list[float] = []  # noqa: RUF012 - a pydantic field, copied for each instance
    _inner: Any = PrivateAttr()

    def __init__(self, inner: BaseSpanHandler[BaseSpan]) -> None:
        super().__init__()
        self._inner = inner

    def _pass(self, method: str, *arguments: Any, **named: Any) -> None:
        started = time.thread_time_ns()
        getattr(self._inner, method)(*arguments, **named)
        self.taken.append((time.thread_time_ns() - started) / 1e6)

    def span_enter(self, *arguments: Any, **named: Any) -> None:
        self._pass("span_enter", *arguments, **named)

    def span_exit(self, *arguments: Any, **named: Any) -> None:
        self._pass("span_exit", *arguments, **named)

    def span_drop(self, *arguments: Any, **named: Any) -> None:
        self._pass("span_drop", *arguments, **named)

    def new_span(self, *_: Any, **__: Any) -> None:
        pass

    prepare_to_exit_span = prepare_to_drop_span = new_span


async def held(queries: int = 300) -> None:
    """What the handler itself holds an event loop for: its own work on the loop's thread, by the processor.

    Unlike a stall by the clock this does not grow with what else the machine does.
    """
    app = engine()
    handler = watching(Checker(Slow(seconds=JUDGE_SECONDS)), workers=8)
    timed = Timed(handler._capture.span_handler)  # noqa: SLF001
    root = get_dispatcher()
    before = list(root.span_handlers)
    root.span_handlers[:] = [timed, *before]
    await app.aquery("How much?")
    timed.taken.clear()
    for _ in range(queries):
        await app.aquery("How much?")
    root.span_handlers[:] = before
    taken = sorted(timed.taken)
    print(f"\nHeld by the handler in {queries} queries, {len(taken) // queries} calls each, ms of processor:")
    print("| median call | longest call | sum a query |\n|---|---|---|")
    print(f"| {statistics.median(taken):.3f} | {taken[-1]:.2f} | {sum(taken) / queries:.2f} |")


async def longest_stall(handler: GroundwireHandler | None) -> float:
    """The longest time in seconds that an event loop did not come back while 10 queries ran in it."""
    app, longest = engine(), 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - before)

    if handler is not None:
        handler.install()
    await app.aquery("How much?")  # what is built at first use is no stall of every day
    ticking = asyncio.create_task(tick())
    for _ in range(10):
        await app.aquery("How much?")
        await asyncio.sleep(0.02)
    ticking.cancel()
    if handler is not None:
        handler.uninstall()
    return longest


def stalls() -> None:
    """How long an event loop is held, the median over rounds of the longest time in each."""
    wait = Checker(Slow(seconds=JUDGE_SECONDS))
    busy = Checker(Slow(seconds=JUDGE_SECONDS, busy=True))
    taken = f"{JUDGE_SECONDS * 1000:.0f} ms"
    variants: dict[str, tuple[Checker, str] | None] = {
        "bare": None,
        f"groundwire, a judge that waits {taken}": (wait, "background"),
        f"groundwire, a judge that computes for {taken}": (busy, "background"),
        "groundwire, the default detector": (Checker(), "background"),
        f"mode inline, a judge that waits {taken}": (wait, "inline"),
    }
    rounds: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(STALL_ROUNDS):
        for name, given in variants.items():
            handler = None if given is None else watching(given[0], mode=given[1])
            rounds[name].append(asyncio.run(longest_stall(handler)) * 1000)
            if handler is not None:
                handler.flush()
    print("\n| variant | longest stall of the event loop, ms: median, lowest |\n|---|---|")
    for name, times in rounds.items():
        print(f"| {name} | {statistics.median(times):.1f}, {min(times):.1f} |")


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores\n")
    costs()
    asyncio.run(held())
    stalls()
