"""Sinks are told the same wherever an answer is judged, and none of them harms anybody."""

import asyncio
import logging
from uuid import UUID

import pytest

from groundwire import AbstentionReason, Checker, ConfigurationError, Interaction, Policy, check_many
from groundwire.core.sink import Sink, Sinks
from groundwire.tracing.otel import OpenTelemetrySink
from tests.adapters.sides import CASES, SIDES, WAYS
from tests.scripted import Broken, NovelWords
from tests.sinks.samples import WRONG, Fails, Remembers, told

WRONG_CASE = CASES["hallucinated"]
PLAIN = Interaction(id="mine", contexts="A bag costs 25 EUR.", answer="A bag costs 75 EUR.")


@pytest.fixture(params=SIDES)
def side(request):
    return SIDES[request.param]


@pytest.fixture
def watch(side):
    handlers = []

    def start(*arguments, **options):
        handlers.append(side.handler(*arguments, **options))
        return handlers[-1]

    yield start
    for handler in handlers:
        handler.uninstall()


# -- who is told what


@pytest.mark.parametrize("way", WAYS)
def test_a_handlers_sinks_hear_each_record(side, watch, way):
    """The very interaction and outcome of it, with the run's id."""
    sink = Remembers()
    handler = watch(Checker(NovelWords()), sinks=[sink])
    side.ask(WRONG_CASE, way)
    assert handler.flush(30)
    (record,), (heard,) = handler.outcomes, sink.told
    assert (heard.interaction, heard.outcome, heard.run_id) == (
        record.interaction,
        record.outcome,
        record.run_id,
    )
    assert isinstance(heard.run_id, UUID)
    assert heard.action is None


@pytest.mark.parametrize("way", WAYS)
def test_a_wrappers_sinks_hear_what_was_done(side, way):
    """And each attempt; a draft says that it is one."""
    sink = Remembers()
    options = {"on_hallucination": "retry", "after_retries": "warn"}
    verdict = side.checked(WRONG_CASE, Checker(NovelWords()), way, sinks=[sink], **options)[1]
    draft, last = sink.told
    assert (draft.action, draft.attempt, draft.draft) == ("retry", 1, True)
    assert (last.action, last.attempt, last.draft) == ("warn", 2, False)
    assert last.outcome.id == verdict["id"]
    assert last.interaction.answer == WRONG_CASE.answer


def test_a_checkers_sinks_hear_each_outcome():
    """However it is asked."""
    sink = Remembers()
    checker = Checker(NovelWords(), sinks=[sink])
    checker.check(PLAIN)
    asyncio.run(checker.acheck(PLAIN))
    list(check_many([PLAIN, PLAIN], checker=checker))
    assert [one.outcome.id for one in sink.told] == ["mine"] * 4
    assert all(one.interaction is PLAIN for one in sink.told)


def test_handlers_and_wrappers_take_a_checkers_sinks_over(side, watch):
    """Each answer is told once."""
    sink = Remembers()
    checker = Checker(NovelWords(), sinks=[sink])
    handler = watch(checker, sinks=None)
    side.ask(WRONG_CASE, "call")
    assert handler.flush(30)
    assert len(sink.told) == 1
    handler.uninstall()
    side.checked(WRONG_CASE, checker, "call")
    assert len(sink.told) == 2
    assert sink.told[1].action == "annotate"


def test_named_sinks_take_the_place_of_a_checkers(side, watch):
    """And none at all is none at all."""
    own, named = Remembers(), Remembers()
    checker = Checker(NovelWords(), sinks=[own])
    for sinks in ([named], []):
        handler = watch(checker, sinks=sinks)
        side.ask(WRONG_CASE, "call")
        assert handler.flush(30)
        handler.uninstall()
        side.checked(WRONG_CASE, checker, "call", sinks=sinks)
    assert (len(own.told), len(named.told)) == (0, 2)


