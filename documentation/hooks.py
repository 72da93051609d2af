"""What MkDocs calls while it builds the site.

The sources are the repository's own pages. Made here are: the reference, the list of decisions, pages of
notebooks, and pages of files outside docs/ that others link to.
"""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from documentation import links, notebooks, reference
from documentation.links import DECISIONS, NOTEBOOKS, ROOT

_ORIGIN: dict[str, str] = {}  # source in the site -> path in the repository


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is made, then put every page into the navigation."""
    _ORIGIN.clear()
    for file in files.documentation_pages():
        _ORIGIN[file.src_uri] = f"docs/{file.src_uri}"
    for name, text in reference.pages(reference.documentation(ROOT)).items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    if not (ROOT / DECISIONS).is_file():
        files.append(File.generated(config, links.place(DECISIONS), content=decisions()))
    for notebook in sorted((ROOT / NOTEBOOKS).glob("*.ipynb")):
        shown = notebooks.markdown(notebook.read_text(encoding="utf-8"))
        _add(files, config, f"{NOTEBOOKS}/{notebook.name}", shown)
    for name in _named(config.nav or []):
        if name.startswith("repository/"):
            _add(
                files,
                config,
                path := name.removeprefix("repository/"),
                (ROOT / path).read_text(encoding="utf-8"),
            )
    _add_linked(files, config)
    config.nav = placed(config.nav or [], [file.src_uri for file in files.documentation_pages()])
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite a page's links, where it is a file of the repository."""
    del config, files
    origin = _ORIGIN.get(page.file.src_uri)
    return links.rewritten(markdown, origin) if origin else markdown


def _add(files: Files, config: MkDocsConfig, path: str, text: str) -> None:
    files.append(File.generated(config, links.place(path), content=text))
    _ORIGIN[links.place(path)] = path


def _add_linked(files: Files, config: MkDocsConfig) -> None:
    """Add the files that pages link to, and those that these link to."""
    waiting = list(_ORIGIN.values())
    while waiting:
        page = waiting.pop()
        text = (ROOT / page).read_text(encoding="utf-8")
        linked: list[str] = []
        links.rewritten(notebooks.markdown(text) if page.endswith(".ipynb") else text, page, linked.append)
        for path in linked:
            if links.place(path) in files.src_uris:
                continue
            if path.endswith((".png", ".svg")):
                files.append(File.generated(config, links.place(path), abs_src_path=str(ROOT / path)))
            elif path.endswith(".md"):
                _add(files, config, path, (ROOT / path).read_text(encoding="utf-8"))
                waiting.append(path)
            else:
                files.append(File.generated(config, links.place(path), content=links.page_of(path)))


def decisions() -> str:
    """The list of decisions, the newest first."""
    records = sorted((ROOT / DECISIONS).parent.glob("[0-9]*.md"), reverse=True)
    titles = [
        (one.name, one.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")) for one in records
    ]
    listed = "\n".join(f"- [{title}]({name})" for name, title in titles)
    return f"# Decisions\n\nWhat would surprise you, and why it is so.\n\n{listed}\n"


def placed(nav: list[Any], pages: list[str]) -> list[Any]:
    """The navigation with each pattern, such as ``decisions/*``, made the pages that nothing else names.

    A pattern takes what those before it left, in the order of their names.
    """
    left = sorted(set(pages) - set(_named(nav)))

    def filled(entries: list[Any]) -> list[Any]:
        found: list[Any] = []
        for entry in entries:
            if isinstance(entry, dict):
                found.append(
                    {title: filled(one) if isinstance(one, list) else one for title, one in entry.items()}
                )
            elif "*" in entry:
                taken = [
                    page for page in left if fnmatch(page, entry) and page.count("/") == entry.count("/")
                ]
                left[:] = [page for page in left if page not in taken]
                found.extend(taken)
            else:
                found.append(entry)
        return found

    return filled(nav)


def _named(nav: list[Any]) -> list[str]:
    found: list[str] = []
    for entry in nav:
        for one in entry.values() if isinstance(entry, dict) else [entry]:
            found.extend(_named(one) if isinstance(one, list) else [one])
    return found


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """Keep what the theme would fetch out of its own templates, such as 404.html."""
    del template_name
    return at_home(output_content, config.site_url or "")


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Load the shim for pages in a folder from the site itself."""
    del config
    return at_home(output, "../" * page.url.count("/"))


def on_post_build(config: MkDocsConfig) -> None:
    """Take from the theme's script what it would fetch from a host in cases that don't come up here."""
    for script in Path(config.site_dir).glob("assets/javascripts/bundle.*.js"):
        script.write_text(_FETCHED.sub("", script.read_text(encoding="utf-8")), encoding="utf-8")
    for source in Path(config.site_dir).glob("assets/**/*.map"):
        source.unlink()


def at_home(html: str, up: str) -> str:
    return html.replace(_SHIM, f"{up}assets/file-worker.js")


_SHIM = "https://unpkg.com/iframe-worker/shim"
_FETCHED = re.compile(r"https://unpkg\.com/[^\"']+")
