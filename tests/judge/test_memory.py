"""The judge's memory: the same question is paid for once, and nothing is remembered that should not be."""

import functools
import json
import os
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda

from groundwire import AbstentionReason, Checker, ConfigurationError, Interaction, Judge, Usage
from groundwire.core.plan import Complete, Completed, Embed, Embedded, Failed, Token
from groundwire.judge.adapters.function import CallableEmbedder
from groundwire.judge.limits import Allowance, Pace
from groundwire.judge.memory import Memory, MemoryMode
from groundwire.judge.stores import InFile, InMemory
from tests.scripted import AsksModel


class Counting:
    """Says how often it was asked."""

    def __init__(self):
        self.calls = 0
        self._lock = threading.Lock()

    def __call__(self, system, user):
        with self._lock:
            self.calls += 1
            return f"reply {self.calls} to {user}"


class Vectors:
    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked += texts
        return [[len(text), 0.5] for text in texts]


def prompt(user, **more):
    return Complete(system="s", user=user, **more)


def ask(judge, *requests):
    return list(judge.perform(requests, timeout=None))


@pytest.fixture(params=["in memory", "in a file"])
def memory(request, tmp_path):
    return Memory(tmp_path / "memory.sqlite" if request.param == "in a file" else None)


def test_the_same_question_is_asked_once_and_costs_nothing_again(memory):
    model = Counting()
    judge = Judge(model, memory=memory)
    (first,), (second,) = ask(judge, prompt("u")), ask(judge, prompt("u"))
    assert (first.texts, first.usage.calls) == (("reply 1 to u",), 1)
    assert second == Completed(texts=first.texts, usage=Usage())
    assert model.calls == 1


def test_a_verdict_is_given_again_without_a_call(memory):
    interaction = Interaction(question="q", contexts="c", answer="a")
    checker = Checker(AsksModel(), judge=Judge(lambda system, user: "0.25", memory=memory))
    first, second = checker.check(interaction), checker.check(interaction)
    assert first.score == second.score == 0.25
    assert (first.usage.calls, second.usage.calls) == (1, 0)


@given(
    st.lists(st.tuples(st.text(), st.text(), st.sampled_from([None, 0.0]), st.integers(0, 2)), max_size=12)
)
def test_only_the_very_same_question_is_the_same(asked):
    """The law of a memory: with it or without it, every request gets the reply to itself."""
    memory = Memory()

    def model(request):
        return Completed(texts=(repr(request),))

    for system, user, temperature, alternatives in asked * 2:
        request = Complete(system=system, user=user, temperature=temperature, alternatives=alternatives)
        assert memory.recall("m", request, model).texts == (repr(request),)
    assert len(memory) == len(set(asked))


def test_samples_are_never_remembered(memory):
    model = Counting()
    judge = Judge(model, memory=memory)
    three = prompt("u", samples=3)
    first, second = ask(judge, three)[0].texts, ask(judge, three)[0].texts
    assert len({*first, *second}) == 6


def test_what_a_temperature_above_zero_said_is_never_remembered(memory):
    model = Counting()
    judge = Judge(model, memory=memory)
    ask(judge, prompt("u", temperature=0.7), prompt("u", temperature=0.7))
    assert model.calls == 2
    ask(judge, prompt("u", temperature=0.0))
    ask(judge, prompt("u", temperature=0.0))
    assert model.calls == 3


class Warm(FakeListChatModel):
    temperature: float = 0.0


@pytest.mark.parametrize(("temperature", "second"), [(0.0, "a"), (0.7, "b")])
def test_nor_is_what_a_model_said_that_varies_by_itself(memory, temperature, second):
    model = Warm(responses=["a", "b"], temperature=temperature).with_retry()
    judge = Judge(model, memory=memory)
    ask(judge, prompt("u"))
    assert ask(judge, prompt("u"))[0].texts == (second,)