def test_abstentions_are_told_like_verdicts(side, watch):
    """Nothing found, a detector that broke: a sink hears of it."""
    sink = Remembers()
    handler = watch(Checker(Broken()), sinks=[sink])
    side.ask(WRONG_CASE, "call")
    side.ask(CASES["nothing found"], "call")
    assert handler.flush(30)
    handler.uninstall()
    side.checked(WRONG_CASE, Checker(Broken()), "call", sinks=[sink])
    assert sorted(one.outcome.why for one in sink.told) == [
        AbstentionReason.MODEL_FAILED,
        AbstentionReason.MODEL_FAILED,
        AbstentionReason.NO_CONTEXT,
    ]


def test_what_finds_no_room_is_told(side, watch):
    """It was not judged, and that is what the figures must show."""
    sink = Remembers()
    handler = watch(Checker(NovelWords()), sinks=[sink])
    assert handler.close(30)
    side.ask(WRONG_CASE, "call")
    assert [one.outcome.why for one in sink.told] == [AbstentionReason.OVER_BUDGET]


# -- nobody is harmed


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["background", "inline"])
def test_a_sink_that_breaks_harms_nobody(side, watch, way, mode, caplog):
    """The answer, the records and the other sinks are as they were; the log tells it, without its words."""
    sound = Remembers()
    sinks = [Fails(), sound]
    with caplog.at_level(logging.WARNING, "groundwire"):
        handler = watch(Checker(NovelWords(), policy=Policy()), mode=mode, sinks=sinks)
        assert side.ask(WRONG_CASE, way) == WRONG_CASE.answer
        assert not handler.flush(30)  # one of them could not say that it is done
        handler.uninstall()
        answer, verdict = side.checked(WRONG_CASE, Checker(NovelWords()), way, sinks=sinks)
    assert answer == WRONG_CASE.answer
    assert verdict["hallucinated"]
    assert len(handler.outcomes) == 1
    assert len(sound.told) == 2
    text = caplog.text
    assert "Fails.send failed (ValueError)" in text
    assert "secret" not in text


def test_a_sink_that_goes_on_breaking_is_told_once_a_minute(caplog):
    sinks = Sinks([Fails()])
    caplog.clear()
    with caplog.at_level(logging.WARNING, "groundwire"):
        for _ in range(20):
            sinks.tell(told(WRONG), (None,))
    assert len([r for r in caplog.records if "send failed" in r.getMessage()]) == 1


class Awaits(Sink):
    """Nobody would await it, and each verdict would be lost without a word."""

    async def send(self, told, where):
        raise AssertionError("never run")


@pytest.mark.parametrize("given", [Remembers(), "prometheus", [print], {}, [Awaits()]])
def test_what_is_no_sink_is_refused_at_once(side, given):
    """By everything that takes one, with what was expected."""
    makers = [
        lambda: Checker(NovelWords(), sinks=given),
        lambda: side.handler(Checker(NovelWords()), sinks=given),
        lambda: side.checked(WRONG_CASE, Checker(NovelWords()), "call", sinks=given),
    ]
    for make in makers:
        with pytest.raises(ConfigurationError, match="sinks"):
            make()


def test_a_sink_of_ones_own_needs_one_method():
    """The rest has a meaning that does no harm."""

    class Mine(Sink):
        def send(self, told, where):
            seen.append((told.outcome.hallucinated, where))

    seen = []
    checker = Checker(NovelWords(), sinks=[Mine()])
    checker.check(PLAIN)
    assert seen == [(True, None)]
    assert checker.sinks.flush(1)


def test_a_llama_index_room_tells_opentelemetry_unless_it_is_told_to(side):
    """Beside a checker's own sinks, and once."""
    if side is not SIDES.get("llama_index"):
        pytest.skip("LangChain's traces are LangSmith's unless others are named")
    from groundwire.llama_index import GroundwireHandler

    own = OpenTelemetrySink()
    metrics = Remembers()
    for sinks, kinds in (
        ([], [OpenTelemetrySink]),
        ([metrics], [OpenTelemetrySink, Remembers]),
        ([own, metrics], [OpenTelemetrySink, Remembers]),
    ):
        handler = GroundwireHandler(Checker(NovelWords(), sinks=sinks))
        assert [type(one) for one in handler._observer.sinks.all] == kinds
