"""Runs the command in a process of its own: with scripted detectors, and without chosen packages."""

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from groundwire import detectors
from groundwire.cli.main import main
from tests.scripted import NovelWords


@dataclass(frozen=True, kw_only=True)
class Interrupted(NovelWords):
    """Ctrl-C is pressed while the answer 'stop' is judged."""

    def detect(self, interaction):
        if interaction.answer == "stop":
            raise KeyboardInterrupt
        return super().detect(interaction)


@dataclass(frozen=True, kw_only=True)
class Broken(NovelWords):
    """A detector with a mistake in it."""

    def detect(self, interaction):
        raise ZeroDivisionError


@dataclass(frozen=True, kw_only=True)
class Terminated(NovelWords):
    """The process is ended from outside while the answer 'stop' is judged."""

    def detect(self, interaction):
        if interaction.answer == "stop":
            os.kill(os.getpid(), signal.SIGTERM)
        return super().detect(interaction)


@dataclass(frozen=True, kw_only=True)
class Emptying(NovelWords):
    """While it judges, another program empties a table, as one that rotates logs does."""

    def detect(self, interaction):
        Path("later.jsonl").write_text("", encoding="utf-8")
        return super().detect(interaction)


def register():
    """Make the scripted detectors known by name, as the built-in ones are."""
    detectors._REGISTERED["novel-words"] = "tests.scripted:NovelWords"
    detectors._REGISTERED["interrupted"] = "tests.cli.driver:Interrupted"
    detectors._REGISTERED["terminated"] = "tests.cli.driver:Terminated"
    detectors._REGISTERED["emptying"] = "tests.cli.driver:Emptying"
    detectors._REGISTERED["broken"] = "tests.cli.driver:Broken"


if __name__ == "__main__":
    for package in filter(None, sys.argv[1].split(",")):
        sys.modules[package] = None
    register()
    sys.exit(main(sys.argv[2:]))
