"""The review page, served on a port of this machine and opened in a real browser where one is installed.

One server and one browser serve all tests of this folder; each test gets a store, and a browser's profile, of
its own. Playwright's synchronous side keeps an event loop running on this thread, so that it must be gone
before the tests of another folder begin: hence scope "package", and not "session".
"""

import shutil
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from groundwire.monitor import Monitor
from groundwire.review import Server, create_app
from groundwire.review.app_state import Settings
from groundwire.review.guard import cookie_name
from groundwire.review.sitting import Sittings

TOKEN = "the-token-of-the-tests"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# What a browser reports for an answer that is meant to be no 200.
EXPECTED = "Failed to load resource: the server responded with a status of"


@pytest.fixture(scope="package")
def chromium():
    """A running browser."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def app():
    """The application, whose store is each test's own."""
    return create_app(None, token=TOKEN)


@pytest.fixture(scope="package")
def site(app):
    """The URL of the application, served."""
    with Server(app, port=0) as server:
        yield server.url


@pytest.fixture(scope="package")
def empty(tmp_path_factory):
    """A store that is up to date and empty: to copy it is faster than to make one for each test."""
    path = tmp_path_factory.mktemp("review") / "empty.db"
    with Monitor(f"sqlite:///{path}", drift=None) as monitor:
        assert monitor.count() == 0
    return path


@pytest.fixture
def store(app, empty, tmp_path):
    """An empty monitor, which the application shows in this test."""
    shutil.copy(empty, tmp_path / "answers.db")
    with Monitor(f"sqlite:///{tmp_path}/answers.db", spool=tmp_path / "spool", drift=None) as monitor:
        app.state.monitor = monitor
        app.state.sittings = Sittings()
        app.state.settings = Settings(blind=True, reviewers=1, reserve=600.0)
        yield monitor
    app.state.monitor = None


@pytest.fixture
def stranger(app, store):
    """A client that shows no token."""
    return TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)


@pytest.fixture
def client(app, store):
    """A client that is signed in, and whose name is Ann."""
    known = TestClient(
        app, base_url="http://127.0.0.1", headers={"Authorization": f"Bearer {TOKEN}"}, follow_redirects=False
    )
    known.cookies.set("groundwire-reviewer", "Ann")
    return known


@pytest.fixture
def visit(chromium, site, store):
    """Opens pages of browsers that are signed in; ``name`` is the reviewer's, options are the browser's.

    When the test ends, nothing may have gone wrong on any of them: no error of a script, and nothing that the
    content security policy had to stop.
    """
    contexts, wrong = [], []

    def open_one(path=None, *, name="Ann", **options):
        context = chromium.new_context(
            base_url=site, **{"viewport": {"width": 1280, "height": 900}, **options}
        )
        context.set_default_timeout(10_000)
        contexts.append(context)
        cookies = {cookie_name(TOKEN): TOKEN, **({"groundwire-reviewer": quote(name)} if name else {})}
        context.add_cookies([{"name": key, "value": value, "url": site} for key, value in cookies.items()])
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "console",
            lambda said: (
                wrong.append(said.text)
                if said.type == "error" and not said.text.startswith(EXPECTED)
                else None
            ),
        )
        if path:
            page.goto(path)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def page(visit):
    """A page of a browser that is signed in, of the reviewer Ann."""
    return visit("/answers")
