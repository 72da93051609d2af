"""What has threads and connections is shared by copies, and says what to do where it should be pickled."""

import copy
import pickle

import pytest
from prometheus_client import CollectorRegistry

from groundwire import Checker, Judge
from groundwire.langchain import GroundwireCallbackHandler, with_hallucination_check
from groundwire.llama_index import GroundwireCallbackHandler as OlderHandler
from groundwire.llama_index import GroundwireHandler
from groundwire.monitor import Monitor
from groundwire.sinks import ScoreSink
from groundwire.sinks.prometheus import PrometheusSink
from groundwire.tracing.langsmith import LangSmithSink
from groundwire.tracing.otel import OpenTelemetrySink
from tests.langchain.apps import lcel

CHECKER = Checker("lexical")


@pytest.fixture
def monitor(tmp_path):
    with Monitor(f"sqlite:///{tmp_path}/answers.db", drift=None) as monitor:
        yield monitor


@pytest.fixture(
    params=[
        lambda _: Judge(lambda system, user: ""),
        lambda _: GroundwireCallbackHandler(CHECKER),
        lambda _: GroundwireHandler(CHECKER),
        lambda _: OlderHandler(CHECKER),
        lambda _: ScoreSink(print),
        lambda _: LangSmithSink(),
        lambda _: OpenTelemetrySink(),
        lambda _: PrometheusSink(CollectorRegistry()),
        lambda monitor: monitor,
    ]
)
def thing(request, monitor):
    return request.param(monitor)


def test_a_copy_of_it_is_itself(thing):
    assert copy.copy(thing) is thing
    assert copy.deepcopy([thing])[0] is thing


def test_pickling_it_says_what_to_do(thing):
    """As by a pool of processes, a Spark job or a cache of Streamlit's that is given it."""
    name = type(thing).__name__
    with pytest.raises(TypeError, match=f"^{name} can't be pickled: .* of one process. Build one in each"):
        pickle.dumps({"callbacks": [thing]})


def test_copies_of_what_has_a_monitor_share_it(monitor):
    checker = copy.deepcopy(Checker("lexical", monitor=monitor, sinks=[ScoreSink(print)]))
    assert checker.monitor is monitor
    checked = copy.deepcopy(with_hallucination_check(lcel(), checker=checker))
    assert checked.invoke("What about topic7?")["hallucination"]["status"] == "checked"
    assert monitor.flush(20)
    assert monitor.count() == 1
