"""A story of 2,000 real answers: figures near the truth, drift alarmed in time, on the command line too."""

import json
import random

import pytest

from benchmarks.monitoring import BROKEN_FROM, DATA, story, truth
from groundwire.cli.main import main
from groundwire.monitor import Monitor
from groundwire.monitor.drift import Drifting


@pytest.mark.skipif(not (DATA / "eval").is_dir(), reason=f"the labelled answers are not in {DATA}")
@pytest.mark.timeout(600)
def test_the_story_of_2000_answers(tmp_path, capsys):
    url, alarms = f"sqlite:///{tmp_path}/story.db", []
    with Monitor(url, alerts=[alarms.append]) as monitor:
        monitor._random = random.Random(1)
        story(monitor, DATA)
        rows = list(monitor.rows())
    scores = [alarm for alarm in alarms if alarm.what is Drifting.SCORES]
    assert [BROKEN_FROM < alarm.row <= BROKEN_FROM + 200 for alarm in scores] == [True]
    assert all(alarm.row > BROKEN_FROM for alarm in alarms)

    assert main(["monitor", "--db", url, "--json"]) == 0
    quality = json.loads(capsys.readouterr().out)["figures"]["quality"]
    right = sum(truth(row) and row.outcome.hallucinated is True for row in rows)
    flagged = sum(row.outcome.hallucinated is True for row in rows)
    # Of a reviewer who errs once in 20, a few points beside the interval.
    for name, real in (("precision", right / flagged), ("recall", right / sum(map(truth, rows)))):
        assert quality[name]["low"] - 0.06 <= real <= quality[name]["high"] + 0.06, name
    assert main(["monitor", "drift", "--db", url]) == 1
    assert "hallucination scores drift" in capsys.readouterr().out
    assert main(["monitor", "--db", url, "--by", "set", "--every", "day", "--patterns"]) == 0
    assert "summeval" in capsys.readouterr().out
