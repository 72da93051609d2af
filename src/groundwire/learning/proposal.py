"""A new configuration beside the one in production, which stays as it is until somebody says otherwise."""

from __future__ import annotations

import difflib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundwire import config
from groundwire.bench.tuning import Target, TuningError
from groundwire.core.errors import ConfigurationError
from groundwire.learning.retuning import Retuned
from groundwire.tuned_file import settings_of

_TOLD = ("target", "threshold", "medium", "high", "calibration", "aggregation", "promise", "fingerprint")


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A settings file that was written, and how it differs from ``production``, if that is a file."""

    found: Retuned
    path: Path
    production: Path | None
    diff: str

    def apply(self) -> Path:
        """Put it in production's place; where production's own went, beside it.

        Whoever reads the file from then on reads the new one: a running process reads none by itself. Raises
        ConfigurationError where there is no file to replace, or where the held-out answers speak against it.
        """
        if self.production is None:
            raise ConfigurationError("there is no file of production's to put it in place of: give --config")
        require_same_form(self.path, self.production)
        if not self._is_no_worse:
            raise TuningError(
                f"not applied: on held-out answers {self.found.tuning.measure} is not higher than what "
                f"production has. {self.path} is there for whoever wants it all the same"
            )
        old = free(self.production.with_stem(f"{self.production.stem}.before"))
        shutil.copy2(self.production, old)
        fresh = free(self.production.with_stem(f"{self.production.stem}.new"))
        shutil.copyfile(self.path, fresh)
        shutil.copymode(self.production, fresh)
        os.replace(fresh, self.production)  # noqa: PTH105 - at once, whole
        return old

    @property
    def _is_no_worse(self) -> bool:
        # With a bound, the one figure may fall so that another rises: only its owner knows whether to.
        if Target.parse(self.found.tuning.tuned.target).bound is not None:
            return True
        lead = self.found.tuning.lead
        return lead is None or lead.difference.value > 0


def propose(found: Retuned, production: Path | None = None, *, out: Path | None = None) -> Proposal:
    """Write the tuning as a settings file: production's settings with what was fitted in its place.

    Its name is ``out``, or production's with ``.retuned``; what is there already is never written over.
    """
    old = _settings(production)
    new = dict(_without_reading(old))
    detector = found.tuning.detector
    if production is None or config.load(production).build_detector() != detector:
        new["detector"] = settings_of(detector)
    path = out or (
        Path("retuned.json")
        if production is None
        else production.with_name(f"{production.stem}.retuned{_suffix(production)}")
    )
    if out is not None and out.exists():
        raise ConfigurationError(f"{str(out)!r} is there already: name another file")
    path = free(path)
    found.tuning.save(path, settings=new)
    return Proposal(
        found=found,
        path=path,
        production=production,
        diff="".join(_diff(old, _settings(path), production, path)),
    )


def require_same_form(path: Path, production: Path) -> None:
    """Raises ConfigurationError where the one can't stand in the other's place."""
    forms = {".yml": ".yaml"}
    first, second = (forms.get(p.suffix.lower(), p.suffix.lower()) for p in (path, production))
    if first != second:
        raise ConfigurationError(
            f"{str(production)!r} can't be replaced by a {first} file: a tuning is written as .json or .yaml"
        )


def free(path: Path) -> Path:
    """The path, with a number behind its name where there is such a file already."""
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_stem(f"{path.stem}-{number}")
    return found


def _suffix(production: Path) -> str:
    return production.suffix if production.suffix.lower() in {".yaml", ".yml", ".json"} else ".json"


def _settings(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    told: dict[str, Any] = config.load(path).model_dump(by_alias=True, exclude_unset=True, mode="json")
    return told


def _without_reading(old: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Production's settings but for what a tuning takes the place of; the words of levels stay."""
    for name, value in old.items():
        if name == "levels":
            levels = {
                level: {key: told for key, told in one.items() if key != "from"}
                for level, one in value.items()
            }
            yield name, {level: one for level, one in levels.items() if one}
        elif name not in {"threshold", "tuned"}:
            yield name, value


def _diff(
    old: Mapping[str, Any], new: Mapping[str, Any], production: Path | None, path: Path
) -> Iterator[str]:
    first, second = (json.dumps(_short(one), indent=2).splitlines(keepends=True) for one in (old, new))
    name = str(production) if production is not None else "as it is now"
    for line in difflib.unified_diff(first, second, fromfile=name, tofile=str(path), n=2):
        yield line if line.endswith("\n") else f"{line}\n"


def _short(told: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a reader compares them: of a tuning what it decides, and not where it comes from."""
    tuned = told.get("tuned")
    if not isinstance(tuned, Mapping):
        return dict(told)
    return {**told, "tuned": {name: tuned[name] for name in _TOLD if tuned.get(name) not in (None, "")}}
