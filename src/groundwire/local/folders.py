"""What lies in a folder that others filled: nothing in it may lead out of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def leads_out(path: Path, folder: Path) -> bool:
    """Whether ``path``, found in ``folder`` or named there, is a place outside of it once links are followed.

    The Hugging Face cache keeps a snapshot's files beside its snapshots: they belong to it.
    """
    allowed = [folder.resolve()]
    if folder.absolute().parent.name == "snapshots":
        allowed.append(folder.absolute().parent.parent.resolve() / "blobs")
    try:
        found = path.resolve()
    except (OSError, ValueError, RuntimeError):  # links in a circle, a name that no system has
        return True
    return not any(found.is_relative_to(place) for place in allowed)


def escapes(folder: Path) -> str:
    """What in a model's folder would have a file read that is not in it; "" for nothing.

    A link, a shard of the weights, or a file that the tokenizer is told to read; not every version of
    transformers looks at those by itself. A tokenizer's config often still names a file of whoever saved it:
    what is not there can't be read.
    """
    for path in folder.rglob("*"):
        if path.is_symlink() and leads_out(path, folder):
            return f"the link {path.name!r}"
    for index, name in _named(folder):
        if leads_out(folder / name, folder):
            return f"{name!r}, named in {index}"
    for key, value in _read(folder / "tokenizer_config.json").items():
        if key.endswith("_file") and isinstance(value, str) and _outside(value, folder):
            return f"{value!r}, named in tokenizer_config.json"
    return ""


def _named(folder: Path) -> Iterator[tuple[str, str]]:
    """Files of weights that others name."""
    explicit = _read(folder / "config.json").get("transformers_weights")
    if isinstance(explicit, str):
        yield "config.json", explicit
    for path in folder.glob("*.index.json"):
        shards = _read(path).get("weight_map")
        for name in set(map(str, shards.values())) if isinstance(shards, dict) else ():
            yield path.name, name


def _outside(name: str, folder: Path) -> bool:
    try:
        return Path(name).exists() and leads_out(Path(name), folder)
    except (OSError, ValueError):
        return False


def _read(path: Path) -> dict[str, Any]:
    """What a JSON file of settings holds; nothing where it can't be read, for then nobody else reads it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
