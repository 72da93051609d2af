"""Detectors and their parts as settings files have them: names and tables, built or refused.

A detector that holds others is read by the same rules as the one at the top.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Any

from groundwire import detectors
from groundwire.core.aggregation import RULES, Aggregation
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError

_SHORT = 16  # characters; no API key is that short
_NESTED = ("claim_reader",)


def build(given: Any, *, nested: bool = False) -> Detector:
    """A detector from its name, or from a table with its ``name`` and parameters.

    Raises ConfigurationError naming every mistake. ``nested`` also knows what only works inside another one.
    """
    if isinstance(given, Detector):
        return given
    if not isinstance(given, str | Mapping):
        raise ConfigurationError(f"detector: expected a name or a table, not {shown(given)}")
    named = {"name": given} if isinstance(given, str) else dict(given)
    if "name" not in named:
        raise ConfigurationError("detector: needs a 'name'")
    name = named.pop("name")
    if not isinstance(name, str):
        raise ConfigurationError(f"detector.name: expected a text, not {shown(name)}")
    kind = _kind(name, nested=nested)
    known = [f.name for f in fields(kind) if f.name != "grading"]
    problems = [
        "detector: 'grading' is not set here: use 'threshold' and 'levels', beside 'detector'"
        if key == "grading"
        else f"detector: {unknown(str(key), known)}"
        for key in named
        if key not in known
    ]
    parameters: dict[str, Any] = {key: value for key, value in named.items() if key in known}
    try:
        detector = kind(**parameters)
    except (TypeError, ValueError) as error:
        told = error.problems if isinstance(error, ConfigurationError) else (str(error),)
        problems += [f"detector: {one}" for one in told]
    if problems:
        raise ConfigurationError(*problems)
    return detector


def part(kind: type[Any], given: Any, where: str) -> Any:
    """A value of one of our classes from a table with its parameters. Raises ConfigurationError otherwise."""
    if isinstance(given, kind):
        return given
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"{where}: expected a {kind.__name__} or a table, not {shown(given)}")
    known = [f.name for f in fields(kind)]
    problems = [f"{where}: {unknown(str(key), known)}" for key in given if key not in known]
    if problems:
        raise ConfigurationError(*problems)
    try:
        return kind(**given)
    except ConfigurationError as error:
        raise ConfigurationError(*(f"{where}: {one}" for one in error.problems)) from error
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{where}: {error}") from error


def holding(kind: type[Any], given: Any, where: str) -> Any:
    """A value of a class with a ``detector``, from a table of its own, or from one that names a detector."""
    if isinstance(given, kind) or (isinstance(given, Mapping) and "detector" in given):
        return part(kind, given, where)
    return kind(detector=given)


def choice_problems(detector: Any, name: str, kind: type[StrEnum]) -> list[str]:
    """What is wrong with a parameter that is one of a kind, which a settings file has by its name."""
    given = getattr(detector, name)
    if given is False:
        given = "off"  # as YAML reads a bare one
    if given not in list(kind):
        return [f"{name} must be one of {', '.join(kind)}, not {shown(given)}"]
    object.__setattr__(detector, name, kind(given))  # frozen: only the constructor may set
    return []


def switch_problems(detector: Any, *names: str) -> list[str]:
    """What is wrong with parameters that are true or false."""
    given = {name: getattr(detector, name) for name in names}
    return [f"{n} must be true or false, not {shown(v)}" for n, v in given.items() if type(v) is not bool]


def aggregation(given: Any) -> Aggregation:
    """An aggregation from its name, or from a table with its ``kind`` and parameters."""
    if isinstance(given, Aggregation):
        return given
    from groundwire.core.fitted_aggregation import Fitted  # noqa: PLC0415 - numpy, for those who fitted one

    kinds: dict[str, type[Any]] = {**RULES, "fitted": Fitted}
    table = {"kind": given} if isinstance(given, str) else given
    kind = kinds.get(str(table.get("kind"))) if isinstance(table, Mapping) else None
    if kind is None:
        raise ConfigurationError(
            f"aggregation must be an Aggregation, such as AnyUnsupported(), or one of {', '.join(kinds)}, "
            f"not {shown(given)}"
        )
    built: Aggregation = part(
        kind, {key: value for key, value in table.items() if key != "kind"}, "aggregation"
    )
    return built


def unknown(name: str, known: Iterable[str]) -> str:
    """What is said of a key that nothing has."""
    names = list(known)
    if not names:
        return f"unknown key {name!r}; there is none to set here"
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(names)}"
    return f"unknown key {name!r}; {hint}"


def shown(value: Any) -> str:
    """A value as messages may repeat it; of everything that could hold a key or a text, only the type."""
    short = isinstance(value, str) and len(value) <= _SHORT
    return repr(value) if short or isinstance(value, int | float) else f"a {type(value).__qualname__}"


def _kind(name: str, *, nested: bool) -> type[Detector]:
    if nested and name in _NESTED:
        from groundwire.detectors.ensemble.claim_reader import ClaimReader  # noqa: PLC0415 - prompts, for who asks

        return ClaimReader
    return detectors.get(name)
