"""Who is let in, from where, what may be sent, and what a browser is told."""

import asyncio
import logging
import socket
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from groundwire.core.errors import ConfigurationError
from groundwire.review import Server, create_app
from groundwire.review.guard import cookie_name
from groundwire.review.server import link_name, names
from tests.review.conftest import TOKEN
from tests.review.shown import bags, keep

HERE = "http://127.0.0.1"


def test_nobody_is_let_in_without_the_token(stranger):
    for path in ("/", "/review", "/answers", "/answers/count", "/dashboard", "/export", "/reviewer"):
        answer = stranger.get(path)
        assert answer.status_code == 401, path
        assert "groundwire review" in answer.text
    assert stranger.get("/", headers={"Authorization": "Bearer wrong"}).status_code == 401
    stranger.cookies.set(cookie_name(TOKEN), "wrong")
    assert stranger.get("/").status_code == 401


def test_nobody_reviews_without_the_token(stranger, store):
    (key,) = keep(store, bags())
    sent = stranger.post(f"/answers/{key}", data={"opinion": "agree"}, headers={"Origin": HERE})
    assert sent.status_code == 401
    assert store.feedback(key) == ()


def test_the_login_link_lets_a_browser_in(visit):
    """The cookie that it sets is out of a script's reach, and goes to no other site."""
    page = visit(name="")
    page.context.clear_cookies()
    assert page.goto("/answers").status == 401
    page.goto(f"/login?token={TOKEN}")
    page.wait_for_url("**/reviewer?**")
    assert page.get_by_role("link", name="Dashboard").is_visible()
    (cookie,) = (one for one in page.context.cookies() if one["name"] == cookie_name(TOKEN))
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""
    assert page.goto("/answers").status == 200


def test_the_token_can_be_pasted_and_forgotten(stranger):
    wrong = stranger.post("/login", data={"token": "no"}, headers={"Origin": HERE})
    assert (wrong.status_code, "not the token" in wrong.text) == (401, True)
    right = stranger.post("/login", data={"token": f" {TOKEN} "}, headers={"Origin": HERE})
    assert right.status_code == 200
    assert stranger.get("/answers").status_code == 200
    stranger.post("/logout", headers={"Origin": HERE})
    assert stranger.get("/answers").status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80"])
def test_other_names_are_not_answered(stranger, host):
    """A name that somebody makes resolve to this machine gets nothing, whatever it sends."""
    answer = stranger.get(f"/login?token={TOKEN}", headers={"Host": host})
    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "host", ["127.0.0.1:1/login?x=", "127.0.0.1:80/static/x#", "localhost:/static/", "127.0.0.1:1\\login"]
)
def test_a_host_with_a_path_opens_nothing(site, store, host):
    """Starlette 1.0 took the address of a request apart with its host, so that this was /login."""
    keep(store, bags())
    address = urlsplit(site)
    sent = f"GET /export?form=jsonl HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=10) as raw:
        raw.sendall(sent.encode())
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert answer.split()[1] in {b"400", b"401"}
    assert b"bag" not in answer


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:1", "[::1]:8765"])
def test_the_names_of_this_machine_are_answered(client, host):
    assert client.get("/answers", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": HERE},
    ],
)
def test_what_another_site_sends_is_refused(client, stranger, store, headers):
    """Another port of this machine is another site; a cookie, and even the token, changes nothing."""
    (key,) = keep(store, bags())
    stranger.cookies.set(cookie_name(TOKEN), TOKEN)
    for one in (client, stranger):
        for path in (
            f"/answers/{key}",
            f"/answers/{key}/undo",
            f"/answers/{key}/later",
            "/reviewer",
            "/logout",
        ):
            assert one.post(path, data={"opinion": "agree"}, headers=headers).status_code == 403, path
    assert store.feedback(key) == ()


def test_a_cookie_alone_does_not_say_where_a_request_comes_from(stranger, client, store):
    """A browser always says; a program that shows the token need not."""
    (key,) = keep(store, bags())
    stranger.cookies.set(cookie_name(TOKEN), TOKEN)
    stranger.cookies.set("groundwire-reviewer", "Ann")
    data = {"opinion": "agree"}
    assert stranger.post(f"/answers/{key}", data=data).status_code == 403
    assert client.post(f"/answers/{key}", data=data).status_code == 303
    assert stranger.post(f"/answers/{key}", data=data, headers={"Origin": HERE}).status_code == 303


