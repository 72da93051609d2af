"""Where each file of the repository stands in the site, and its links rewritten to lead there.

Pages are written to be read where the repository is: their links are paths between its files. A page under
docs/ keeps its place in the site. What else a page links to becomes a page below repository/, so that no link
leaves the site, and none needs a host.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = "examples/notebooks"

_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_LINK = re.compile(r"(\]\()(?![a-z][a-z0-9+.-]*:|#)([^)#\s]*)((?:#[^)\s]*)?\))")


def place(path: str) -> str:
    """Where the file at ``path``, counted from the repository's root, stands among the site's sources."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if posixpath.dirname(path) == NOTEBOOKS and path.endswith(".ipynb"):
        return f"notebooks/{Path(path).stem}.md"
    return f"repository/{path}" if path.endswith((".md", ".png", ".svg")) else f"repository/{path}.md"


def rewritten(text: str, page: str, seen: Callable[[str], object] = str) -> str:
    """The Markdown of ``page``, a path from the root, with links that hold in the site.

    ``seen`` is told each path that is linked to. A link that leads nowhere stays as it is: the strict build
    names it. Code is left alone.
    """

    def lead(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), match[2]))
        if (ROOT / path).is_dir():
            path = f"{path}/README.md"
            if not (ROOT / path).is_file() and path != DECISIONS:
                return match[0]
        elif not (ROOT / path).is_file():
            return match[0]
        seen(path)
        return match[1] + posixpath.relpath(place(path), posixpath.dirname(place(page)) or ".") + match[3]

    return "".join(line if code else _LINK.sub(lead, line) for line, code in lines(text))


DECISIONS = "docs/decisions/README.md"
"""The list of decisions, which is made from the records."""


def lines(text: str) -> Iterator[tuple[str, bool]]:
    """Each line with its end, and whether it stands in fenced code."""
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            yield line, True
            if mark and mark[1].startswith(fence):
                fence = ""
        else:
            fence = mark[1] if mark else ""
            yield line, bool(fence)


def page_of(path: str) -> str:
    """The Markdown that shows a file which is no page: its name and its text."""
    text = (ROOT / path).read_text(encoding="utf-8")
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    language = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}
    return f"# {path}\n\n{fence}{language.get(Path(path).suffix, 'text')}\n{text.rstrip()}\n{fence}\n"
