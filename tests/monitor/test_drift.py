"""Drift is alarmed soon after it begins, and a stream without drift keeps its false-alarm rate."""

import datetime as dt
import http.server
import json
import logging
import threading

import numpy as np
import pytest

from groundwire import ConfigurationError
from groundwire.monitor import Alarm, Drift, Webhook
from groundwire.monitor.drift import Drifting, Watch, alarms
from tests.monitor.told import keep

NOW = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)


def stream(rng, rows, *, drift_at=None, missing=0.02, missing_after=0.02):
    """Scores as a detector gives them, a fifth of them flagged; after a while two fifths are."""
    scores = []
    for n in range(rows):
        after = drift_at is not None and n >= drift_at
        if rng.random() < (missing_after if after else missing):
            scores.append(None)
        else:
            bad = rng.random() < (0.6 if after else 0.2)
            scores.append(round(float(rng.beta(6, 3) if bad else rng.beta(1, 8)), 2))
    return [(score, NOW) for score in scores]


def test_streams_without_drift_keep_the_stated_false_alarm_rate():
    """Of 100 streams of a thousand rows beyond the reference, at most one is expected to raise one."""
    rng = np.random.default_rng(11)
    false = sum(bool(alarms(Drift(), stream(rng, 1500))[0]) for _ in range(100))
    assert false <= 4  # which 100 streams at 1 % exceed once in 300 times


@pytest.mark.parametrize("seed", range(10))
def test_drift_is_alarmed_within_200_rows_and_not_before(seed):
    found, has_reference = alarms(Drift(), stream(np.random.default_rng(seed), 1300, drift_at=1000))
    assert has_reference
    assert [alarm.what for alarm in found] == [Drifting.SCORES]
    assert 1000 < found[0].row <= 1200
    assert found[0].now > found[0].before
    assert found[0].stability > 0.1


def test_abstentions_that_become_more_are_alarmed_too():
    found, _ = alarms(Drift(), stream(np.random.default_rng(1), 1300, drift_at=1000, missing_after=0.3))
    assert Drifting.ABSTENTIONS in {alarm.what for alarm in found}
    assert all(alarm.row > 1000 for alarm in found)


def test_a_watch_resumed_hears_what_the_whole_one_hears():
    told = stream(np.random.default_rng(3), 1300, drift_at=1000)
    settings = Drift()
    whole, _ = alarms(settings, told)
    scores = [score for score, _ in told]
    resumed = Watch(settings, rows=900, first=scores[:500], last=scores[750:900])
    assert [a for score, at in told[900:] for a in resumed.hear(score, at)] == whole


def test_a_shorter_history_has_no_reference():
    assert alarms(Drift(), stream(np.random.default_rng(1), 100)) == ([], False)


def test_settings_that_can_not_work_are_named():
    with pytest.raises(ConfigurationError, match=r"reference must.*window must.*false_alarms must"):
        Drift(reference=1, window=1, false_alarms=2)
    with pytest.raises(ConfigurationError, match="http"):
        Webhook(url="file:///etc/passwd")


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        failing = len(self.server.heard) == 1
        self.send_response(500 if failing else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def hook():
    server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
    server.heard = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_alarm_reaches_a_callable_a_log_and_a_web_hook_and_none_costs_the_others(opened, hook, caplog):
    heard = []

    def broken(alarm):
        raise KeyError

    settings = Drift(reference=100, window=50, step=5)
    told = [score for score, _ in stream(np.random.default_rng(2), 150)]
    store = opened(
        drift=settings,
        alerts=[broken, heard.append, Webhook(url=f"http://127.0.0.1:{hook.server_port}/secret")],
    )
    keep(store, *told)
    assert heard == []
    store.close()
    # Another process goes on where this one ended.
    store = opened(
        drift=settings,
        alerts=[broken, heard.append, Webhook(url=f"http://127.0.0.1:{hook.server_port}/secret")],
    )
    keep(store, *[0.95] * 50)
    assert store.flush(20)
    (alarm,) = heard
    assert isinstance(alarm, Alarm)
    assert 150 < alarm.row <= 200
    assert hook.heard == [{"text": alarm.message, **alarm.to_dict()}] * 2  # tried again after a failure
    assert "an alarm could not be told (KeyError)" in caplog.text
    assert "secret" not in repr(Webhook(url="http://x/secret"))
    assert [a.row for a in store.drift()[0]] == [alarm.row]


def test_alarms_are_logged_by_default_and_a_new_reference_ends_them(opened, caplog):
    store = opened(drift=Drift(reference=50, window=20, step=5))
    with caplog.at_level(logging.WARNING, logger="groundwire.monitor"):
        keep(store, *[0.1, 0.2] * 25, *[0.95] * 20)
    assert "hallucination scores drift: their mean was 0.15 and is 0.95" in caplog.text
    store.rebase()
    keep(store, *[0.95] * 80)
    assert store.drift() == ([], True)
