"""The page as it is printed, in a real browser where one is installed."""

import shutil

import pytest

from groundwire.report import page
from tests.report.answers import plain
from tests.review.conftest import ARGUMENTS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

COLOUR = "one => getComputedStyle(one).color"
BACKGROUND = "one => getComputedStyle(one).backgroundColor"
WIDER = "[...document.querySelectorAll('.columns')].filter(one => one.scrollWidth > one.clientWidth).length"


def test_it_is_printed_in_ink_on_white_and_whole(tmp_path):
    """Also for who reads it in the dark; wide tables break their lines, since paper can't be scrolled."""
    from playwright.sync_api import sync_playwright

    table = f"| zone | {'what it is about | ' * 20}\n|---|---|\n| A | 75 EUR |"
    (tmp_path / "report.html").write_text(page.render([plain(0.9, answer=table)]), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        shown = browser.new_page(color_scheme="dark", viewport={"width": 718, "height": 1000})
        shown.goto((tmp_path / "report.html").as_uri())
        assert shown.locator("h1").evaluate(COLOUR) == "rgb(231, 231, 228)"
        assert shown.evaluate(WIDER) == 1
        shown.emulate_media(media="print", color_scheme="dark")
        assert shown.locator("h1").evaluate(COLOUR) == "rgb(28, 29, 31)"
        assert shown.locator(".card").first.evaluate(BACKGROUND) == "rgb(255, 255, 255)"
        assert shown.locator("#bar").is_hidden()
        assert shown.evaluate(WIDER) == 0
        browser.close()
