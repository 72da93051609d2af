"""Settings as people write them: a YAML, TOML or JSON file, or a dict of the same shape.

This module reads and checks them, naming every mistake at once; ``Checker.from_config`` builds from them.

    enabled: true
    detector: embedded            # or {name: embedded, some_parameter: ...}
    judge:
      model: bedrock:MODEL_ID
      embeddings: bedrock:EMBEDDING_MODEL_ID
      parameters: {region_name: eu-central-1, temperature: 0}
      timeout: 30                 # seconds for one attempt at a call
      max_concurrency: 8
      limits: {retries: 3, requests_per_minute: 200, tokens_per_minute: 90000, budget: {cost: 20}}
      prices: {MODEL_ID: {input: 0.06, output: 0.24}}   # for a million tokens
      memory: {mode: on, path: judge-memory.sqlite, size: 10000}
    timeout: 60                   # seconds for one check
    budget: {calls: 10}           # of one check
    on_abstention: return         # or raise
    threshold: 0.5
    levels:
      medium: {from: 0.3, label: AMBER, title: Please check, warning: Some of this is not in our documents.}
      high: {from: 0.7}
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from groundwire import detectors
from groundwire.core.budget import Budget
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError, MissingExtraError
from groundwire.core.grading import WORDING, Grading, Level, Wording

if TYPE_CHECKING:
    from groundwire.judge.judge import Judge
    from groundwire.judge.prices import Price

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LevelSettings(_Section):
    """One level: the score it begins at, and the words shown for it. What is left out keeps its default."""

    from_: Fraction | None = Field(default=None, alias="from")
    label: str | None = None
    title: str | None = None
    warning: str | None = None

    @property
    def has_words(self) -> bool:
        return any(word is not None for word in (self.label, self.title, self.warning))


class LevelsSettings(_Section):
    """The three levels; ``low`` begins at 0 and takes no ``from``."""

    low: LevelSettings = LevelSettings()
    medium: LevelSettings = LevelSettings()
    high: LevelSettings = LevelSettings()


class BudgetSettings(_Section):
    """The most that may be spent, on one check or in a period."""

    calls: Annotated[int, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None

    def build(self) -> Budget:
        return Budget(calls=self.calls, tokens=self.tokens, cost=self.cost)


class LimitsSettings(_Section):
    """What the judge may take; see ``groundwire.judge.limits.Limits``."""

    retries: Annotated[int, Field(ge=0)] = 0
    backoff: Annotated[float, Field(ge=0, le=60)] = 1.0
    requests_per_minute: Annotated[int, Field(ge=1)] | None = None
    tokens_per_minute: Annotated[int, Field(ge=1)] | None = None
    budget: BudgetSettings | None = None
    period: Seconds = 86_400.0


def _switch(value: Any) -> Any:
    # YAML reads a bare "on" or "off" as a boolean.
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


class MemorySettings(_Section):
    """Whether the judge remembers, and where; see ``groundwire.judge.memory.Memory``."""

    mode: Annotated[str, BeforeValidator(_switch), Field(pattern="^(off|on|read-only)$")] = "on"
    path: str | None = None
    size: Annotated[int, Field(ge=1)] = 10_000
    namespace: str = ""


class PriceSettings(_Section):
    """What a million tokens cost, sent and received."""

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class JudgeSettings(_Section):
    """The judge: its models by their strings, and what it may take.

    ``parameters`` are what the model is built with, such as temperature or region_name.
    """

    model: str
    embeddings: str | None = None
    parameters: dict[str, Any] = {}
    timeout: Seconds = 30.0
    max_concurrency: Annotated[int, Field(ge=1)] = 8
    limits: LimitsSettings = LimitsSettings()
    prices: dict[str, PriceSettings] = {}
    memory: MemorySettings | None = None
    trace_project: str | None = None

    def price(self) -> Price | None:
        """What the model costs, found without building it: by its string, or by its name behind a colon."""
        from groundwire.judge.prices import Price  # noqa: PLC0415 - most checkers have no judge to load

        known = self.prices.get(self.model) or self.prices.get(self.model.partition(":")[2])
        return Price(**known.model_dump()) if known else None

    def build(self) -> Judge:
        """The judge these settings describe. Raises ConfigurationError for a model that can't be set up."""
        from groundwire.judge.judge import Judge  # noqa: PLC0415 - most checkers have no judge to load
        from groundwire.judge.limits import Limits  # noqa: PLC0415
        from groundwire.judge.memory import Memory  # noqa: PLC0415
        from groundwire.judge.prices import Price  # noqa: PLC0415

        limits = self.limits.model_dump(exclude={"budget"})
        budget = self.limits.budget.build() if self.limits.budget else None
        return Judge(
            self.model,
            embeddings=self.embeddings,
            parameters=self.parameters,
            timeout=self.timeout,
            max_concurrency=self.max_concurrency,
            limits=Limits(**limits, budget=budget),
            prices={name: Price(**price.model_dump()) for name, price in self.prices.items()},
            memory=Memory(**self.memory.model_dump()) if self.memory else None,
            trace_project=self.trace_project,
        )


