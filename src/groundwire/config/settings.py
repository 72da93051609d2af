"""All settings of a checker, read from a file or a dict, and what is built from them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Container, Mapping
from dataclasses import replace
from itertools import filterfalse
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from groundwire import detectors
from groundwire.config.files import read
from groundwire.config.judge import (
    BreakerSettings,
    BudgetSettings,
    JudgeSettings,
    LimitsSettings,
    MemorySettings,
    off,
)
from groundwire.config.monitor import (
    MONITOR_PARTS,
    DriftSettings,
    MonitorSettings,
    Pattern,
    WebhookSettings,
    redaction,
    url_alone,
)
from groundwire.config.section import Fraction, Seconds, Section, Whole
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError, MissingExtraError, gathered
from groundwire.core.grading import WORDING, Grading, Level, Wording
from groundwire.core.redaction import Redaction
from groundwire.core.sink import Sink
from groundwire.core.tuned import Tuned
from groundwire.detectors import settings
from groundwire.tuned_file import from_dict as tuned_from_dict


class LevelSettings(Section):
    """One level: the score it begins at, and the words shown for it. What is left out keeps its default."""

    from_: Fraction | None = Field(default=None, alias="from")
    label: str | None = None
    title: str | None = None
    warning: str | None = None

    @property
    def has_words(self) -> bool:
        return any(word is not None for word in (self.label, self.title, self.warning))


class LevelsSettings(Section):
    """The three levels; ``low`` begins at 0 and takes no ``from``."""

    low: LevelSettings = LevelSettings()
    medium: LevelSettings = LevelSettings()
    high: LevelSettings = LevelSettings()


class Settings(Section):
    """Everything a Checker can be built from. See ``groundwire.config`` for the layout."""

    enabled: bool = True
    detector: str | dict[str, Any] = detectors.DEFAULT
    judge: JudgeSettings | None = None
    timeout: Seconds | None = 60.0
    budget: BudgetSettings | None = None
    on_abstention: Literal["return", "raise"] = "return"
    redact: tuple[str | Pattern, ...] = ()
    monitor: Annotated[MonitorSettings, BeforeValidator(url_alone)] | None = None
    fallback: Annotated[str | dict[str, Any] | None, BeforeValidator(off)] = detectors.DEFAULT
    max_characters: Annotated[Whole, Field(ge=1)] | None = 10_000_000
    max_passages: Annotated[Whole, Field(ge=1)] | None = 100_000
    threshold: Fraction | None = None
    levels: LevelsSettings = LevelsSettings()
    tuned: dict[str, Any] | None = None
    sinks: tuple[str | dict[str, dict[str, Any] | None], ...] = Field(default=(), repr=False)

    def without_monitor(self) -> dict[str, Any]:
        """What was set, as ``load`` takes it, for another checker: without what keeps its outcomes."""
        return self.model_dump(by_alias=True, exclude_unset=True, exclude={"monitor"})

    def build_redaction(self) -> Redaction | None:
        """What masks texts before they are judged; None when nothing does. Raises ConfigurationError."""
        return redaction(self.redact, where="redact")

    def build_detector(self) -> Detector:
        """The detector these settings name.

        Raises ConfigurationError for an unknown name or parameter; it names the mistakes of the levels, too.
        """
        try:
            return self._detector()
        except ConfigurationError as error:
            raise ConfigurationError(*error.problems, *self._level_problems()) from error

    def build_judging(self) -> tuple[Detector, Grading | None]:
        """The detector, and how its scores are read where no tuning says that. Raises ConfigurationError."""
        detector = self.build_detector()
        return detector, None if self.tuned else self.build_grading(detector.grading)

    def build_sinks(self) -> tuple[Sink, ...]:
        """Who is told of outcomes. Raises ConfigurationError naming every mistake at once."""
        if not self.sinks:
            return ()
        from groundwire.sinks.settings import build  # noqa: PLC0415 - most checkers tell nobody

        return build(self.sinks)

    def check_sinks(self) -> None:
        """Raises ConfigurationError naming every mistake in the sinks, and opens none."""
        if self.sinks:
            from groundwire.sinks.settings import wanted  # noqa: PLC0415 - as above

            wanted(self.sinks)

    def check_monitor(self) -> None:
        """Raises ConfigurationError naming every mistake in the monitor, and opens none.

        Without the packages that it needs little can be said; what opens it names them.
        """
        if self.monitor is not None:
            with contextlib.suppress(MissingExtraError):
                self.monitor.parts()

    def build_grading(self, default: Grading) -> Grading | None:
        """How scores are read, starting from the detector's own; None when nothing is set here."""
        levels = {level: getattr(self.levels, level.value) for level in Level}
        if self.threshold is None and all(one == LevelSettings() for one in levels.values()):
            return None
        if self.levels.low.from_ is not None:
            raise ConfigurationError("levels.low.from: the lowest level always begins at 0; remove it")
        own_cuts = self.threshold is None
        try:
            return Grading(
                threshold=default.threshold if self.threshold is None else self.threshold,
                medium=_either(self.levels.medium.from_, default.medium if own_cuts else None),
                high=_either(self.levels.high.from_, default.high if own_cuts else None),
                wording=self._wording(default),
            )
        except ValueError as error:
            raise ConfigurationError(f"threshold and levels: {error}") from error

    def build_tuned(self) -> Tuned | None:
        """The tuning that scores are read by, with the words set here; None when none is set.

        Raises ConfigurationError naming every mistake in it, and for a threshold or levels beside it.
        """
        if self.tuned is None:
            return None
        problems = [
            f"{name}: the tuning has set it; remove it, or 'tuned'"
            for name, set_here in (
                ("threshold", self.threshold is not None),
                *(
                    (f"levels.{one.value}.from", getattr(self.levels, one.value).from_ is not None)
                    for one in Level
                ),
            )
            if set_here
        ]
        if problems:
            raise ConfigurationError(*problems)
        tuned = tuned_from_dict(self.tuned)
        return replace(tuned, grading=replace(tuned.grading, wording=self._wording(tuned.grading)))

    def build_fallback(self) -> Detector | None:
        """The detector that judges in place of one whose model is unavailable; None for nobody."""
        if self.fallback is None:
            return None
        try:
            return settings.build(self.fallback)
        except ConfigurationError as error:
            told = (f"fallback: {one.removeprefix('detector: ')}" for one in error.problems)
            raise ConfigurationError(*told) from error

    def _wording(self, default: Grading) -> dict[Level, Wording]:
        levels = {level: getattr(self.levels, level.value) for level in Level}
        own = {level: _wording(level, one, default) for level, one in levels.items() if one.has_words}
        return {**default.wording, **own}

    def _detector(self) -> Detector:
        return settings.build(self.detector)

    def _level_problems(self) -> tuple[str, ...]:
        """What is wrong with the levels, as far as that does not depend on the detector."""
        if self.threshold is None and self.levels.low.from_ is None:
            return ()
        try:
            self.build_grading(Grading())
        except ConfigurationError as error:
            return error.problems
        return ()


