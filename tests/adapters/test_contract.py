"""One contract for every framework's adapters: the same in, the same out, and no host is harmed."""

import threading
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire import Abstention, AbstentionReason, Checker, Detector, Policy, Usage, detectors
from groundwire.host.actions import HallucinationError
from tests.adapters.sides import CASES, SIDES, WAYS, interaction
from tests.scripted import Broken, ByLength, NovelWords

if not SIDES:
    pytest.skip("needs groundwire[langchain] or groundwire[llama-index]", allow_module_level=True)

CHECKERS = {"novel words": Checker(NovelWords()), "lexical": Checker(detectors.get("lexical")())}


@dataclass(frozen=True, kw_only=True)
class Waits(Detector):
    """Gives its outcome when it is let."""

    name: ClassVar[str] = "waits"
    version: ClassVar[str] = "1"
    gate: Any

    def detect(self, interaction):
        yield from ()
        self.gate.wait(30)
        return Abstention(why=AbstentionReason.NO_CLAIMS)


@dataclass(frozen=True, kw_only=True)
class Hangs(Waits):
    """The same, as a detector that asks a model which never replies."""

    needs_model: ClassVar[bool] = True


@pytest.fixture(params=SIDES)
def side(request):
    return SIDES[request.param]


@pytest.fixture
def watch(side):
    """Installs a handler of the side for the test."""
    handlers = []

    def start(*arguments, **options):
        handlers.append(side.handler(*arguments, **options))
        return handlers[-1]

    yield start
    for handler in handlers:
        handler.uninstall()


def bare(outcome):
    """An outcome without what belongs to one run of it: its id, and what it took."""
    return replace(outcome, id=None, usage=Usage())


def expected(checker, case):
    if not case.contexts:
        return AbstentionReason.NO_CONTEXT
    return bare(checker.check(case))


def told(outcome):
    return outcome.why if isinstance(outcome, Abstention) else bare(outcome)


# -- the same in, the same out


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("detector", CHECKERS)
def test_a_handler_says_what_the_checker_says(side, watch, case, way, detector):
    """However the application is run, its record is the interaction, and its outcome the checker's own."""
    one, checker = CASES[case], CHECKERS[detector]
    handler = watch(checker)
    answer = side.ask(one, way)
    assert handler.flush(30)
    (record,) = handler.outcomes
    seen = record.interaction
    assert answer == seen.answer
    assert (seen.question, seen.contexts) == (one.question, one.contexts)
    assert [passage.id for passage in seen.contexts] == [passage.id for passage in one.contexts]
    assert told(record.outcome) == expected(checker, replaced(one, answer))


def replaced(one, answer):
    # LlamaIndex answers "Empty Response" by itself where nothing is found.
    return interaction(one.question, [passage.text for passage in one.contexts], answer)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("detector", CHECKERS)
def test_a_wrapper_says_what_the_checker_says(side, case, way, detector):
    """The verdict on the answer is the checker's own in its one plain form, all keys there."""
    one, checker = CASES[case], CHECKERS[detector]
    answer, verdict = side.checked(one, checker, way)
    if not one.contexts:
        assert (verdict["status"], verdict["abstention"]) == ("abstained", "NO_CONTEXT")
        return
    assert answer == one.answer
    own = {"id": None, "usage": None}
    assert {**verdict, **own} == {**checker.check(one).to_dict(), **own}


WORDS = st.text(alphabet="abcdefgh 123.,{}<>\n", min_size=1, max_size=40).filter(
    lambda text: text.strip() == text and any(c.isalnum() for c in text)
)


@settings(max_examples=25)
@given(question=WORDS, contexts=st.lists(WORDS, min_size=1, max_size=3, unique=True), answer=WORDS)
def test_all_frameworks_agree(question, contexts, answer):
    """Law: an interaction's outcome does not depend on the framework that it comes from."""
    one = interaction(question, contexts, answer)
    checker = CHECKERS["novel words"]
    for side in SIDES.values():
        verdict = side.checked(one, checker, "call")[1]
        assert {**verdict, "id": None, "usage": None} == {
            **checker.check(one).to_dict(),
            "id": None,
            "usage": None,
        }