class Settings(_Section):
    """Everything a Checker can be built from. See the module's text for the layout."""

    enabled: bool = True
    detector: str | dict[str, Any] = detectors.DEFAULT
    judge: JudgeSettings | None = None
    timeout: Seconds | None = 60.0
    budget: BudgetSettings | None = None
    on_abstention: str = Field(default="return", pattern="^(return|raise)$")
    threshold: Fraction | None = None
    levels: LevelsSettings = LevelsSettings()

    def build_detector(self) -> Detector:
        """The detector these settings name.

        Raises ConfigurationError for an unknown name or parameter; it names the mistakes of the levels, too.
        """
        try:
            return self._detector()
        except ConfigurationError as error:
            raise ConfigurationError(*error.problems, *self._level_problems()) from error

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
                wording={
                    **default.wording,
                    **{
                        level: _wording(level, one, default) for level, one in levels.items() if one.has_words
                    },
                },
            )
        except ValueError as error:
            raise ConfigurationError(f"threshold and levels: {error}") from error

    def _detector(self) -> Detector:
        given = {"name": self.detector} if isinstance(self.detector, str) else dict(self.detector)
        if "name" not in given:
            raise ConfigurationError("detector: needs a 'name'")
        name = given.pop("name")
        if not isinstance(name, str):
            raise ConfigurationError(f"detector.name: expected a text, not {_shown(name)}")
        kind = detectors.get(name)
        known = [f.name for f in fields(kind) if f.name != "grading"]
        problems = [
            "detector: 'grading' is not set here: use 'threshold' and 'levels', beside 'detector'"
            if key == "grading"
            else f"detector: {_unknown(key, known)}"
            for key in given
            if key not in known
        ]
        parameters: dict[str, Any] = {key: value for key, value in given.items() if key in known}
        try:
            detector = kind(**parameters)
        except (TypeError, ValueError) as error:
            told = error.problems if isinstance(error, ConfigurationError) else (str(error),)
            problems += [f"detector: {one}" for one in told]
        if problems:
            raise ConfigurationError(*problems)
        return detector

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
    data = source if isinstance(source, Mapping) else _read(Path(source))
    try:
        return Settings.model_validate(dict(data))
    except ValidationError as error:
        raise ConfigurationError(*(_problem(dict(one)) for one in error.errors())) from None


def _read(path: Path) -> Mapping[str, Any]:
    readers: dict[str, Callable[[str], Any]] = {
        ".json": json.loads,
        ".toml": tomllib.loads,
        ".yaml": _yaml,
        ".yml": _yaml,
    }
    if path.suffix.lower() not in readers:
        raise ConfigurationError(
            f"settings file {str(path)!r}: expected a name ending in .yaml, .toml or .json"
        )
    try:
        data = readers[path.suffix.lower()](path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"settings file {str(path)!r}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigurationError(f"settings file {str(path)!r} can't be read: {error}") from error
    if not isinstance(data, Mapping):
        raise ConfigurationError(f"settings file {str(path)!r}: expected keys and values at the top")
    return data


def _yaml(text: str) -> Any:
    try:
        yaml = import_module("yaml")
    except ImportError as error:
        raise MissingExtraError("a YAML settings file", package="pyyaml", extra="yaml") from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        # Not its own text, which quotes the file.
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "unreadable"
        raise ValueError(f"it is no YAML: {problem}{place}") from error


def _wording(level: Level, given: LevelSettings, default: Grading) -> Wording:
    own = default.wording.get(level, WORDING[level])
    return Wording(
        label=_either(given.label, own.label),
        title=_either(given.title, own.title),
        warning=_either(given.warning, own.warning),
    )


def _either(given: Any, default: Any) -> Any:
    return default if given is None else given


def _problem(error: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        *parents, name = error["loc"]
        known = _KNOWN.get(str(parents[-1]) if parents else "", ())
        return f"{'.'.join(map(str, parents)) or 'settings'}: {_unknown(str(name), known)}"
    if error["type"] == "missing":
        return f"{where}: {error['msg'].lower()}"
    return f"{where}: {error['msg'].lower()}, not {_shown(error['input'])}"


def _shown(value: Any) -> str:
    """A value as messages may repeat it; of everything that could hold a key or a text, only the type."""
    short = isinstance(value, str) and len(value) <= _SHORT
    return repr(value) if short or isinstance(value, int | float) else f"a {type(value).__qualname__}"


_SHORT = 16  # characters; no API key is that short
_LEVEL_KEYS = ("from", "label", "title", "warning")
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "": tuple(Settings.model_fields),
    "judge": tuple(JudgeSettings.model_fields),
    "limits": tuple(LimitsSettings.model_fields),
    "budget": tuple(BudgetSettings.model_fields),
    "memory": tuple(MemorySettings.model_fields),
    "levels": tuple(LevelsSettings.model_fields),
    "low": _LEVEL_KEYS,
    "medium": _LEVEL_KEYS,
    "high": _LEVEL_KEYS,
}


def _unknown(name: str, known: tuple[str, ...] | list[str]) -> str:
    if not known:
        return f"unknown key {name!r}; there is none to set here"
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(known)}"
    return f"unknown key {name!r}; {hint}"
