"""The errors a caller can meet. What goes wrong while judging is an Abstention, not one of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


class GroundwireError(Exception):
    """Base of every error groundwire raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        # An error goes from process to process as it is; what it was built from need not be what it keeps.
        return _again, (type(self), self.args), self.__dict__


class InputError(GroundwireError, ValueError):
    """An interaction was built from something that can't be judged, such as bytes or a number."""


class ConfigurationError(GroundwireError, ValueError):
    """Settings that can't work. All mistakes found are named at once, each with a hint."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


class MissingExtraError(GroundwireError, ImportError):
    """A feature needs a package that the base install doesn't bring."""

    def __init__(self, feature: str, *, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the package {package!r}, which is not installed: "
            f"pip install 'groundwire[{extra}]'"
        )
        self.extra = extra


class EncoderError(GroundwireError, RuntimeError):
    """An encoder can't be used here: its weights are missing or damaged, or what runs them is."""


def _again(kind: type[GroundwireError], said: tuple[Any, ...]) -> GroundwireError:
    return kind.__new__(kind, *said)


def gathered(builds: Iterable[Callable[[], Any]]) -> list[Any]:
    """What each of these builds, in order. Raises ConfigurationError with the mistakes of all."""
    found: list[Any] = []
    problems: list[str] = []
    for build in builds:
        try:
            found.append(build())
        except ConfigurationError as error:
            problems += error.problems
    if problems:
        raise ConfigurationError(*dict.fromkeys(problems))  # two may have built the same part
    return found