@pytest.mark.parametrize(("parameters", "second"), [({}, "b"), ({"temperature": 0.0}, "a")])
def test_nor_what_one_said_that_a_temperature_is_bound_to(memory, parameters, second):
    model = Warm(responses=["a", "b"]).bind(temperature=0.7)
    judge = Judge(model, memory=memory, parameters=parameters)
    ask(judge, prompt("u"))
    assert ask(judge, prompt("u"))[0].texts == (second,)


def test_a_failure_is_never_remembered(memory):
    fail = [ValueError("no")]

    def model(system, user):
        if fail:
            raise fail.pop()
        return "so"

    judge = Judge(model, memory=memory)
    assert isinstance(ask(judge, prompt("u"))[0], Failed)
    assert ask(judge, prompt("u"))[0].texts == ("so",)


def test_another_model_or_another_parameter_is_another_question(memory):
    models = [
        FakeListChatModel(responses=["a"]),
        FakeListChatModel(responses=["b"]),
        Warm(responses=["c"]),
        Warm(responses=["d"]).bind(stop=["x"]),
    ]
    said = [ask(Judge(model, memory=memory), prompt("u"))[0].texts[0] for model in models]
    assert said == ["a", "b", "c", "d"]


def asked_of(system, user, *, model):
    return model


def test_one_function_for_two_models_is_two_models(memory):
    first, second = (Judge(functools.partial(asked_of, model=name), memory=memory) for name in ("a", "b"))
    assert ask(first, prompt("u"))[0].texts == ("a",)
    assert ask(second, prompt("u"))[0].texts == ("b",)
    assert repr(first) == "Judge(model='asked_of', timeout=30)"


def test_a_reply_that_says_nothing_is_asked_for_again(memory):
    """As after a filter, or a hiccup: an answer must not stay unjudged for good."""
    said = ["", " \n", "so"]
    judge = Judge(lambda system, user: said.pop(0), memory=memory)
    assert [ask(judge, prompt("u"))[0].texts[0].strip() for _ in range(4)] == ["", "", "so", "so"]


JUDGED = json.dumps({"claims": [{"id": 1, "support": "unsupported", "score": 0.9, "words": [], "quote": ""}]})


def test_an_answer_whose_replies_could_not_be_read_is_asked_about_again(memory):
    """A proxy's error page, or a model's bad day, must not leave an answer unjudged for good."""
    said = ["<html>busy</html>", "<html>busy</html>", "I can't help with that.", JUDGED]
    checker = Checker("judge", judge=Judge(lambda system, user: said.pop(0), memory=memory))
    interaction = Interaction(question="q", contexts="It opens at nine.", answer="It costs money.")
    outcomes = [checker.check(interaction) for _ in range(4)]
    assert [outcome.usage.calls for outcome in outcomes] == [2, 1, 1, 0]
    assert [getattr(outcome, "why", None) for outcome in outcomes[:2]] == ["UNREADABLE_REPLY"] * 2
    assert outcomes[2].hallucinated
    assert outcomes[3].hallucinated


def test_claims_that_were_left_out_twice_are_asked_about_again(memory):
    left_out = json.dumps(
        {"claims": [{"id": 1, "support": "inferred", "score": 0.1, "words": [], "quote": ""}]}
    )
    second = JUDGED.replace('"id": 1', '"id": 2')
    said = [left_out, left_out, second]
    checker = Checker("judge", judge=Judge(lambda system, user: said.pop(0), memory=memory))
    interaction = Interaction(
        question="q", contexts="It opens at nine.", answer="It is open today. It costs money."
    )
    outcomes = [checker.check(interaction) for _ in range(3)]
    assert [outcome.usage.calls for outcome in outcomes] == [2, 1, 0]
    assert outcomes[0].why == AbstentionReason.UNREADABLE_REPLY
    assert outcomes[1].hallucinated
    assert outcomes[2].hallucinated


def closing_over(name):
    def model(system, user):
        return name

    return model


