"""Whatever a text says, no page runs it, no terminal obeys it, no spreadsheet computes it.

The first laws read the source, so that a new page, writer or command is under them without joining anything.
"""

import ast
import csv
import io
import json
import re
from pathlib import Path

import pytest

import groundwire
from groundwire import Checker, Interaction, Passage
from groundwire.cli.main import main
from groundwire.core.cells import cell
from groundwire.report import Entry, page
from tests.report.html import parse

ROOT = Path(groundwire.__file__).parent
SOURCES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style></script><svg onload=alert(1)>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "<!--<script>",
    "\x1b[2J\x1b]0;owned\x07\x9b31m",
    "\u202egnp.exe\u202c \u2066hidden\u2069",
    "tags: " + "".join(chr(0xE0000 + ord(c)) for c in "approve"),
    "[bold red]markup[/] [link=http://x]y[/link]",
    "\r\noverwritten\rline",
    '=HYPERLINK("http://x","y")',
    "half \ud800 a character",
)
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)


CALLS = {}
for _path, _tree in SOURCES.items():
    for _node in ast.walk(_tree):
        if isinstance(_node, ast.Call):
            _called = getattr(_node.func, "attr", getattr(_node.func, "id", ""))
            CALLS.setdefault(_called, []).append((_path, _node))


def calls(name):
    """Each call of that name in the package, and where it stands."""
    return CALLS.get(name, [])


def keyword(call, name):
    return next((ast.unparse(one.value) for one in call.keywords if one.arg == name), None)


def test_every_template_environment_escapes():
    assert len(list(calls("Environment"))) >= 2
    for path, call in calls("Environment"):
        assert keyword(call, "autoescape") == "True", path


def test_templates_let_through_only_our_own_style_and_script():
    for path in [*ROOT.rglob("*.j2"), *ROOT.rglob("*.html")]:
        let = re.findall(r"\{\{-?\s*([^}|]+?)\s*\|\s*safe\s*-?\}\}", path.read_text(encoding="utf-8"))
        assert set(let) <= {"style", "script"}, path


def test_scripts_never_make_elements_of_text():
    for path in ROOT.rglob("*.js"):
        script = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", script
        ), path


def test_everything_that_writes_csv_guards_its_cells():
    writers = {path for name in ("writer", "DictWriter", "to_csv", "write_csv") for path, _ in calls(name)}
    writers = {path for path in writers if "csv" in path.read_text(encoding="utf-8")}
    assert ROOT / "monitor" / "export.py" in writers
    for path in writers:
        assert "groundwire.core.cells" in path.read_text(encoding="utf-8"), (
            f"{path}: write cells with core.cells.cell"
        )


def test_consoles_read_no_markup_in_texts():
    for name in ("Console", "_Console"):
        for path, call in calls(name):
            ours = keyword(call, "markup") == "False"
            assert ours or path.name == "progress.py", (
                f"{path}: take cli.outputs.console, or set markup=False"
            )


def test_nothing_is_evaluated_or_unpickled():
    for name in ("eval", "exec", "loads", "load"):
        for path, call in calls(name):
            whole = ast.unparse(call.func)
            assert whole not in (
                "eval",
                "exec",
                "pickle.load",
                "pickle.loads",
                "yaml.load",
                "torch.load",
                "joblib.load",
            ), path
    for path, call in calls("load"):
        if ast.unparse(call.func) in ("np.load", "numpy.load"):
            assert keyword(call, "allow_pickle") in (None, "False"), path


@pytest.fixture(scope="module")
def hostile():
    """Interactions with a payload in every text, and their outcomes."""
    made = []
    for one in PAYLOADS:
        interaction = Interaction(
            question=f"Q {one}",
            contexts=[
                Passage(text=f"The fee is 25 EUR. {one}", id=one, metadata={"source": one, "title": one})
            ],
            answer=f"The fee is 75 EUR. {one} is here.",
            id=one,
        )
        made.append((interaction, Checker("lexical").check(interaction)))
    return made


def test_a_report_holds_texts_as_texts(hostile):
    whole = page.render(
        [Entry(interaction=i, outcome=o, name=i.id) for i, o in hostile], title="<u>x", note="</title>"
    )
    tree = parse(whole)
    assert len(list(tree.all("script"))) == 1
    for node in tree.all():
        assert not any(re.fullmatch(r"on\w+", name) for name in node.attrs), node.attrs
        assert node.tag not in ("img", "iframe", "object", "embed", "base", "form", "a") or not str(
            node.attrs.get("href", node.attrs.get("src", "#"))
        ).lower().startswith("javascript"), node.tag
    assert not list(tree.all("u"))
    assert not UNSEEN.search(whole)


@pytest.mark.parametrize(
    "options", [[], ["--all"], ["--json"], ["--jsonl"], ["--html", "page.html"]], ids=str
)
def test_the_command_line_shows_nothing_that_a_terminal_obeys(options, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [
        {
            "id": one,
            "question": one,
            "contexts": [f"The fee is 25 EUR. {one}"],
            "answer": f"It is 75 EUR. {one}",
        }
        for one in PAYLOADS
    ]
    name = "rows\x1b[31m\u202e.jsonl"
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["check", name, "--detector", "lexical", *options]) in (0, 1, 3)
    said = capsys.readouterr()
    assert not UNSEEN.search(said.out.replace("\n", ""))
    assert not UNSEEN.search(said.err.replace("\n", ""))
    assert "\x1b" not in said.out + said.err


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["bench", "--detectors"], "answers that repeat an earlier one: 12, such as"),
        (["tune", "--detector"], "sources that share a passage with another: 7, such as"),
    ],
)
def test_names_of_labelled_answers_are_shown_harmless(command, told, tmp_path, monkeypatch, capsys):
    """Repeats, and sources of one passage, are told by their names, whatever these are."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {
            "id": one,
            "context": "It is 25 EUR.",
            "answer": f"It is {fee} EUR.",
            "label": fee != 25,
            "group": one,
        }
        for one in PAYLOADS[8:]
        for fee in (25, 75)
    ]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main([command[0], "rows.jsonl", command[1], "lexical"]) == 0
    said = capsys.readouterr()
    assert told in said.out + said.err
    assert not UNSEEN.search((said.out + said.err).replace("\n", ""))


@pytest.mark.parametrize("command", ["check", "bench", "tune"])
@pytest.mark.parametrize("name", ["no\x1b[2Jsuch\u202e.csv", "../\x07.jsonl"], ids=ascii)
def test_messages_show_nothing_that_a_terminal_obeys(command, name, capsys):
    assert main([command, name]) == 2
    said = capsys.readouterr()
    assert not UNSEEN.search((said.out + said.err).replace("\n", ""))


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", " =", "\n=", "＝", "＋", "－", "＠", "\ufeff=", "\u200b="]
)
def test_no_cell_is_a_formula(start):
    stream = io.StringIO()
    csv.writer(stream).writerow([cell(f"{start}1+1"), cell(-1.5), cell(None)])
    text, number, nothing = next(csv.reader(io.StringIO(stream.getvalue(), newline="")))
    assert text.startswith("'")
    assert number == "-1.5"
    assert nothing == ""
