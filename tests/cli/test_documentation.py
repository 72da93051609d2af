"""docs/cli.md tells of every option and every exit code, and of none that doesn't exist."""

import re
from pathlib import Path

import pytest

from groundwire.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


@pytest.fixture
def help_text(capsys):
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    return capsys.readouterr().out


def test_the_options_are_those_of_the_command(help_text):
    """Neither the page nor the command has an option that the other lacks."""
    option = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")
    assert set(option.findall(PAGE)) == set(option.findall(help_text)) - {"--help"}


def test_the_exit_codes_are_those_of_the_command(help_text):
    """The table and the help list the same codes, in the same order."""
    in_page = re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)
    in_help = re.findall(r"^  (\d+) {2,}", help_text, re.MULTILINE)
    assert in_page == in_help == ["0", "1", "2", "3", "130", "141"]