class Desk:
    """A client of somebody's, as a model, by its method, or as LangChain Embeddings."""

    def __init__(self, name):
        self.name = name
        self.lock = threading.Lock()

    def __call__(self, system, user):
        return self.name

    ask = __call__

    def embed_documents(self, texts):
        return [[float(ord(self.name)), 1.0] for _ in texts]


@pytest.mark.parametrize(
    "made",
    [
        (closing_over("a"), closing_over("b")),
        ((lambda s, u: asked_of(s, u, model="a")), (lambda s, u: asked_of(s, u, model="b"))),
        (Desk("a").ask, Desk("b").ask),
        (Desk("a"), Desk("b")),
        (functools.partial(asked_of, model="a"), functools.partial(asked_of, model="b")),
        (RunnableLambda(lambda messages: "a"), RunnableLambda(lambda messages: "b")),
    ],
    ids=["closures", "lambdas", "methods", "objects", "partial", "runnables"],
)
def test_functions_that_were_given_different_models_are_different_models(memory, made):
    """Or the second of a judge's models would never be asked, and agree with the first in everything."""
    first, second = made
    judge = Judge(first, models={"second": second}, memory=memory)
    replies = ask(judge, prompt("u"), prompt("u", model="second"))
    assert [reply.texts for reply in replies] == [("a",), ("b",)]


def test_functions_that_were_given_the_same_are_one_model(memory):
    """Whatever else they hold, such as locks, which are others in every process."""
    for made in (closing_over, lambda name: Desk(name).ask, Desk):
        first, second = (Judge(made("a"), memory=memory) for _ in range(2))
        ask(first, prompt("u"))
        assert ask(second, prompt("u"))[0].usage.calls == 0


class Keyed(Desk):
    def __init__(self, name, api_key):
        super().__init__(name)
        self.api_key = api_key


def keyed(name, api_key):
    def model(system, user):
        return f"{name} {api_key}"

    return model


@pytest.mark.parametrize("made", [Keyed, lambda *given: Keyed(*given).ask, keyed])
def test_a_function_is_the_same_model_with_another_key(memory, made):
    """Keys are changed from time to time, and what was paid for, or tuned, still holds."""
    first, second = (Judge(made("a", key), memory=memory) for key in ("1", "2"))
    ask(first, prompt("u"))
    assert ask(second, prompt("u"))[0].usage.calls == 0


def test_what_a_function_looks_up_is_no_part_of_its_name():
    """A table of vectors may be of any length, and of any form: it stands in itself, too."""
    table = {str(i): [float(i)] * 10 for i in range(5_000)}
    table["itself"] = table
    few = [table]
    few.append(few)
    embedder = CallableEmbedder(lambda texts: [table[text] or few for text in texts])
    assert len(embedder.identity) < 1_000


def test_embedding_models_of_one_class_are_told_apart_by_what_they_were_given(memory):
    judges = [Judge(str.__add__, embeddings=Desk(name), memory=memory) for name in ("a", "b")]
    vectors = [ask(judge, Embed(texts=("t",)))[0].vectors for judge in judges]
    assert vectors == [((97.0, 1.0),), ((98.0, 1.0),)]
    assert judges[0].embedding_model != judges[1].embedding_model


def test_a_namespace_tells_apart_what_names_do_not(tmp_path):
    path = tmp_path / "m.sqlite"
    first, second = (Judge(Counting(), memory=Memory(path, namespace=name)) for name in ("v1", "v2"))
    assert ask(first, prompt("u"))[0].usage.calls == ask(second, prompt("u"))[0].usage.calls == 1


