"""Drift is alarmed soon after it begins, and a stream without drift keeps its false-alarm rate."""

import datetime as dt
import http.server
import json
import logging
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from groundwire import ConfigurationError
from groundwire.monitor import Alarm, Drift, Webhook
from groundwire.monitor.answer import microseconds
from groundwire.monitor.database import Database, Durability
from groundwire.monitor.drift import Drifting, Watch, standing
from groundwire.monitor.statistics import smirnov
from groundwire.monitor.telling import Telling
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


def alarms(settings, told):
    """Every alarm of a history, and whether it was long enough to have a reference."""
    scores = np.array([score for score, _ in told], dtype=float)
    found = standing(settings, scores, [microseconds(at) for _, at in told])
    return list(found.alarms), found.has_reference


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


@given(st.data())
def test_a_history_raises_what_a_watch_of_it_raised(data):
    """Whatever is equal, missing or few: told at once or one by one, the alarms are the same."""
    settings = Drift(reference=50, window=data.draw(st.integers(20, 40)), step=data.draw(st.integers(1, 15)))
    value = st.none() | st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])
    before, after = st.lists(value, min_size=50, max_size=120), st.lists(value, max_size=120)
    told = [(score, NOW) for score in data.draw(before) + data.draw(after)]
    watch = Watch(settings)
    heard = [alarm for score, at in told for alarm in watch.hear(score, at)]
    assert alarms(settings, told) == (heard, True)


@given(
    st.lists(st.floats(0, 1) | st.sampled_from([0.2, 0.4]), min_size=1, max_size=40),
    st.lists(st.lists(st.sampled_from([np.nan, 0.1, 0.2, 0.3, 0.4]), min_size=9, max_size=9), min_size=1),
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_the_chance_of_a_gap_is_the_limits_of_scipys_gap(reference, windows):
    """Of many windows at once, whatever is equal and whatever is missing."""
    reference, windows = np.sort(reference), np.array([[*window, 0.2] for window in windows])
    alone = []
    for window in windows:
        known = window[~np.isnan(window)]
        gap = stats.ks_2samp(reference, known, method="asymp").statistic
        scale = np.sqrt(len(reference) * len(known) / (len(reference) + len(known)))
        alone.append(stats.kstwobign.sf(gap * scale) if gap else 1.0)
    assert smirnov(reference, windows) == pytest.approx(alone, abs=1e-9)


def test_the_latest_answers_stand_beside_the_first(store):
    """What is compared is what was kept, and a history that is too short has no figure that it can't have."""
    keep(store, *[0.1, 0.2] * 25, *[0.9, 0.8, None] * 10)
    told = store.standing(settings=Drift(reference=50, window=30))
    assert (told.has_reference, len(told.reference), len(told.latest)) == (True, 50, 30)
    assert told.p < told.chance < told.p_missing * 1e3
    assert told.stability > 1
    assert [alarm.what for alarm in told.alarms] == [Drifting.SCORES, Drifting.ABSTENTIONS]
    assert told.windows == 1
    assert store.standing(settings=Drift(reference=50, window=31)).windows == 0
    assert told.up == (Drifting.ABSTENTIONS, Drifting.SCORES)
    keep(store, *[0.1, 0.2] * 15)
    over = store.standing(settings=Drift(reference=50, window=30))
    assert (over.alarms, over.up) == (told.alarms, ())
    short = store.standing(settings=Drift(reference=111, window=20))
    assert len(short.latest) == 0
    assert (short.has_reference, short.p, short.p_missing, short.alarms) == (False, None, None, ())


def test_the_latest_alone_raise_what_they_raise_among_all(store):
    """What lies between the reference and the latest is left out; rows keep their numbers."""
    settings = Drift(reference=50, window=20, step=7)
    keep(store, *[0.1, 0.2] * 80, *[0.9, 0.8] * 20)
    whole, some = (store.standing(settings=settings, last=last) for last in (None, 60))
    assert (whole.skipped, some.skipped) == (0, 84)
    assert some.alarms == whole.alarms != ()
    assert some.latest.tolist() == whole.latest.tolist()
    assert store.standing(settings=settings, last=500).skipped == 0


def test_a_shorter_history_has_no_reference():
    assert alarms(Drift(), stream(np.random.default_rng(1), 100)) == ([], False)


def test_settings_that_can_not_work_are_named():
    with pytest.raises(ConfigurationError, match=r"reference must.*window must.*false_alarms must"):
        Drift(reference=1, window=1, false_alarms=2)
    with pytest.raises(ConfigurationError, match=r"false_alarms must be a number .* not '0\.01'"):
        Drift(false_alarms="0.01")
    with pytest.raises(ConfigurationError, match="http"):
        Webhook(url="file:///etc/passwd")
    with pytest.raises(ConfigurationError, match="timeout must be a number of seconds above 0, not '5'"):
        Webhook(url="http://127.0.0.1/hook", timeout="5")


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if self.path == "/moved":
            self.send_response(301)
            self.send_header("Location", "/new")
        else:
            self.send_response(500 if len(self.server.heard) <= self.server.failures else 204)
        self.end_headers()

    def do_GET(self):
        self.server.led_on.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def hook():
    server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
    server.heard, server.led_on, server.failures = [], [], 1
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
        tags={"application": "handbook"},
        alerts=[broken, heard.append, Webhook(url=f"http://127.0.0.1:{hook.server_port}/secret")],
    )
    keep(store, *[0.95] * 50)
    assert store.flush(20)
    (alarm,) = heard
    assert isinstance(alarm, Alarm)
    assert 150 < alarm.row <= 200
    assert hook.heard == [{"text": alarm.message, **alarm.to_dict()}] * 2  # tried again after a failure
    assert "; application=handbook)" in alarm.message
    assert "an alarm could not be told (KeyError)" in caplog.text
    assert "secret" not in repr(Webhook(url="http://x/secret"))
    assert [a.row for a in store.drift()[0]] == [alarm.row]


