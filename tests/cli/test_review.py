"""``groundwire review``: what it serves, what it prints, and what it says to mistakes."""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from groundwire.cli.main import main
from groundwire.monitor import Monitor
from tests.monitor.told import keep

PAGE = (Path(__file__).parents[2] / "docs" / "review.md").read_text(encoding="utf-8")


@pytest.fixture
def url(tmp_path):
    with Monitor(f"sqlite:///{tmp_path}/kept.db", drift=None) as monitor:
        keep(monitor, 0.9, 0.1)
    return f"sqlite:///{tmp_path}/kept.db"


def test_it_prints_a_link_that_signs_in_and_ends_with_ctrl_c(url, tmp_path):
    """The link is all of stdout; without it the page is shut."""
    served = subprocess.Popen(
        [sys.executable, "-m", "groundwire", "review", "--db", url, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        cwd=tmp_path,
    )
    try:
        link = served.stdout.readline().strip()
        found = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/login\?token=([\w-]{32,})", link)
        with urllib.request.urlopen(link, timeout=30) as answer:
            assert "Signed in" in answer.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{found[1]}/answers", timeout=30)
        known = urllib.request.Request(f"{found[1]}/answers", headers={"Authorization": f"Bearer {found[2]}"})
        with urllib.request.urlopen(known, timeout=30) as answer:
            assert "What does bag 1 cost?" in answer.read().decode()
        served.send_signal(signal.SIGINT)
        out, err = served.communicate(timeout=30)
        assert (served.returncode, out) == (130, "")
        assert "2 answers are kept" in err
        assert "Traceback" not in err
    finally:
        served.kill()
        served.wait()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "--allow-remote"),
        (["--host", "0.0.0.0", "--allow-remote"], "--trusted-host"),
        (["--db", "sqlite:///nowhere/at/all.db"], "no such database"),
        (["--reviewers", "0"], "reviewers must be"),
        (["--reserve", "-1"], "reserve must be"),
        (["--port", "99999"], "port must be"),
        (["--host", "203.0.113.1", "--allow-remote"], "can't listen on 203.0.113.1"),
    ],
)
def test_mistakes_are_named(url, capsys, arguments, said):
    given = [] if "--db" in arguments else ["--db", url]
    assert main(["review", *given, *arguments]) == 2
    assert said in capsys.readouterr().err


def test_no_link_leads_to_a_database_that_can_not_be_opened(capsys):
    assert main(["review", "--db", "postgresql://nobody@127.0.0.1:9/nothing"]) == 2
    out, err = capsys.readouterr()
    assert (out, "Connection refused" in err) == ("", True)


def test_the_page_tells_of_every_option(capsys):
    with pytest.raises(SystemExit):
        main(["review", "--help"])
    option = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")
    told = set(option.findall(PAGE))
    assert set(option.findall(capsys.readouterr().out)) - {"--help"} <= told
