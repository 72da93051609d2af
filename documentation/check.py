"""Whether the built site loads anything from elsewhere.

    python -m documentation.check build/site

A link that a reader may follow is none of that; a script, style, font, image or frame is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

_AWAY = re.compile(r"\s*(https?:)?//", re.IGNORECASE)
_IN_CSS = re.compile(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)
_HOSTS = re.compile(
    r"https?://(?:unpkg\.com|cdn\.|cdnjs\.|fonts\.|[\w.]*jsdelivr\.|[\w.]*googleapis\.)[^\"'\s]*"
)


class _Loaded(HTMLParser):
    """Collects what a page fetches while it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            followed = tag == "a" or (
                tag == "link" and dict(attrs).get("rel") in ("canonical", "next", "prev")
            )
            if (
                name in ("src", "href", "srcset", "data", "poster")
                and not followed
                and _AWAY.match(value or "")
            ):
                self.found.append(value or "")
            if name == "style" and value:
                self.found.extend(_IN_CSS.findall(value))


def fetched(site: Path) -> Iterator[tuple[Path, str]]:
    """Each file of the site that loads something from elsewhere, and what."""
    for path in sorted(site.rglob("*")):
        if path.suffix not in (".html", ".css", ".js"):
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".html":
            page = _Loaded()
            page.feed(text)
            found = page.found
        else:
            found = _IN_CSS.findall(text) if path.suffix == ".css" else _HOSTS.findall(text)
        yield from ((path, one) for one in found)


def main() -> int:
    site = Path(sys.argv[1])
    if not (site / "index.html").is_file():
        print(f"{site} holds no site: build one with `make docs`", file=sys.stderr)
        return 2
    found = list(fetched(site))
    for path, what in found:
        print(f"{path} loads {what}", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
