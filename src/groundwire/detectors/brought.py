"""Detectors that other installed packages bring, by entry points of the group ``groundwire.detectors``.

An entry point has the name that its class has:

    [project.entry-points."groundwire.detectors"]
    names-a-source = "acme_checks:NamesASource"
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata

from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError

GROUP = "groundwire.detectors"


def packages() -> Mapping[str, str]:
    """The package that brings each detector, by the detector's name. None of them is imported."""
    return {point.name: _package(point) for point in _points()}


def get(name: str) -> type[Detector] | None:
    """The class of this name, None where no package brings one.

    Raises ConfigurationError where two bring it, and where it can't be imported, is no Detector, or has
    another name than its entry point.
    """
    points = [point for point in _points() if point.name == name]
    if not points:
        return None
    if len({point.value for point in points}) > 1:
        told = " and ".join(sorted(f"{point.value} of {_package(point)!r}" for point in points))
        raise ConfigurationError(f"the detector {name!r} is brought twice, by {told}: uninstall one")
    return _loaded(points[0])


def _points() -> metadata.EntryPoints:
    return metadata.entry_points(group=GROUP)


def _package(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist else ""


def _loaded(point: metadata.EntryPoint) -> type[Detector]:
    told = f"the detector {point.name!r} of the package {_package(point)!r}"
    try:
        kind = point.load()
    except Exception as error:  # whatever the package's own code raises
        raise ConfigurationError(
            f"{told}: {point.value} can't be imported: {type(error).__name__}: {error}"
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Detector)):
        raise ConfigurationError(f"{told}: {point.value} is no subclass of groundwire.Detector")
    named = getattr(kind, "name", None)
    if named != point.name:
        raise ConfigurationError(f"{told}: its class is named {named!r}, and the entry point must be, too")
    return kind
