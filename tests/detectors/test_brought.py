"""Detectors that other packages bring: real distributions on the path, found by their entry points."""

import json
from textwrap import dedent

import pytest

import groundwire as gw
from groundwire import detectors
from groundwire.cli.main import main
from groundwire.core.errors import ConfigurationError
from groundwire.detectors import brought

MODULE = """
    from dataclasses import dataclass
    from typing import ClassVar

    import groundwire as gw


    @dataclass(frozen=True, kw_only=True)
    class NamesASource(gw.Detector):
        name: ClassVar[str] = "names-a-source"
        version: ClassVar[str] = "1"

        mark: str = "[1]"

        def detect(self, interaction):
            yield from ()
            score = 0.0 if self.mark in interaction.answer else 1.0
            return gw.Verdict.graded(score, self.grading, detector=self.spec)


    class Unrelated:
        pass


    class Nameless(gw.Detector):
        pass
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a package on the path, as pip would leave it, with one entry point."""

    def put(package, point):
        module = package.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(dedent(MODULE), encoding="utf-8")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[groundwire.detectors]\n{point}\n")

    monkeypatch.syspath_prepend(str(tmp_path))
    return put


@pytest.fixture
def acme(install):
    install("acme-checks", "names-a-source = acme_checks:NamesASource")


def answer(text):
    return gw.Interaction(answer=text, contexts="A second bag costs 25 EUR.")


@pytest.mark.usefixtures("acme")
def test_a_package_s_detector_is_known_by_its_name():
    """In a checker, in settings with its parameters, and inside another detector."""
    checker = gw.Checker("names-a-source")
    assert checker.check(answer("It costs 25 EUR.")).hallucinated
    assert not checker.check(answer("It costs 25 EUR [1].")).hallucinated
    marked = gw.Checker.from_config({"detector": {"name": "names-a-source", "mark": "(a)"}})
    assert not marked.check(answer("It costs 25 EUR (a).")).hallucinated
    stages = [{"detector": "names-a-source"}]
    nested = gw.Checker.from_config({"detector": {"name": "cascade", "stages": stages}})
    assert nested.check(answer("It costs 25 EUR.")).hallucinated
    with pytest.raises(ConfigurationError, match=r"detector: .*'marks'"):
        gw.Checker.from_config({"detector": {"name": "names-a-source", "marks": "(a)"}})


@pytest.mark.usefixtures("acme")
def test_the_command_line_lists_it_and_judges_by_it(capsys, tmp_path):
    """Beside our own, with the package that it is from."""
    assert main(("detectors",)) == 0
    assert "names-a-source\n  Brought by the package 'acme-checks'." in capsys.readouterr().out
    assert main(("detectors", "--json")) == 0
    assert {"name": "names-a-source", "package": "acme-checks"} in json.loads(capsys.readouterr().out)
    table = tmp_path / "answers.jsonl"
    table.write_text(json.dumps({"answer": "It costs 25 EUR.", "contexts": ["It costs 25 EUR."]}))
    assert main(("check", str(table), "--detector", "names-a-source")) == 1
    assert "1 hallucinated" in capsys.readouterr().out


@pytest.mark.usefixtures("acme")
def test_a_misspelt_name_is_answered_with_it():
    """And what is installed beside it is named."""
    with pytest.raises(
        ConfigurationError, match=r"did you mean 'names-a-source'\? Expected one of .*lexical"
    ):
        detectors.get("names-a-sauce")


def test_no_package_takes_a_name_of_ours(install):
    """What is installed changes nothing of what a setting means."""
    install("acme-checks", "lexical = acme_checks:NamesASource")
    assert detectors.get("lexical").__module__ == "groundwire.detectors.lexical"


def test_none_is_there_where_none_is_installed():
    assert brought.get("names-a-source") is None
    assert "names-a-source" not in brought.packages()


@pytest.mark.parametrize(
    ("point", "told"),
    [
        ("gone = acme_checks:Gone", "acme_checks:Gone can't be imported: AttributeError"),
        ("gone = acme_gone:Gone", "acme_gone:Gone can't be imported: ModuleNotFoundError"),
        ("other = acme_checks:Unrelated", "is no subclass of groundwire.Detector"),
        ("nameless = acme_checks:Nameless", "its class is named None"),
        ("another-name = acme_checks:NamesASource", "its class is named 'names-a-source'"),
    ],
)
def test_what_cannot_be_used_is_named(install, point, told):
    """With the package that brought it."""
    install("acme-checks", point)
    with pytest.raises(ConfigurationError, match=f"of the package 'acme-checks': .*{told}"):
        detectors.get(point.split(" ")[0])


def test_two_packages_with_one_name_are_refused(install):
    """Which one was meant can't be told."""
    install("acme-checks", "names-a-source = acme_checks:NamesASource")
    install("other-checks", "names-a-source = other_checks:NamesASource")
    with pytest.raises(ConfigurationError, match=r"is brought twice, by acme_checks:.* and other_checks:"):
        detectors.get("names-a-source")
