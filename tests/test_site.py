"""The documentation site's own parts: links, navigation, reference, notebooks."""

import re

import nbformat
import pytest
import yaml

from documentation import check, links, notebooks, reference
from documentation.run_notebooks import ran

ROOT = links.ROOT
NOTEBOOKS = sorted((ROOT / links.NOTEBOOKS).glob("*.ipynb"))
YAML = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_a_link_leads_to_the_same_file_from_its_place_in_the_site():
    """Inside docs/, out of it, back into it, with an anchor, to a folder; hosts and code stay as they are."""
    text = (
        "[a](judge.md#memory) [b](../benchmarks/RESULTS.md) [c](../examples/judges/bedrock.py) "
        "[d](decisions/) [e](https://example.org/x.md) [f](#here)\n```text\n[g](../README.md)\n```\n"
        "[h](../README.md)\n"
    )
    found = links.rewritten(text, "docs/langchain.md")
    assert found == (
        "[a](judge.md#memory) [b](repository/benchmarks/RESULTS.md) "
        "[c](repository/examples/judges/bedrock.py.md) [d](decisions/README.md) "
        "[e](https://example.org/x.md) [f](#here)\n```text\n[g](../README.md)\n```\n"
        "[h](repository/README.md)\n"
    )
    assert links.rewritten("[x](docs/cli.md)", "README.md") == "[x](../cli.md)"
    assert links.rewritten("[x](../../docs/cli.md)", "examples/notebooks/langchain.ipynb") == "[x](../cli.md)"
    assert links.rewritten("[x](nowhere.md)", "docs/cli.md") == "[x](nowhere.md)"


def test_a_link_to_a_folder_leads_to_one_that_the_site_has():
    """A folder without a page of its own is left as it is, which the strict build lets pass."""
    pages = [ROOT / "README.md", ROOT / "examples" / "README.md", *ROOT.glob("docs/**/*.md")]
    found = [
        (page.relative_to(ROOT).as_posix(), target)
        for page in pages
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
        if (page.parent / target).is_dir()
        and f"]({target})" == links.rewritten(f"]({target})", page.relative_to(ROOT).as_posix())
    ]
    assert found == []


def test_a_pattern_takes_the_pages_that_nothing_names():
    hooks = pytest.importorskip("documentation.hooks", reason="mkdocs is not installed")
    nav = ["index.md", {"How": ["cli.md", {"Deep": ["decisions/*"]}, "*"]}]
    pages = ["index.md", "new.md", "cli.md", "decisions/1.md", "reference/x.md"]
    assert hooks.placed(nav, pages) == [
        "index.md",
        {"How": ["cli.md", {"Deep": ["decisions/1.md"]}, "new.md"]},
    ]


def test_the_reference_has_every_public_room_and_what_pages_import():
    pages = reference.pages(reference.documentation(ROOT))
    for room in (
        "langchain",
        "llama_index",
        "detectors",
        "judge",
        "bench",
        "monitor",
        "testing",
        "tracing",
        "report",
    ):
        assert f"groundwire.{room}" in pages
    assert "::: groundwire.Checker\n" in pages["groundwire"]
    assert "::: groundwire.langchain.GroundwireCallbackHandler\n" in pages["groundwire.langchain"]
    assert "heading: groundwire.detectors.Lexical\n" in pages["groundwire.detectors"]
    assert "::: groundwire.judge.limits.Limits\n" in pages["groundwire.judge"]


def test_an_entry_shows_what_its_users_call_though_another_class_defines_it():
    """A handler's ``flush`` and ``outcomes`` are inherited; what every detector inherits is shown once."""
    pages = reference.pages(reference.documentation(ROOT))
    told = "heading: {}\n      heading_level: 2\n      inherited_members: {}\n"
    assert (
        told.format("groundwire.langchain.GroundwireCallbackHandler", "true") in pages["groundwire.langchain"]
    )
    assert told.format("groundwire.detectors.Lexical", "false") in pages["groundwire.detectors"]


@pytest.mark.parametrize(
    ("html", "loaded"),
    [
        ('<script src="https://cdn.example/x.js"></script>', ["https://cdn.example/x.js"]),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', ["//fonts.example/x.css"]),
        ('<p style="background:url(https://x.example/a.png)">', ["https://x.example/a.png"]),
        ('<a href="https://example.org">x</a><script src="a.js"></script><img src="b.png">', []),
    ],
)
def test_what_a_page_loads_from_elsewhere_is_found(html, loaded, tmp_path):
    (tmp_path / "index.html").write_text(html)
    assert [one for _, one in check.fetched(tmp_path)] == loaded


@pytest.mark.parametrize(
    "page", [one for one in (ROOT / "docs").rglob("*.md") if "```yaml" in one.read_text()]
)
def test_every_yaml_block_can_be_read(page):
    for block in YAML.findall(page.read_text(encoding="utf-8")):
        assert yaml.safe_load(block)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_shows_when_it_is_run(path):
    """Run in a fresh kernel of this Python, each cell gives the outputs that are stored with it."""
    stored = nbformat.read(path, as_version=4)
    assert nbformat.writes(ran(path)) == nbformat.writes(stored)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_s_outcomes_are_on_its_page(path):
    page = notebooks.markdown(path.read_text(encoding="utf-8"))
    assert page.count('<div class="output">') == 3
    assert "NOT JUDGED" in page
