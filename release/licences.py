"""The licence of everything that an install brings, and of the weights inside.

    python -m release.licences

It reads what is installed here, so every extra has to be, and writes docs/licences.md. It fails where
something has a licence that is not on the list below: that is a decision for a person, not for a build.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "licences.md"

ALLOWED = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CNRI-Python", "ISC"),
        *("MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib"),
    }
)
"""Licences that ask for their text and names to be kept, and for nothing else."""

WEAK_COPYLEFT: Mapping[str, str] = {
    "certifi": "MPL-2.0",
    "orjson": "MPL-2.0",
    "tqdm": "MPL-2.0",
    "psycopg": "LGPL-3.0-only",
    "psycopg-binary": "LGPL-3.0-only",
}
"""Packages whose licence asks for changes to their own files, and for nothing of who imports them."""

_SPDX = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0 license": "Apache-2.0",
    "apache 2": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd license": "BSD-3-Clause",
    "bsd": "BSD-3-Clause",
    "bsd-3": "BSD-3-Clause",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "psfl": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
}
"""What packages wrote before there was a field for it."""

_BY_HAND: Mapping[str, str] = {"python-dateutil": "Apache-2.0 AND BSD-3-Clause", "resvg-py": "MIT"}
"""Licences that a package's files tell and its metadata does not."""

WEIGHTS = (
    ("all-MiniLM-L6-v2", "Apache-2.0", "what the encoder's training began with"),
    ("bert-base-uncased", "Apache-2.0", "the vocabulary, `vocab.txt`"),
    (
        "groundwire's own",
        "Apache-2.0",
        "`encoder.onnx`, `lexical.json`, `embedded.json`: fitted for this package",
    ),
)


def licence(name: str) -> str:
    """A package's licence as an SPDX expression, or in its own words where those are unknown."""
    told = metadata.metadata(name)
    if name in _BY_HAND:
        return _BY_HAND[name]
    if "License-Expression" in told:
        return told["License-Expression"]
    classified = [
        one.rpartition(" :: ")[2] for one in told.get_all("Classifier") or () if one.startswith("License")
    ]
    free = told["License"].strip() if "License" in told else ""
    title, _, rest = free.partition("\n")
    told_in_one = title and (not rest or title.lower() in _SPDX)  # some put the whole text there
    words = [title] if told_in_one else [one for one in classified if one != "OSI Approved"]
    return " AND ".join(sorted({_SPDX.get(one.lower(), one) for one in words})) or "unknown"


def allowed(name: str, expression: str) -> bool:
    """Whether everything that the expression asks for is on the list; of alternatives, one has to be."""
    known = ALLOWED | ({WEAK_COPYLEFT[name]} if name in WEAK_COPYLEFT else set())
    flat = re.sub(r" WITH [\w.-]+", "", expression)
    while inner := re.search(r"\(([^()]*)\)", flat):
        flat = flat.replace(inner[0], "MIT" if _any(inner[1], known) else "refused")
    return _any(flat, known)


def _any(expression: str, known: frozenset[str]) -> bool:
    return any(
        all(part.strip() in known for part in choice.split(" AND ")) for choice in expression.split(" OR ")
    )


def needed() -> tuple[dict[str, set[str]], set[str]]:
    """Each installed package that groundwire brings, with the extras that bring it ("" for the base).

    The second value has the packages that are not installed here, and were not looked at.
    """
    own = metadata.metadata("groundwire")
    extras = [one for one in own.get_all("Provides-Extra") or () if one != "all"]
    brought: dict[str, set[str]] = {}
    missing: set[str] = set()
    for extra in ["", *extras]:
        waiting = [("groundwire", frozenset({extra}))]
        seen: set[tuple[str, frozenset[str]]] = set()
        while waiting:
            name, wanted = one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            try:
                found = list(_requirements(name, wanted))
            except metadata.PackageNotFoundError:
                missing.add(name)
                continue
            if name != "groundwire":
                brought.setdefault(name, set()).add(extra)
            waiting += found
    return {name: {""} if "" in by else by for name, by in brought.items()}, missing


def _requirements(name: str, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        if requirement.marker is None or any(
            requirement.marker.evaluate({"extra": one}) for one in extras | {""}
        ):
            yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def page() -> str:
    """The table of licences, as Markdown."""
    brought, _ = needed()
    rows = [
        f"| {name} | {licence(name)} | {', '.join(f'`{one}`' for one in sorted(by) if one) or 'the base'} |"
        for name, by in sorted(brought.items())
    ]
    weights = [f"| {name} | {terms} | {what} |" for name, terms, what in WEIGHTS]
    weak = ", ".join(f"{name} ({terms})" for name, terms in sorted(WEAK_COPYLEFT.items()) if name in brought)
    return _PAGE.format(weights="\n".join(weights), weak=weak, rows="\n".join(rows))


_PAGE = """# Licences

groundwire is under [Apache-2.0](../LICENSE). `make licences` writes this page from the packages' own metadata. A test
fails if an install would bring a licence that is not on its list.

## Weights

| weights | licence | what they are |
|---|---|---|
{weights}

What they were trained on, with each source's licence, is in [training/README.md](../training/README.md). No text
of it is in the package.

## Dependencies

`pip install groundwire` brings "the base"; the others come with the extras that are named. All licences are
permissive except these, which are weak copyleft and used unchanged: {weak}. `encoder` was checked with PyTorch's CPU
build; its CUDA builds bring NVIDIA's libraries, which have terms of their own.

| package | licence | comes with |
|---|---|---|
{rows}
"""


def refused() -> list[str]:
    """The packages whose licence is not agreed to."""
    return [f"{name}: {terms}" for name in sorted(needed()[0]) if not allowed(name, terms := licence(name))]


def main() -> int:
    _, missing = needed()
    if missing:
        print(f"not installed, so nothing is known of them: {', '.join(sorted(missing))}", file=sys.stderr)
        return 2
    if found := refused():
        print("not on the list in release/licences.py:", *found, sep="\n  ", file=sys.stderr)
        return 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
