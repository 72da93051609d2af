"""How a page is drawn. Texts from outside are made visible and escaped; templates mark nothing as safe."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from groundwire import __version__
from groundwire.report.visible import one_line, visible

STATIC = Path(__file__).parent / "static"
SECTIONS = (("Review", "/review"), ("Answers", "/answers"), ("Dashboard", "/dashboard"))
"""What the navigation leads to: a name and a path each."""


def draw(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page. ``request.state.reviewer`` is shown in its header where there is one."""
    page = ENVIRONMENT.get_template(template)
    whole: Mapping[str, Any] = {
        "sections": SECTIONS,
        "path": request.url.path,
        "section": "",
        "reviewer": getattr(request.state, "reviewer", ""),
        "signed_in": True,
        **values,
    }
    return HTMLResponse(page.render(whole), status_code=status)


def refusal(request: Request, status: int, why: str) -> Response:
    """A page that says why there is no other, and what becomes of a review that was sent."""
    unsaved = request.method == "POST" and request.url.path.startswith("/answers/")
    if status == 401:
        return draw(request, "login.html.j2", status=401, signed_in=False, why=why, unsaved=unsaved)
    title = {400: "That can't be read", 403: "Refused", 404: "Not found", 413: "Too large"}
    return draw(
        request,
        "refused.html.j2",
        status=status,
        signed_in=status not in {401, 403},
        title=title.get(status, "That did not work"),
        why=why,
        unsaved=unsaved and status == 503,
    )


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("groundwire.review"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": one_line, "visible": visible, "when": _when, "count": "{:,}".format}
    environment.globals["version"] = __version__
    return environment


ENVIRONMENT = _environment()
