"""The progress bar draws on a terminal's stderr and changes nothing else."""

import json
import os
import pty
import subprocess
import sys

from groundwire import Checker, Interaction
from groundwire.progress import track
from tests.cli.test_check import GROUNDED, ROOT
from tests.scripted import NovelWords


def test_the_items_pass_unchanged_and_nothing_is_drawn_without_a_terminal(capsys):
    """In a pipe or a log there is no bar, no escape sequence and no empty line."""
    assert list(track(iter(range(100)), total=100)) == list(range(100))
    assert capsys.readouterr() == ("", "")


def test_a_checker_draws_when_asked():
    """``check_many(progress=True)`` gives the same outcomes, still one by one."""
    asked = []

    def interactions():
        for answer in ("fee", "price"):
            asked.append(answer)
            yield Interaction(answer=answer, contexts="fee")

    outcomes = Checker(NovelWords()).check_many(interactions(), progress=True)
    assert next(outcomes).hallucinated is False
    assert asked == ["fee"]
    assert next(outcomes).hallucinated is True


def test_the_bar_is_on_stderr_alone():
    """With stdout in a pipe and stderr on a terminal, the bar goes to one and the data to the other."""
    leader, follower = pty.openpty()
    rows = "".join(json.dumps(GROUNDED) + "\n" for _ in range(50)).encode()
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.driver", "", "check", "-", "--detector", "novel-words", "--jsonl"],
        cwd=ROOT, input=rows, stdout=subprocess.PIPE, stderr=follower, timeout=60, check=False,
        env={**os.environ, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(follower)
    drawn = os.read(leader, 65_536).decode()
    os.close(leader)
    assert "checked" in drawn
    assert [json.loads(line)["row"]["line"] for line in done.stdout.splitlines()] == list(range(1, 51))