def test_texts_are_embedded_once_whatever_stands_beside_them(memory):
    vectors = Vectors()
    judge = Judge(str.__add__, embeddings=vectors, memory=memory)
    (first,) = ask(judge, Embed(texts=("a", "bb")))
    (second,) = ask(judge, Embed(texts=("bb", "ccc", "a", "bb")))
    assert vectors.asked == ["a", "bb", "ccc"]
    assert second.vectors == ((2.0, 0.5), (3.0, 0.5), (1.0, 0.5), (2.0, 0.5))
    assert (first.usage.calls, second.usage.calls) == (1, 1)
    assert ask(judge, Embed(texts=("ccc",))) == [Embedded(vectors=((3.0, 0.5),), usage=Usage())]


def test_probabilities_of_tokens_come_back_as_they_were(memory):
    token = Token(text="4", logprob=-0.1, alternatives=(("5", -2.5), ("3", -4.0)))
    told = Completed(texts=("4",), tokens=((token,),))
    request = prompt("u", alternatives=2)
    memory.recall("m", request, lambda request: told)
    assert memory.recall("m", request, lambda request: pytest.fail("asked again")) == told


def test_while_a_call_is_out_nobody_asks_the_same(memory):
    inside, go = threading.Event(), threading.Event()
    calls = []

    def model(system, user):
        calls.append(user)
        inside.set()
        go.wait(20)
        return "so"

    judge = Judge(model, memory=memory, max_concurrency=4)
    replies = []
    threads = [threading.Thread(target=lambda: replies.extend(ask(judge, prompt("u")))) for _ in range(4)]
    for thread in threads:
        thread.start()
    inside.wait(20)
    go.set()
    for thread in threads:
        thread.join(20)
    assert calls == ["u"]
    assert [reply.texts for reply in replies] == [("so",)] * 4
    assert sum(reply.usage.calls for reply in replies) == 1


async def test_on_an_event_loop_it_is_the_same_memory(memory):
    model = Counting()
    judge = Judge(model, memory=memory)
    ask(judge, prompt("u"))
    (reply,) = await judge.aperform([prompt("u")], timeout=None)
    assert (reply.texts, model.calls) == (("reply 1 to u",), 1)


def test_off_nothing_is_remembered_and_no_file_is_made(tmp_path):
    model = Counting()
    judge = Judge(model, memory=Memory(tmp_path / "m.sqlite", mode="off"))
    ask(judge, prompt("u"), prompt("u"))
    assert model.calls == 2
    assert list(tmp_path.iterdir()) == []


def test_without_a_memory_nothing_is_remembered():
    model = Counting()
    ask(Judge(model), prompt("u"), prompt("u"))
    assert model.calls == 2


def test_read_only_it_recalls_and_learns_nothing(tmp_path):
    path = tmp_path / "m.sqlite"
    ask(Judge(Counting(), memory=Memory(path)), prompt("known"))
    model = Counting()
    judge = Judge(model, memory=Memory(path, mode=MemoryMode.READ_ONLY))
    assert ask(judge, prompt("known"))[0].texts == ("reply 1 to known",)
    ask(judge, prompt("new"), prompt("new"))
    assert model.calls == 2
    assert len(Memory(path)) == 1


@pytest.mark.parametrize("store", ["in memory", "in a file"])
@settings(deadline=None, max_examples=30)
@given(sizes=st.integers(1, 5), keys=st.lists(st.sampled_from("abcdefgh"), max_size=20))
def test_it_never_holds_more_than_its_size_and_always_the_last(tmp_path_factory, store, sizes, keys):
    path = tmp_path_factory.mktemp("store") / "m.sqlite"
    kept = InMemory(sizes) if store == "in memory" else InFile(path, sizes, read_only=False)
    for i, key in enumerate(keys):
        kept.put({key: str(i).encode()})
        assert kept.get(key) == str(i).encode()
        assert len(kept) <= sizes


