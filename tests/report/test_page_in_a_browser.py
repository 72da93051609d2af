"""The page in a real browser, where one is installed."""

import base64
import hashlib
import shutil
import subprocess

import pytest

from groundwire.report import page
from tests.report.answers import plain, refund, unread
from tests.report.html import parse
from tests.report.test_page import PAYLOADS, hostile

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


def opened(tmp_path, text, *, then=""):
    """The page's tree after a browser has run it, and then the script ``then`` under the page's policy."""
    if then:
        digest = base64.b64encode(hashlib.sha256(then.encode()).digest()).decode()
        text = text.replace("script-src ", f"script-src &#39;sha256-{digest}&#39; ", 1)
        text = text.replace("</body>", f"<script>{then}</script></body>")
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update",
         f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri()],
        capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    return parse(done.stdout.decode())


def test_no_payload_runs(tmp_path):
    """With every payload in every field, the title is still the page's own."""
    root = opened(tmp_path, page.render([one for text in PAYLOADS for one in hostile(text)], title="mine"))
    assert root.one("head").one("title").text == "mine · groundwire"
    assert not list(root.all("img"))


def test_choosing_a_claim_shows_its_words_and_its_evidence(tmp_path):
    """The claim is pressed; its words and its quote are marked, and no other quote is."""
    then = "document.querySelector('.claims button').click()"
    card = opened(tmp_path, page.render([refund()]), then=then).one("article")
    assert [button.attrs["aria-pressed"] for button in card.all("button")] == ["true", "false"]
    assert card.one("mark", "contradicted").classes == ["contradicted", "on"]
    assert "on" in card.one("mark", "against").classes
    assert "on" not in card.one("mark", "for").classes


def test_filtering_and_searching_hide_what_does_not_match(tmp_path):
    """The chip of a level leaves that level; the count says how many are left."""
    entries = [refund(), plain(0.1), unread()]
    then = "document.querySelector('.chip.low').click()"
    root = opened(tmp_path, page.render(entries), then=then)
    shown = [card for card in root.all("article") if "hidden" not in card.attrs]
    assert [card.attrs["data-level"] for card in shown] == ["low"]
    assert root.one("p", "count").text == "1 of 3"