def test_a_web_hook_that_has_moved_is_a_failure_and_the_log_has_the_alarm(opened, hook, caplog):
    """What is led on arrives there as a GET, without the alarm, and would be taken for told."""
    store = opened(
        drift=Drift(reference=50, window=20, step=5),
        alerts=[Webhook(url=f"http://127.0.0.1:{hook.server_port}/moved")],
    )
    keep(store, *[0.1, 0.2] * 25, *[0.95] * 20)
    assert store.flush(20)
    assert hook.led_on == []
    assert (
        "an alarm could not be told (HTTPError): hallucination scores drift: their mean was 0.15"
        in caplog.text
    )


def test_a_web_hook_that_is_down_for_a_moment_is_tried_again_after_pauses(hook, monkeypatch):
    paused = []
    monkeypatch.setattr("groundwire.monitor.alerts.time.sleep", paused.append)
    hook.failures = 3
    Webhook(url=f"http://127.0.0.1:{hook.server_port}/hook")(ALARM)
    assert len(hook.heard) == 4
    assert paused == sorted(paused)
    assert 5 < sum(paused) < 10


def test_an_alarm_that_nobody_took_is_told_once_somebody_does(opened, monkeypatch):
    """Where it was not told, and there alone; the drift may be over by then."""
    monkeypatch.setattr("groundwire.monitor.monitor._LOOK_EVERY", 0.0)
    monkeypatch.setattr("groundwire.monitor.alerts._AGAIN", 0.0)
    logged, heard, down = [], [], [True]

    def pager(alarm):
        if down[0]:
            raise ConnectionError
        heard.append(alarm)

    store = opened(drift=QUICK, alerts=[logged.append, pager])
    tell(store, CALM * 25 + ODD * 10)
    assert (len(logged), heard) == (1, [])
    tell(store, CALM * 20)
    down[0] = False
    for _ in range(3):
        tell(store, CALM)
    assert heard == logged
    tell(store, ODD * 10)  # another drift
    assert (len(heard), len(logged)) == (2, 2)