def test_a_file_is_shared_and_nobody_else_may_read_it(tmp_path):
    path = tmp_path / "m.sqlite"
    one, other = Memory(path), Memory(path)
    ask(Judge(Counting(), memory=one), prompt("u"))
    model = Counting()
    ask(Judge(model, memory=other), prompt("u"))
    assert model.calls == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_can_not_be_used_is_refused_at_once(tmp_path):
    (tmp_path / "text").write_text("this is no database, and long enough to tell so by its header" * 9)
    for path in (tmp_path, tmp_path / "absent" / "m.sqlite", tmp_path / "text"):
        with pytest.raises(ConfigurationError, match="can't be used"):
            Memory(path)
    with pytest.raises(ConfigurationError, match="can't be used"):
        Memory(tmp_path / "absent.sqlite", mode="read-only")


def test_a_memory_that_breaks_later_costs_its_replies_and_nothing_else(tmp_path, caplog):
    path = tmp_path / "m.sqlite"
    judge = Judge(lambda system, user: "so", memory=Memory(path))
    with sqlite3.connect(path) as other:
        other.execute("DROP TABLE replies")
    (reply,) = ask(judge, prompt("u"))
    assert reply.texts == ("so",)
    assert "memory can't be" in caplog.text


def test_the_application_s_cache_and_the_memory_know_nothing_of_each_other(memory):
    cache = InMemoryCache()
    set_llm_cache(cache)
    try:
        shared = FakeListChatModel(responses=["application", "again"])
        assert shared.invoke("u").content == "application"
        judge = Judge(FakeListChatModel(responses=["judge"]), memory=memory)
        assert ask(judge, prompt("u"))[0].texts == ("judge",)
        assert len(cache._cache) == 1
        assert shared.invoke("u").content == "application"
    finally:
        set_llm_cache(None)


def test_a_call_that_hangs_times_out_for_everybody_and_is_not_remembered(memory):
    forever = threading.Event()
    judge = Judge(lambda system, user: str(forever.wait(20)), memory=memory, timeout=0.1)
    replies = ask(judge, prompt("u"), prompt("u"))
    forever.set()
    assert [reply.reason for reply in replies] == [AbstentionReason.TIMEOUT] * 2


def test_who_asks_the_same_later_does_not_wait_for_a_call_that_was_given_up(memory):
    """Or one hanging call would keep a question from being asked, and take a thread for each who tries."""
    forever, calls = threading.Event(), []

    def model(system, user):
        calls.append(user)
        return str(len(calls) > 1 or forever.wait(20))

    judge = Judge(model, memory=memory, timeout=0.3, max_concurrency=1)
    (late,) = ask(judge, prompt("u"))
    (soon,), (again,) = ask(judge, prompt("u")), ask(judge, prompt("u"))
    forever.set()
    assert late.reason is AbstentionReason.TIMEOUT
    assert (soon.texts, again.texts, calls) == (("True",), ("True",), ["u", "u"])


class Later:
    """A rate at which every call has to wait its turn."""

    def take(self, amount=1, *, within=float("inf")):
        return 0.6


def test_waiting_for_the_reply_to_the_same_question_is_no_part_of_a_call_s_time(memory):
    """Neither is it for the call that is out, while it waits for its turn."""
    judge = Judge(Counting(), memory=memory, timeout=0.3)
    judge.share(requests=Later(), tokens=Pace(None), allowance=Allowance(None, period=1))
    with ThreadPoolExecutor() as pool:
        replies = [*pool.map(lambda user: ask(judge, prompt(user))[0], "uuu")]
    assert {reply.texts for reply in replies} == {("reply 1 to u",)}


def test_every_mistake_is_named_at_once():
    with pytest.raises(ConfigurationError) as caught:
        Memory(mode="sometimes", size=0)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["memory.mode", "memory.size"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_the_child_of_a_fork_goes_on_with_its_own_connection(tmp_path):
    judge = Judge(Counting(), memory=Memory(tmp_path / "m.sqlite"))
    ask(judge, prompt("u"))
    child = os.fork()
    if child == 0:  # pragma: no cover - the child
        os._exit(0 if ask(judge, prompt("u"))[0].usage.calls == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