@pytest.mark.parametrize("way", WAYS)
def test_every_action_means_the_same(side, way):
    """Warned, replaced, refused or decided upon: the same words, in every framework."""
    wrong, fine = CASES["hallucinated"], CASES["grounded"]
    checker = CHECKERS["novel words"]
    warned, verdict = side.checked(wrong, checker, way, on_hallucination="warn")
    assert warned == f"{wrong.answer}\n\n{verdict['warning']}"
    assert side.checked(wrong, checker, way, on_hallucination="replace", replacement="-")[0] == "-"
    assert side.checked(wrong, checker, way, on_hallucination=lambda *_: "ask us")[0] == "ask us"
    with pytest.raises(HallucinationError):
        side.checked(wrong, checker, way, on_hallucination="raise")
    for action in ("warn", "replace", "raise", "retry"):
        assert side.checked(fine, checker, way, on_hallucination=action)[0] == fine.answer


def test_an_abandoned_stream_is_a_partial_answer(side, watch):
    """And never a judged one."""
    handler = watch(CHECKERS["novel words"])
    side.give_up(CASES["several passages"])
    assert handler.flush(30)
    (record,) = handler.outcomes
    assert record.outcome.why is AbstentionReason.PARTIAL_ANSWER


# -- the host is never harmed


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["background", "inline"])
def test_a_detector_that_raises_harms_nobody(side, watch, way, mode):
    """The application's answer is what it was; the record is an abstention."""
    handler = watch(Checker(Broken()), mode=mode)
    case = CASES["grounded"]
    assert side.ask(case, way) == case.answer
    assert handler.flush(30)
    assert [record.outcome.why for record in handler.outcomes] == [AbstentionReason.MODEL_FAILED]
    answer, verdict = side.checked(case, Checker(Broken()), way)
    assert (answer, verdict["abstention"]) == (case.answer, "MODEL_FAILED")


@pytest.mark.parametrize("way", WAYS)
def test_a_slow_detector_delays_nobody(side, watch, way):
    """The answer is there while the judge still thinks."""
    gate = threading.Event()
    handler = watch(Checker(Waits(gate=gate)))
    case = CASES["grounded"]
    assert side.ask(case, way) == case.answer
    assert (handler.stats.captured, handler.stats.pending) == (1, 1)
    gate.set()
    assert handler.flush(30)
    assert handler.stats.judged == 1


@pytest.mark.parametrize("way", WAYS)
def test_a_detector_that_hangs_is_given_up(side, watch, way):
    """Its record is a TIMEOUT, and nothing waits for it."""
    gate = threading.Event()
    checker = Checker(Hangs(gate=gate), judge=ByLength(), policy=Policy(timeout=0.01))
    handler = watch(checker)
    case = CASES["grounded"]
    started = time.monotonic()
    assert side.ask(case, way) == case.answer
    assert handler.flush(30)
    assert time.monotonic() - started < 25
    gate.set()
    assert [record.outcome.why for record in handler.outcomes] == [AbstentionReason.TIMEOUT]


def test_a_callback_that_raises_stops_nothing(side, watch):
    """on_outcome is the user's own, and its errors are logged."""

    def fail(record):
        raise ValueError

    handler = watch(CHECKERS["novel words"], fail)
    for _ in range(3):
        side.ask(CASES["grounded"], "call")
    assert handler.flush(30)
    assert handler.stats.judged == 3


def test_what_finds_no_room_is_told(side, watch):
    """A full queue drops the newest, counts it, and records it as not judged."""
    gate = threading.Event()
    handler = watch(Checker(Waits(gate=gate)), workers=1, max_pending=1)
    for _ in range(3):
        side.ask(CASES["grounded"], "call")
    assert handler.stats.dropped == 2
    assert [record.outcome.why for record in handler.outcomes] == [AbstentionReason.OVER_BUDGET] * 2
    gate.set()
    assert handler.flush(30)


def test_a_closed_handler_says_so(side, watch):
    """What comes after close is an abstention that names the reason."""
    handler = watch(CHECKERS["novel words"])
    assert handler.close(30)
    side.ask(CASES["grounded"], "call")
    (record,) = handler.outcomes
    assert record.outcome.why is AbstentionReason.OVER_BUDGET
    assert "closed" in record.outcome.detail