def load(source: str | Path | Mapping[str, Any]) -> Settings:
    """Read settings from a file (.yaml, .yml, .toml or .json) or a mapping.

    Raises ConfigurationError naming every mistake, each with what was expected.
    """
    data = dict(source if isinstance(source, Mapping) else read(Path(source)))
    place = Path() if isinstance(source, Mapping) else Path(source).parent
    if "detector" in data:
        data["detector"] = _with_examples(data["detector"], place)
    if isinstance(data.get("tuned"), str | Path):
        _take_tuning(data, place / data["tuned"])  # after the examples: a tuning has none by name
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        problems = _problems([dict(one) for one in error.errors()])
        problems += _other_problems(data, {str(one["loc"][0]) for one in error.errors()})
        raise ConfigurationError(*dict.fromkeys(problems)) from None


def _other_problems(data: Mapping[str, Any], told: Container[str]) -> tuple[str, ...]:
    """What is wrong with the settings that have the right form, for whoever has told of the others."""
    sound = Settings.model_validate({name: value for name, value in data.items() if str(name) not in told})
    detector = [] if "detector" in told else [lambda: settings.build(sound.detector)]
    rest = (sound.build_redaction, sound.build_fallback, sound.check_sinks, sound.check_monitor)
    try:
        gathered([*detector, *rest])
    except ConfigurationError as error:
        return error.problems
    return ()


def _take_tuning(data: dict[str, Any], path: Path) -> None:
    """Put what a file of ``groundwire tune`` holds where its name was: the tuning, and whom it is for."""
    file = read(path)
    if not isinstance(file.get("tuned"), Mapping):
        raise ConfigurationError(
            f"tuned: {str(path)!r} holds no tuning: expected a file that groundwire tune wrote"
        )
    data["tuned"] = file["tuned"]
    if "detector" in file:
        data.setdefault("detector", file["detector"])