def test_reading_may_begin_anywhere(stranger):
    """A link on another site leads here; the cookie, being strict, does not come along from there."""
    stranger.cookies.set(cookie_name(TOKEN), TOKEN)
    assert stranger.get("/answers", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/answers", "/nothing", "/login", "/static/review.css", "/export"])
@pytest.mark.parametrize("host", ["127.0.0.1", "evil.example"])
def test_every_answer_tells_the_browser_to_be_careful(client, path, host):
    """Refusals too."""
    headers = client.get(path, headers={"Host": host}).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"


def test_a_form_that_is_too_large_is_refused(client, store):
    (key,) = keep(store, bags())
    large = {"opinion": "agree", "note": "x" * 1_200_000}
    assert client.post(f"/answers/{key}", data=large).status_code == 413

    for length in ("²", "9" * 5000, "-1", ""):
        headers = {"Content-Length": length.encode("latin-1")}
        assert client.post(f"/answers/{key}", content=b"", headers=headers).status_code == 413

    def unmeasured():
        yield b"opinion=agree&note="
        for _ in range(1200):
            yield b"x" * 1000

    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post(f"/answers/{key}", content=unmeasured(), headers=form).status_code == 413
    assert store.feedback(key) == ()


def test_a_browser_that_hangs_up_while_it_sends_keeps_nothing_and_is_no_error(app, store):
    """An error would fill the terminal of whoever serves the page, for every tab that is closed too early."""
    (key,) = keep(store, bags())
    messages = iter(
        [
            {"type": "http.request", "body": b"opinion=agree&no", "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    sent = []

    async def receive():
        return next(messages)

    async def send(message):
        sent.append(message["type"])

    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/answers/{key}",
        "query_string": b"",
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"authorization", f"Bearer {TOKEN}".encode()),
            (b"cookie", b"groundwire-reviewer=Ann"),
            (b"content-type", b"application/x-www-form-urlencoded"),
        ],
    }
    with ThreadPoolExecutor() as elsewhere:  # a browser of other tests keeps a loop on this thread
        elsewhere.submit(asyncio.run, app(scope, receive, send)).result()
    assert "http.response.start" in sent
    assert store.feedback(key) == ()


def test_going_back_leads_nowhere_else(client):
    """Whatever a link says where to go after signing in, it is a page of this site."""
    for path in ("https://evil.example", "//evil.example", "/\\evil.example", "\t//evil.example", "evil"):
        answer = client.post("/reviewer", data={"reviewer": "Ann", "back": path})
        assert answer.headers["location"] == "/review", path
    assert client.post("/reviewer", data={"reviewer": "Ann", "back": "/answers?text=a"}).headers[
        "location"
    ] == ("/answers?text=a")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_other_machines_are_let_in_only_if_that_is_said(app, host):
    with pytest.raises(ConfigurationError, match="--allow-remote"):
        Server(app, host=host, port=0)


def test_a_page_for_all_networks_needs_a_name():
    with pytest.raises(ConfigurationError, match="--trusted-host"):
        names("0.0.0.0", (), allow_remote=True)
    assert names("0.0.0.0", ("review.example",), allow_remote=True) == ["review.example"]
    assert names("192.168.1.5", (), allow_remote=True) == ["192.168.1.5"]
    assert names("127.0.0.1", (), allow_remote=False) == []


def test_the_link_has_a_name_that_is_answered(app):
    """0.0.0.0 is listened on, and is nobody's name."""
    assert link_name("0.0.0.0", ["*.example", "review.example"]) == "review.example"
    assert link_name("::", ["*.example"]) is link_name("127.0.0.1", ["review.example"]) is None
    server = Server(app, host="127.0.0.1", port=0)
    assert server.url_at("review.example") == server.url.replace("127.0.0.1", "review.example")
    server._socket.close()


def test_a_short_token_is_refused():
    with pytest.raises(ConfigurationError, match="16 characters"):
        create_app(None, token="short")


@pytest.mark.parametrize("host", ["review.example.org:8443", "fo*o", "https://review.example.org", ""])
def test_a_name_that_no_request_could_have_is_refused(host):
    with pytest.raises(ConfigurationError, match="hosts must be names without a port"):
        create_app(None, token=TOKEN, hosts=[host])
    create_app(None, token=TOKEN, hosts=["review.example.org", "*.example.org", "[2001:db8::1]", "10.0.0.7"])


def test_the_logging_of_the_application_around_it_is_left_alone(app, tmp_path):
    """No handler of theirs is closed, no logger gets another level, and no log gets the token."""
    written = tmp_path / "app.log"
    handler = logging.FileHandler(written, mode="w")
    root, theirs = logging.getLogger(), logging.getLogger("uvicorn.access")
    level, before = root.level, (theirs.level, theirs.propagate, list(theirs.handlers))
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with Server(app, port=0) as server:
            visitor = HTTPConnection(urlsplit(server.url).netloc)
            visitor.request("GET", f"/login?token={TOKEN}")
            assert visitor.getresponse().status < 400
            visitor.close()
            upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
            visitor.request("GET", f"/login?token={TOKEN}", headers=upgrade | {"Sec-WebSocket-Key": "a" * 24})
            visitor.getresponse()
            visitor.close()
            logging.getLogger("theirs").info("still heard")
        logging.getLogger("theirs").info("and afterwards")
        assert (theirs.level, theirs.propagate, list(theirs.handlers)) == before
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()
    heard = written.read_text()
    assert "still heard\n" in heard
    assert "and afterwards\n" in heard
    assert TOKEN not in heard
