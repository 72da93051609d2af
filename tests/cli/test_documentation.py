"""docs/cli.md tells of each option and exit code, and of none that is not there; its first steps work."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from groundwire.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


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


def typed(commands, folder):
    """What a shell answers to commands in an empty folder: its exit code, output and errors."""
    shell = f'groundwire() {{ "{sys.executable}" -m groundwire "$@"; }}\n{commands}'
    environment = {**os.environ, "COLUMNS": "100", "PYTHONUTF8": "1"}
    ran = subprocess.run(["bash", "-c", shell], cwd=folder, env=environment, capture_output=True, check=False)
    return ran.returncode, ran.stdout.decode(), ran.stderr.decode()


def test_the_first_steps_of_the_page_print_what_it_shows(tmp_path):
    """They make the table that they judge."""
    commands, shown = re.findall(r"```(?:sh|text)\n(.*?)```", PAGE, re.DOTALL)[:2]
    code, out, err = typed(commands, tmp_path)
    assert (code, err) == (1, "")
    assert out.partition("\n\n")[0] == shown.rstrip()


def test_the_first_steps_of_the_readme_work(tmp_path):
    """All that ask no model, one after another."""
    block = README.partition("## Check a file of answers")[2].partition("```console\n")[2].partition("```")[0]
    commands = [line.removeprefix("$ ") for line in block.splitlines() if "--model" not in line]
    _, out, err = typed("\n".join(commands), tmp_path)
    assert [line.rpartition(":")[2] for line in err.splitlines()[:1]] == [" report.html"]
    assert out.count("1 hallucinated") == 1
    assert {path.name for path in tmp_path.iterdir()} >= {"report.html", "runs.csv", "answers.jsonl"}
    assert '"hallucinated": true' in (tmp_path / "verdicts.jsonl").read_text(encoding="utf-8")
