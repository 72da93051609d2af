"""Settings files as they are read: YAML, TOML or JSON, in which no key may stand twice."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from groundwire.core.errors import ConfigurationError, MissingExtraError

_MERGE = "tag:yaml.org,2002:merge"


def read(path: Path) -> Mapping[str, Any]:
    """The keys and values of a file (.yaml, .yml, .toml or .json).

    Raises ConfigurationError for one that can't be read, and MissingExtraError for YAML without pyyaml.
    """
    readers: dict[str, Callable[[str], Any]] = {
        ".json": _json,
        ".toml": tomllib.loads,
        ".yaml": _yaml,
        ".yml": _yaml,
    }
    if path.suffix.lower() not in readers:
        raise ConfigurationError(
            f"settings file {str(path)!r}: expected a name ending in .yaml, .toml or .json"
        )
    try:
        # With or without the mark that some editors put in front.
        data = readers[path.suffix.lower()](path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"settings file {str(path)!r}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigurationError(f"settings file {str(path)!r} can't be read: {error}") from error
    if not isinstance(data, Mapping):
        raise ConfigurationError(f"settings file {str(path)!r}: expected keys and values at the top")
    return data


def _json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, which by itself keeps the last of two values of one key."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key!r} stands twice")
        found[key] = value
    return found


def _yaml(text: str) -> Any:
    try:
        yaml = import_module("yaml")
    except ImportError as error:
        raise MissingExtraError("a YAML settings file", package="pyyaml", extra="yaml") from error
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        _require_once(node, set())
        return None if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        # Not its own text, which quotes the file.
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "unreadable"
        raise ValueError(f"it is no YAML: {problem}{place}") from error


def _require_once(node: Any, seen: set[int]) -> None:
    """Raises ValueError where a table has a key twice, of which YAML keeps the last.

    What is merged with ``<<`` may well be set again, so this looks at what is written, before any merging.
    """
    if not isinstance(getattr(node, "value", None), list) or id(node) in seen:
        return
    seen.add(id(node))  # an anchor is met again wherever it is meant
    lines: dict[tuple[str, str], int] = {}
    for part in node.value:
        key, value = part if isinstance(part, tuple) else (None, part)
        if key is not None and isinstance(key.value, str) and key.tag != _MERGE:
            line = key.start_mark.line + 1
            if before := lines.get((key.tag, key.value)):
                raise ValueError(f"{key.value!r} stands twice, in line {before} and in line {line}")
            lines[key.tag, key.value] = line
        _require_once(value, seen)
