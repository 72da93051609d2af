"""The reference: for each room, the names that its users have, from their docstrings.

A name is public when its room's ``__all__`` has it, when a page of the documentation imports it, or when it
is a registered detector. So nothing has to be listed here when a room, or a page about it, is added.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import groundwire
from groundwire import detectors

_SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_NO_NAMES = {"__version__", "detectors"}

# Where a room is explained, for readers who come to its reference first; a room without a page needs no line.
_GUIDES = {
    "groundwire": ("What a verdict means", "verdict.md"),
    "groundwire.batch": ("Batches", "batch.md"),
    "groundwire.bench": ("Benchmarking", "benchmarking.md"),
    "groundwire.config": ("Settings", "settings.md"),
    "groundwire.detectors": ("Choosing a detector", "detectors.md"),
    "groundwire.judge": ("A model as the judge", "judge.md"),
    "groundwire.langchain": ("groundwire in LangChain and LangGraph", "langchain.md"),
    "groundwire.learning": ("Learning from reviews", "monitoring.md#learning-from-reviews"),
    "groundwire.llama_index": ("groundwire in LlamaIndex", "llama-index.md"),
    "groundwire.monitor": ("Watching production", "monitoring.md"),
    "groundwire.review": ("The review page", "review.md"),
    "groundwire.sinks": ("Sinks", "sinks.md"),
    "groundwire.testing": ("Testing", "testing.md"),
}


def pages(texts: list[str]) -> dict[str, str]:
    """Each reference page's name, such as ``groundwire.monitor``, with its Markdown.

    ``texts`` is the documentation, whose snippets show what is meant to be used.
    """
    names: defaultdict[str, set[str]] = defaultdict(set)
    for module in rooms():
        names[module] |= set(getattr(importlib.import_module(module), "__all__", ())) - _NO_NAMES
    for name in detectors.names():
        names[detectors.__name__].add(detectors.get(name).__name__)
    for module, name in imported(texts):
        submodule = f"{module}.{name}"
        if is_module(submodule):
            names[submodule] |= members(submodule)
        elif module != "groundwire" and not _known(names, module, name):
            names[module].add(name)
    modules: defaultdict[str, list[str]] = defaultdict(list)
    for module in sorted(names):
        if names[module]:
            modules[room_of(module)].append(module)
    return {
        room: page(room, {module: sorted(names[module]) for module in found})
        for room, found in modules.items()
    }


def rooms() -> list[str]:
    """The package itself and what stands directly in it."""
    inside = [one.name for one in pkgutil.iter_modules(groundwire.__path__) if not one.name.startswith("_")]
    return ["groundwire", *(f"groundwire.{name}" for name in inside)]


def room_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def imported(texts: list[str]) -> Iterator[tuple[str, str]]:
    """The (module, name) pairs that Python snippets import from groundwire."""
    for text in texts:
        for snippet in _SNIPPET.findall(text):
            for node in ast.walk(ast.parse(snippet)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "groundwire":
                    yield from ((node.module or "", alias.name) for alias in node.names)


def is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


def members(module: str) -> set[str]:
    """The public functions and classes that a module defines itself."""
    loaded = importlib.import_module(module)
    return {
        name
        for name, value in vars(loaded).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module and inspect.getdoc(value)
    }


def _known(names: dict[str, set[str]], module: str, name: str) -> bool:
    """Whether the same object already has an entry, under its room's own name."""
    value = getattr(importlib.import_module(module), name)
    return any(
        name in known and getattr(importlib.import_module(other), name, None) is value
        for other, known in names.items()
    )


def page(room: str, modules: dict[str, list[str]]) -> str:
    """The Markdown of a room: what it is, and each name under the import that gives it."""
    text = [f"# {room}\n", _said(importlib.import_module(room))]
    if room in _GUIDES:
        title, target = _GUIDES[room]
        text.append(f"Explained in [{title}](../{target}).\n")
    for module, names in modules.items():
        loaded = importlib.import_module(module)
        if module != room:
            text += [f"## {module}\n", _said(loaded)]
        text += [_entry(module, loaded, name, 2 if module == room else 3) for name in names]
    return "\n".join(text)


def _said(module: ModuleType) -> str:
    return (inspect.getdoc(module) or "") + "\n"


def _entry(module: str, loaded: ModuleType, name: str, level: int) -> str:
    """A name's entry, as users import it, with what it inherits.

    Registered detectors are read where they are defined; all inherit the same, which ``Detector`` shows.
    """
    shown = path = f"{module}.{name}"
    value = getattr(loaded, name)
    inherited = module != detectors.__name__
    if not inherited and isinstance(value, type):
        path = f"{value.__module__}.{value.__qualname__}"
    options = {"heading": shown, "heading_level": level, "inherited_members": str(inherited).lower()}
    return f"::: {path}\n    options:\n" + "".join(f"      {key}: {told}\n" for key, told in options.items())


def documentation(root: Path) -> list[str]:
    """The texts of README and docs."""
    found = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [one.read_text(encoding="utf-8") for one in found]
