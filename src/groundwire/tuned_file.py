"""Tunings as files.

A file of ``groundwire tune`` is a settings file: it holds ``detector`` and ``tuned``, and more may be added.
What a tuning means is in ``core.tuned``, whom it fits in ``tuned``; nothing is fitted here.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from dataclasses import Field as DataField
from pathlib import Path
from typing import Annotated, Any

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, ValidationError

from groundwire.core import aggregation, calibration, whole
from groundwire.core.aggregation import Aggregation
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Grading
from groundwire.core.plain import plain
from groundwire.core.tuned import Figure, Labels, Origin, Tuned
from groundwire.detectors import settings
from groundwire.detectors.combination import Combination

VERSION = 1


def to_dict(tuned: Tuned) -> dict[str, Any]:
    """The form on disk, which ``from_dict`` reads back to an equal value; its wording stays with settings."""
    medium, high = tuned.grading.cuts
    return {
        "version": VERSION,
        "fingerprint": tuned.fingerprint,
        "target": tuned.target,
        "threshold": tuned.grading.threshold,
        "medium": medium,
        "high": high,
        "calibration": None if tuned.calibration is None else calibration.to_dict(tuned.calibration),
        "aggregation": None if tuned.aggregation is None else aggregation.to_dict(tuned.aggregation),
        "promise": tuned.promise,
        "origin": plain(asdict(tuned.origin)),
        "labels": {**asdict(tuned.labels), "contents": b64encode(tuned.labels.contents).decode()},
        "held_out": {name: plain(asdict(figure)) for name, figure in tuned.held_out.items()},
        "warnings": list(tuned.warnings),
    }


def from_dict(data: Mapping[str, Any]) -> Tuned:
    """Raises ConfigurationError naming every mistake, also where a value was changed by hand."""
    try:
        read = _File.model_validate(data)
        tuned = Tuned(
            origin=Origin(**read.origin.model_dump()),
            grading=Grading(threshold=read.threshold, medium=read.medium, high=read.high),
            target=read.target,
            labels=Labels(**dict(read.labels)),
            calibration=None if read.calibration is None else calibration.from_dict(read.calibration),
            aggregation=None if read.aggregation is None else aggregation.from_dict(read.aggregation),
            promise=read.promise,
            held_out={name: Figure(**_figures(one)) for name, one in read.held_out.items()},
            warnings=tuple(read.warnings),
        )
    except ValidationError as error:
        problems = [f"tuned.{'.'.join(map(str, one['loc']))}: {one['msg'].lower()}" for one in error.errors()]
        raise ConfigurationError(*problems) from None
    except ValueError as error:
        raise ConfigurationError(f"tuned: {error}") from error
    if tuned.fingerprint != read.fingerprint:
        raise ConfigurationError(
            "tuned: it was changed after it was fitted: its fingerprint is "
            f"{tuned.fingerprint}, not {read.fingerprint!r}. Run groundwire tune again; a threshold of your "
            "own goes under 'threshold', without 'tuned'"
        )
    return tuned


def save(tuned: Tuned, path: str | Path, *, beside: Mapping[str, Any]) -> None:
    """Write a settings file: the tuning, and ``beside`` it the settings that name the detector.

    JSON, or YAML by the file's name. Raises ConfigurationError for another name.
    """
    data = {**beside, "tuned": to_dict(tuned)}
    path = Path(path)
    if path.suffix.lower() in (".yaml", ".yml"):
        import yaml  # noqa: PLC0415 - comes with the extra yaml

        text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110)
    elif path.suffix.lower() == ".json":
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        raise ConfigurationError(f"{str(path)!r}: a tuning is written as .json or .yaml")
    whole.write(path, text)


def settings_of(detector: Detector) -> str | dict[str, Any]:
    """What names this detector in settings: its name, and the parameters that are not the default ones.

    Raises ConfigurationError where they have no such form.
    """
    return _settings_of(detector, nested=False)


def _settings_of(detector: Detector, *, nested: bool) -> str | dict[str, Any]:
    given = {"name": detector.name, **_parameters(detector, without=("grading",))}
    try:
        same = plain(settings.build(given, nested=nested).spec) == plain(detector.spec)
    except ConfigurationError:
        same = False
    if not same:
        raise ConfigurationError(
            f"the parameters of the {detector.name!r} detector have no form in settings: give "
            "settings={'detector': ...}, or use Policy(tuned=...) beside the detector itself"
        )
    return given if len(given) > 1 else detector.name


def _parameters(value: Any, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of a dataclass that are not as they are by default."""
    return {
        one.name: _setting(getattr(value, one.name))
        for one in fields(value)
        if one.name not in without and getattr(value, one.name) != _default(one)
    }


def _setting(value: Any) -> Any:  # noqa: PLR0911 - one return a kind of value reads as the table it is
    # Both bring numpy, which whoever names a detector in settings has loaded.
    from groundwire.core.fitted_aggregation import Fitted  # noqa: PLC0415
    from groundwire.detectors.ensemble.resolution import Resolution  # noqa: PLC0415

    if isinstance(value, Detector):
        return _settings_of(value, nested=True)
    if isinstance(value, Combination):
        return value.to_dict()
    if isinstance(value, Resolution):
        return {"by": value.by, **_parameters(value)}
    if isinstance(value, Fitted):
        return {"kind": "fitted", **_parameters(value)}
    if isinstance(value, Aggregation):
        return aggregation.to_dict(value)
    if isinstance(value, tuple | list):
        return [_setting(one) for one in value]
    return _parameters(value) if is_dataclass(value) else plain(value)


def _default(one: DataField[Any]) -> Any:
    return one.default_factory() if one.default_factory is not MISSING else one.default


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Origin(_Part):
    detector: str
    version: str
    parameters: dict[str, Any]
    cuts: tuple[float, float, float]
    parts: dict[str, str] = {}
    prompts: dict[str, str] = {}
    model: str = ""
    embeddings: str = ""
    models: dict[str, str] = {}


class _Labels(_Part):
    fingerprint: str
    answers: Annotated[int, Field(ge=0)]
    hallucinated: Annotated[int, Field(ge=0)]
    groups: Annotated[int, Field(ge=0)]
    not_judged: Annotated[int, Field(ge=0)] = 0
    contents: Base64Bytes = b""


class _Figure(_Part):
    value: float | None
    low: float | None
    high: float | None


class _File(_Part):
    version: Annotated[int, Field(ge=VERSION, le=VERSION)]
    fingerprint: str
    target: str
    threshold: float
    medium: float
    high: float
    calibration: dict[str, Any] | None = None
    aggregation: dict[str, Any] | None = None
    promise: str = ""
    origin: _Origin
    labels: _Labels
    held_out: dict[str, _Figure] = {}
    warnings: list[str] = []


def _figures(one: _Figure) -> dict[str, float]:
    return {name: math.nan if value is None else value for name, value in one.model_dump().items()}
