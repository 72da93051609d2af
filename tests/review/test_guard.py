"""Who is let in, from where, and what a browser is told."""

import pytest

from tests.review.conftest import TOKEN


def test_nobody_is_let_in_without_the_token(stranger):
    for path in ("/", "/review", "/answers", "/dashboard", "/export"):
        assert stranger.get(path).status_code == 401
    assert stranger.get("/", headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_the_login_link_lets_a_browser_in(visit, site):
    page = visit(name="")
    page.context.clear_cookies()
    assert page.goto("/answers").status == 401
    page.goto(f"/login?token={TOKEN}")
    page.wait_for_url("**/reviewer?**")
    assert page.get_by_role("link", name="Dashboard").is_visible()
    assert page.goto("/answers").status == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", ""])
def test_other_names_are_not_answered(stranger, host):
    """A name that somebody makes resolve to this machine gets nothing, whatever it sends."""
    answer = stranger.get(f"/login?token={TOKEN}", headers={"Host": host})
    assert answer.status_code == 400