def test_an_alarm_that_one_process_could_not_tell_the_next_one_tells(url, opened):
    def broken(alarm):
        raise ConnectionError

    store = opened(url, drift=QUICK, alerts=[broken])
    tell(store, CALM * 25 + ODD * 10)
    store.close()
    (later,), (heard,) = workers(opened, url, 1)
    tell(later, ODD * 10)
    assert len(heard) == 1


def test_an_alarm_that_another_process_has_told_meanwhile_is_not_told_again(url, opened, monkeypatch):
    monkeypatch.setattr("groundwire.monitor.monitor._LOOK_EVERY", 0.0)
    monkeypatch.setattr("groundwire.monitor.alerts._AGAIN", 0.0)
    tried = []

    def broken(alarm):
        tried.append(alarm)
        raise ConnectionError

    store = opened(url, drift=QUICK, alerts=[broken])
    tell(store, CALM * 25 + ODD * 10)
    (other,), (heard,) = workers(opened, url, 1)
    tell(other, ODD * 10)
    before = len(tried)
    for _ in range(3):
        tell(store, ODD)
    assert (len(heard), len(tried)) == (1, before)


def test_a_web_hook_goes_through_the_proxy_of_the_time_it_posts(hook, monkeypatch):
    """An application may read its environment from a file after its imports."""
    hook.heard.append("so that the first post arrives")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{hook.server_port}")
    alarm = Alarm(what=Drifting.ABSTENTIONS, row=70, at=NOW, before=0.1, now=0.4, p=1e-6, stability=None)
    Webhook(url="http://nowhere.invalid/hook")(alarm)
    assert hook.heard[1:] == [{"text": alarm.message, **alarm.to_dict()}]


def test_alarms_are_logged_by_default_and_a_new_reference_ends_them(opened, caplog):
    store = opened(drift=Drift(reference=50, window=20, step=5))
    with caplog.at_level(logging.WARNING, logger="groundwire.monitor"):
        keep(store, *[0.1, 0.2] * 25, *[0.95] * 20)
    assert "hallucination scores drift: their mean was 0.15 and is 0.95" in caplog.text
    store.rebase()
    keep(store, *[0.95] * 80)
    assert store.drift() == ([], True)


def test_who_looks_afterwards_sees_what_was_watched_for(opened):
    """The command and the page open the store without a watch of their own."""
    watched, heard = Drift(reference=60, window=30, step=5), []
    store = opened(drift=watched, alerts=[heard.append])
    assert opened(drift=None).standing().settings == Drift()
    keep(store, *[0.1, 0.2] * 30, *[0.95] * 30)
    assert store.flush(20)
    told = opened(drift=None).standing()
    assert (told.settings, [one.row for one in told.alarms]) == (watched, [one.row for one in heard])
    assert opened(drift=Drift(reference=50)).standing().settings == Drift(reference=50)


def test_a_new_reference_that_another_process_sets_is_noticed(opened, monkeypatch):
    """Else this one would go on comparing with answers from before a change that was meant."""
    monkeypatch.setattr("groundwire.monitor.monitor._LOOK_EVERY", 0.0)
    heard = []
    running = opened(drift=Drift(reference=50, window=20, step=5), alerts=[heard.append])
    keep(running, *[0.1, 0.2] * 25, *[0.15] * 20)
    assert heard == []
    opened(drift=None).rebase()
    keep(running, *[0.9, 0.95] * 25, *[0.92] * 20)
    assert heard == []
    keep(running, *[0.1] * 20)
    assert [round(alarm.before, 1) for alarm in heard] == [0.9]


CALM, ODD = [0.1, 0.2], [0.92, 0.97]
QUICK = Drift(reference=50, window=20, step=5)


def workers(opened, url, count, **options):
    """Monitors of one store, as each worker of a server has its own, and the alarms that each has told."""
    heard = [[] for _ in range(count)]
    stores = [opened(url, drift=QUICK, alerts=[told.append], **options) for told in heard]
    return stores, heard


def tell(store, scores):
    keep(store, *scores)
    assert store.flush(20)


