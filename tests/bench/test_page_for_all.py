"""The page and its plots with many methods of long names: on a phone, in light and dark, and read aloud."""

import random
import re
import shutil
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe

from groundwire.bench import charts, page, report
from groundwire.bench.comparison import Contestant, compare
from tests.bench.answers import example, said
from tests.review.conftest import ARGUMENTS

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NAMES = [f"our-own-cross-encoder-with-a-name-of-many-words-{number:02}-as-of-2026" for number in range(14)]


def entered(name, apart):
    """A method that tells labels apart by so much, and takes as long as all others."""
    draw = random.Random(name)

    def run(examples, record, progress):
        for one in examples:
            score = min(1.0, max(0.0, draw.gauss(0.3 + apart * bool(one.label), 0.15)))
            yield replace(said(score, seconds=0.02), example=one)

    return Contestant(name=name, run=run)


@pytest.fixture(scope="module")
def told():
    """Of every quality, so that the heat map has all its colours."""
    answers = [example(n, label=n % 2 == 0, group=f"page {n // 2}") for n in range(60)]
    methods = [entered(name, 0.03 * number) for number, name in enumerate(NAMES)]
    return report.told(compare({"set": answers}, methods, rounds=5))


def test_labels_lie_in_their_plot_beside_their_dots_and_not_on_one_another(told):
    groups = re.findall(r'<g class="s\d" [^>]*>(.*?)</g>', charts.cost(told))
    assert len(groups) == len(NAMES)
    placed = []
    for group in groups:
        dot = float(re.search(r'cy="([^"]+)"', group)[1])
        label = re.search(r'class="label" x="([^"]+)" y="([^"]+)" text-anchor="(\w+)">([^<]+)', group)
        if label is None:
            continue
        x, y, size = float(label[1]), float(label[2]), 6.8 * len(label[4])
        start, end = (x - size, x) if label[3] == "end" else (x, x + size)
        assert 0 <= start < end <= charts.WIDTH
        assert 0 <= y <= charts.HEIGHT - 40
        assert abs(y - 4 - dot) < 40
        assert not any(abs(y - other) < 13 and start < b and a < end for other, a, b in placed)
        placed.append((y, start, end))
    assert len(placed) > 3


def test_a_long_name_is_whole_where_it_is_pointed_at_and_fits_where_it_is_read(told):
    plot = charts.alone(charts.of_set(told, "set")["scores"], told)
    shown = re.findall(r">([^<]*our-own[^<]*)</text>", plot)
    assert len(shown) == 2 * len(NAMES)
    assert len(set(shown)) >= len(NAMES), "names that differ at their end are told apart"
    assert max(map(len, shown)) <= 50
    assert f"<title>{NAMES[3]}</title>" in charts.roc(told, "set")


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_by_everybody_and_on_a_phone(told, scheme, tmp_path):
    from playwright.sync_api import sync_playwright

    (tmp_path / "report.html").write_text(page.render(told), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        shown = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 800}, bypass_csp=True)
        shown.goto((tmp_path / "report.html").as_uri())
        assert shown.evaluate("document.documentElement.scrollWidth") == 390
        found = Axe().run(shown)
        browser.close()
    assert not found.violations_count, found.generate_report()


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_its_tables_fit_on_paper(told, tmp_path):
    """Paper can't be scrolled: what does not fit would be lost."""
    from playwright.sync_api import sync_playwright

    (tmp_path / "report.html").write_text(page.render(told), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        shown = browser.new_page(viewport={"width": 718, "height": 1000})
        shown.goto((tmp_path / "report.html").as_uri())
        shown.emulate_media(media="print")
        assert shown.evaluate("document.documentElement.scrollWidth") == 718
        tables = shown.locator("table:visible").all()
        assert len(tables) == 3
        assert max(one.bounding_box()["width"] for one in tables) <= 718
        browser.close()
