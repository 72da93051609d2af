"""The README and the docs: every Python snippet runs, in order, in an application like its reader's."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from llama_index.core.chat_engine import ContextChatEngine
from llama_index_instrumentation import get_dispatcher

import groundwire as gw
from examples.handbook.app import PageRetriever, build, load_pages
from examples.handbook.replay import load_prepared, replaying_model
from examples.handbook_llama_index import app as llama_index_app
from examples.handbook_llama_index.replay import replaying_model as replaying_llm
from groundwire import config
from groundwire.config.judge import JudgeSettings
from groundwire.host.options import Common
from groundwire.langchain import HallucinationMiddleware, with_hallucination_check
from groundwire.langchain.options import Options as LangChainOptions
from groundwire.llama_index import CheckedQueryEngine
from groundwire.llama_index.options import Options as LlamaIndexOptions

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SKIPPED = "".join(
    f"[mypy-{package}.*]\nfollow_imports=skip\n"
    for package in (
        "langchain_core",
        "langchain",
        "llama_index",
        "langsmith",
        "numpy",
        "sklearn",
        "pydantic",
        "sqlalchemy",
    )
)
PRINTED = re.compile(r"\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


def readers_application():
    """What a snippet may take for granted: the handbook application, its parts, and something to ask it."""
    prepared = load_prepared()
    hallucinated = next(one for one in prepared if one.kind == "wrong-number")
    return {
        "__name__": "snippet",
        "chain": build(replaying_model()),
        "query_engine": llama_index_app.build(replaying_llm()),
        "streaming_engine": llama_index_app.build(replaying_llm(), streaming=True),
        "chat_engine": ContextChatEngine.from_defaults(
            llama_index_app.PageRetriever(llama_index_app.load_nodes()), llm=replaying_llm()
        ),
        "retriever": PageRetriever(pages=load_pages()),
        "question": hallucinated.question,
        "questions": [one.question for one in prepared],
        "passages": ["You may bring one bag of up to 8 kg.", "A second bag costs 25 EUR."],
        "answer": "A second bag costs 75 EUR.",
        "documents": [Document(page_content="A second bag costs 25 EUR.", id="bags")],
        "model": FakeListChatModel(responses=["A second bag costs 75 EUR."]),
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_snippet_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    """And prints what stands below it, where a tutorial says what it prints; tests that it shows pass."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(get_dispatcher(), "span_handlers", list(get_dispatcher().span_handlers))
    names = readers_application()
    monkeypatch.setitem(sys.modules, "my_application", SimpleNamespace(chain=names["chain"]))
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "questions.txt").write_text("\n".join(names["questions"]), encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    for match in SNIPPET.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        code = "\n" * (line - 1) + match[1]
        exec(compile(code, str(page), "exec"), names)  # the page's own words are what is under test
        for shown_test in re.findall(r"^def (test_\w+)", match[1], re.MULTILINE):
            names[shown_test]()
        printed = capsys.readouterr().out
        if page.parent.name == "tutorials" or page.stem == "index":
            shown = PRINTED.match(text, match.end())
            assert printed.strip() == (shown[1].strip() if shown else "")


def test_what_the_docs_write_is_of_the_types_that_groundwire_asks_for(tmp_path):
    """A reader's mypy takes the documented strings, keywords and imports."""
    api = pytest.importorskip("mypy.api", reason="needs mypy")
    for number, page in enumerate(PAGES):
        for match in SNIPPET.finditer(page.read_text(encoding="utf-8")):
            line = page.read_text(encoding="utf-8").count("\n", 0, match.start())
            (tmp_path / f"{page.stem.replace('-', '_')}_{number}_{line}.py").write_text(match[1])
    # A snippet takes names from those before it; what others' packages ask for isn't looked at, and is slow.
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nstrict=True\ndisable_error_code=name-defined\n" + SKIPPED)
    told, _, _ = api.run(
        ["--config-file", str(settings), "--cache-dir", str(tmp_path / "cache"), str(tmp_path)]
    )
    wrong = [
        line
        for line in told.splitlines()
        if re.search(
            r'incompatible type "(?:str|int|float|list[^"|]*|dict[^"|]*)"|call-arg|Module "groundwire', line
        )
    ]
    assert "[no-untyped-def]" in told  # it was read
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_of_a_page_leads_somewhere(page):
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []


def test_the_page_on_verdicts_explains_every_key_and_every_code():
    """A key of the dict, a support or a reason that readers meet is one that they can look up."""
    told = set(re.findall(r"`([\w-]+)`", (ROOT / "docs" / "verdict.md").read_text(encoding="utf-8")))
    wire = gw.check(contexts="The fee is 25 EUR.", answer="The fee is 75 EUR.").to_dict()
    assert set(wire) | set(wire["claims"][0]) <= told
    assert {str(one) for kind in (gw.AbstentionReason, gw.Support, gw.Level) for one in kind} <= told


@pytest.mark.parametrize(
    ("wrapper", "options"),
    [
        (with_hallucination_check, LangChainOptions),
        (CheckedQueryEngine, LlamaIndexOptions),
        (HallucinationMiddleware, Common),
    ],
)
def test_a_wrapper_s_docstring_names_every_option(wrapper, options):
    """Its signature says ``**options`` alone, which ``help`` and the reference show."""
    assert set(options.__annotations__) <= set(re.findall(r"``(\w+)``", wrapper.__doc__))


def test_the_page_on_settings_has_every_setting_and_shows_what_can_be_set():
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    shown = yaml.safe_load(example)
    assert set(re.findall(r"`(\w+)`", page)) >= set(config.Settings.model_fields)
    assert set(shown) == set(config.Settings.model_fields) - {"tuned"}
    assert set(shown["judge"]) == set(JudgeSettings.model_fields)
    assert config.load(shown).threshold == 0.5


def test_the_settings_that_the_page_shows_build_a_checker(monkeypatch, tmp_path):
    """As somebody does who copies them all and changes what differs; a port must be free for that."""
    pytest.importorskip("langchain_aws", reason="needs groundwire[aws]")
    pytest.importorskip("langfuse", reason="needs groundwire[langfuse]")
    pytest.importorskip("prometheus_client", reason="needs groundwire[prometheus]")
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "not-a-key")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "groundwire.yaml").write_text(example.replace("9464", "0"), encoding="utf-8")
    checker = gw.Checker.from_config("groundwire.yaml")
    assert [sink.name for sink in checker.sinks.all] == ["prometheus", "langfuse"]
    checker.sinks.all[0].close()
    checker.monitor.close()