def test_of_several_workers_one_tells_of_a_drift(url, opened):
    """The others have seen it too; one that is started while it lasts finds it told."""
    (one, two), heard = workers(opened, url, 2)
    tell(one, CALM * 25)
    for store in (one, two):
        tell(store, CALM * 10)
    for _ in range(8):
        for store in (one, two):
            tell(store, ODD * 5)
    assert sorted(map(len, heard)) == [0, 1]
    (late,), heard_late = workers(opened, url, 1)
    tell(late, ODD * 30)
    assert heard_late == [[]]


def test_a_drift_that_comes_back_is_told_again(url, opened, monkeypatch):
    """By whoever sees it first, also if who told of it the first time has gone."""
    monkeypatch.setattr("groundwire.monitor.monitor._LOOK_EVERY", 0.0)
    (first, second), heard = workers(opened, url, 2)
    tell(first, CALM * 25)
    tell(first, ODD * 10)
    assert list(map(len, heard)) == [1, 0]
    first.close()
    tell(second, CALM * 20)  # its first window may be of before
    tell(second, ODD * 10)
    assert list(map(len, heard)) == [1, 1]


def test_a_drift_that_is_not_over_for_a_whole_window_is_the_same(url, opened, monkeypatch):
    """A worker whose answers are still those of before does not end what another has just told of."""
    monkeypatch.setattr("groundwire.monitor.monitor._LOOK_EVERY", 0.0)
    (one, two), heard = workers(opened, url, 2)
    tell(one, CALM * 25)
    tell(two, CALM * 10)
    tell(one, ODD * 10)
    tell(two, CALM * 5)
    tell(two, ODD * 10)
    assert list(map(len, heard)) == [1, 0]


def test_alarms_that_name_other_tags_are_others(url, opened):
    """Who is told of one application's does not know of the other's."""
    stores, heard = [], []
    for name in ("handbook", "desk"):
        (store,), (told,) = workers(opened, url, 1, tags={"application": name})
        stores.append(store)
        heard.append(told)
    tell(stores[0], CALM * 25)
    for store in stores:
        tell(store, ODD * 10)
    assert [[one.tags["application"] for one in told] for told in heard] == [["handbook"], ["desk"]]


def test_a_new_reference_forgets_what_was_told(url, opened):
    """What drifts from it is another drift."""
    (store,), (heard,) = workers(opened, url, 1)
    tell(store, CALM * 25 + ODD * 10)
    store.rebase()
    (again,), (heard_again,) = workers(opened, url, 1)
    tell(again, ODD * 25 + CALM * 10)
    assert (len(heard), len(heard_again)) == (1, 1)


ALARM = Alarm(what=Drifting.SCORES, row=100, at=NOW, before=0.1, now=0.9, p=1e-9, stability=2.0)


def test_of_many_that_would_tell_at_once_one_does(url):
    """Each process has connections of its own; the store lets one be the first."""
    databases = [Database(url, durability=Durability.PROCESS, busy=20.0) for _ in range(8)]
    databases[0].ready()
    start, first = threading.Barrier(len(databases)), []

    def claim(database):
        telling = Telling(database, {})
        telling.look(0)
        start.wait()
        first.append(telling.is_first(ALARM))

    threads = [threading.Thread(target=claim, args=(database,)) for database in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for database in databases:
        database.close()
    assert sorted(first) == [False] * 7 + [True]


def test_where_the_store_can_not_say_an_alarm_is_told(tmp_path, caplog):
    """Twice is better than never."""
    database = Database(f"sqlite:///{tmp_path}/answers.db", durability=Durability.PROCESS, busy=0.05)
    telling = Telling(database, {})
    telling.look(0)
    with database.writing():
        assert telling.is_first(ALARM)
    assert "may be told by several processes" in caplog.text
    database.close()


def test_a_new_reference_while_answers_come_costs_no_answer(opened, caplog):
    """Whoever sets it does so beside the thread that compares; every answer is still heard."""
    store, done = opened(drift=Drift(reference=50, window=20, step=1)), threading.Event()

    def again():
        while not done.is_set():
            store.rebase()

    thread = threading.Thread(target=again)
    thread.start()
    keep(store, *[0.1] * 2000)
    done.set()
    thread.join()
    assert caplog.text == ""