def _with_examples(detector: Any, place: Path) -> Any:
    """A detector's settings, and those of its parts, with the examples of each file that they name."""
    if isinstance(detector, list | tuple):
        return [_with_examples(one, place) for one in detector]
    if not isinstance(detector, Mapping):
        return detector
    told = {name: _with_examples(value, place) for name, value in detector.items()}
    if isinstance(told.get("examples"), str):
        path = place / told["examples"]
        try:
            told["examples"] = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigurationError(f"detector.examples: {str(path)!r}: {error.strerror}") from error
        except ValueError as error:
            raise ConfigurationError(f"detector.examples: {str(path)!r} is no JSON: {error}") from error
    return told


def _wording(level: Level, given: LevelSettings, default: Grading) -> Wording:
    own = default.wording.get(level, WORDING[level])
    return Wording(
        label=_either(given.label, own.label),
        title=_either(given.title, own.title),
        warning=_either(given.warning, own.warning),
    )


def _either(given: Any, default: Any) -> Any:
    return default if given is None else given


def _problems(errors: list[dict[str, Any]]) -> list[str]:
    """What is said of pydantic's errors, once for each place, however many kinds of value fit there."""
    places = [tuple(filterfalse(_is_kind, error["loc"])) for error in errors]
    told: list[str] = []
    for error, place in zip(errors, places, strict=True):
        where = ".".join(map(str, place))
        if not (_is_kind(error["loc"][-1]) and error["type"] in _OTHER_TYPES):
            told.append(_problem(error, where))
        elif not any(other[: len(place)] == place and other != place for other in places):
            kinds = [_words(one["loc"][-1]) for one, at in zip(errors, places, strict=True) if at == place]
            wanted = " or ".join(dict.fromkeys(kinds))
            told.append(f"{where}: expected {wanted}, not {settings.shown(error['input'])}")
    return told


def _problem(error: Mapping[str, Any], where: str) -> str:
    if error["type"] == "extra_forbidden":
        *parents, name = error["loc"]
        known = _KNOWN.get(str(parents[-1]) if parents else "", ())
        parent = where.removesuffix(str(name)).removesuffix(".")
        return f"{parent or 'settings'}: {settings.unknown(str(name), known)}"
    if error["type"] == "missing":
        return f"{where}: {error['msg'].lower()}"
    wanted = "expected a list" if error["type"] == "tuple_type" else error["msg"].lower()
    if error["type"] == "model_type":  # pydantic names the class, which is nothing of the reader's
        wanted = f"expected a table of {', '.join(_KNOWN.get(str(error['loc'][-1]), ())) or 'settings'}"
    return f"{where}: {wanted}, not {settings.shown(error['input'])}"


def _is_kind(part: Any) -> bool:
    """Whether a part of a place only tells which kind of value pydantic tried, of several that fit there."""
    return part == "str" or str(part).startswith(("dict[", "literal[")) or part in _TABLES


def _words(kind: str) -> str:
    if kind.startswith("literal["):
        return kind.removeprefix("literal[").removesuffix("]").lower()
    return "a name" if kind == "str" else "a table"


_TABLES: Mapping[str, tuple[str, ...]] = {
    kind.__name__: tuple(kind.model_fields) for kind in (Pattern, WebhookSettings, DriftSettings)
}
_OTHER_TYPES = ("string_type", "dict_type", "model_type", "literal_error")
_LEVEL_KEYS = ("from", "label", "title", "warning")
_KNOWN: Mapping[str, tuple[str, ...]] = {
    **_TABLES,
    "": tuple(Settings.model_fields),
    "judge": tuple(JudgeSettings.model_fields),
    "limits": tuple(LimitsSettings.model_fields),
    "breaker": tuple(BreakerSettings.model_fields),
    "budget": tuple(BudgetSettings.model_fields),
    "memory": tuple(MemorySettings.model_fields),
    "monitor": tuple(MonitorSettings.model_fields),
    **{name: tuple(kind.model_fields) for name, kind in MONITOR_PARTS.items()},
    "levels": tuple(LevelsSettings.model_fields),
    "low": _LEVEL_KEYS,
    "medium": _LEVEL_KEYS,
    "high": _LEVEL_KEYS,
}
