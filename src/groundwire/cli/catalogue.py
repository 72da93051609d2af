"""``groundwire detectors`` and ``groundwire prompts``: what methods there are, and every word they say."""

from __future__ import annotations

import argparse
import difflib
import json
import textwrap
from collections.abc import Iterator

from groundwire import detectors, prompts
from groundwire.cli.exits import DONE
from groundwire.core.errors import ConfigurationError
from groundwire.core.plain import plain
from groundwire.detectors import brought
from groundwire.detectors.catalogue import METHODS, Method, methods

_WIDTH = 100


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands to the parser of the whole."""
    listed = commands.add_parser(
        "detectors",
        help="list the detection methods",
        description="Lists every method: what it asks of models, its calls for one answer, what it locates, "
        "the kinds of hallucination it can see, and its source. docs/detectors.md helps to choose.",
    )
    listed.add_argument("--json", action="store_true", help="print one JSON list")
    listed.set_defaults(run=_list_detectors)
    shown = commands.add_parser(
        "prompts",
        help="show what a method says to its model",
        description="Shows every word that a method says to its model. $names are filled with texts between "
        "marks that they can't contain.",
    )
    shown.add_argument(
        "name", nargs="?", metavar="NAME", help="a method or a prompt; without it, their names"
    )
    shown.set_defaults(run=_show_prompts)


def _list_detectors(given: argparse.Namespace) -> int:
    found = methods(detectors.names())
    others = {name: package for name, package in brought.packages().items() if name not in detectors.names()}
    if given.json:
        listed = [plain(method) for method in found]
        listed += [{"name": name, "package": package} for name, package in sorted(others.items())]
        _say(json.dumps(listed, indent=2, ensure_ascii=False))
    else:
        described = ["\n".join(_described(method)) for method in found]
        described += [f"{name}\n  Brought by the package {told!r}." for name, told in sorted(others.items())]
        _say("\n\n".join(described))
    return DONE


def _described(method: Method) -> Iterator[str]:
    yield method.name
    for text in (
        method.summary,
        f"Asks {method.asks}: {method.cost}. Locates {method.locates}.",
        f"Sees: {', '.join(method.kinds)}.",
        f"Source: {method.source}.",
    ):
        yield textwrap.fill(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")


def _show_prompts(given: argparse.Namespace) -> int:
    if given.name is None:
        _say("\n".join(f"{name}  version {prompts.get(name).version}" for name in prompts.names()))
    else:
        _say("\n\n".join(_prompt(name) for name in _named(given.name)))
    return DONE


def _named(name: str) -> tuple[str, ...]:
    """The prompts of a method, or the one prompt of that name."""
    if name in detectors.names():
        used = METHODS[name].prompts if name in METHODS else ()
        if not used:
            raise ConfigurationError(f"the {name!r} detector says nothing to a model")
        return used
    if name in prompts.names():
        return (name,)
    known = sorted({*prompts.names(), *(m.name for m in methods(detectors.names()) if m.prompts)})
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(known)}"
    raise ConfigurationError(f"no method and no prompt is named {name!r}; {hint}")


def _prompt(name: str) -> str:
    prompt = prompts.get(name)
    parts = [
        ("system", prompt.system),
        ("user", prompt.user),
        ("form, after the user's part", prompt.form),
        ("before it, where a first reply could not be read", prompt.again),
    ]
    said = [f"--- {title} ---\n{text}" for title, text in parts if text]
    return "\n\n".join([f"=== {name}, version {prompt.version} ===", *said])


def _say(text: str) -> None:
    print(text)  # noqa: T201 - this is the command line
