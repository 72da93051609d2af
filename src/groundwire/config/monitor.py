r"""Settings of what keeps outcomes, as people write them beside those of a checker.

    monitor:
      url: postgresql://user@host/database            # sqlite:///groundwire.db if left out
      tags: {application: handbook}
      sampling: {rate: 0.1, flagged: true, levels: [high], abstentions: true}
      retention: {days: 90, megabytes: 2000}
      redact: [keys, emails, cards, {pattern: "EMP-\d+"}]
      durable: false
      drift: {reference: 500, window: 150, step: 10, false_alarms: 0.01}   # or false
      alerts: [log, {webhook: "https://example.com/hook"}]

What a monitor does with them is ``groundwire.monitor``'s to know; rules and callables are for Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field

from groundwire.config.section import Number, Section, Whole
from groundwire.core.errors import ConfigurationError, gathered
from groundwire.core.keeper import Keeper
from groundwire.core.redaction import Redaction
from groundwire.detectors import settings


class Pattern(Section):
    """A regular expression of one's own, for what is to be masked."""

    pattern: str


class SamplingSettings(Section):
    """What is kept; see ``groundwire.monitor.Sampling``."""

    rate: Number = 1.0
    flagged: bool = False
    levels: tuple[str, ...] = ()
    abstentions: bool = False


class RetentionSettings(Section):
    """For how long; see ``groundwire.monitor.Retention``."""

    days: Number | None = None
    megabytes: Number | None = None


class DriftSettings(Section):
    """How drift is watched for; see ``groundwire.monitor.Drift``."""

    reference: Whole = 500
    window: Whole = 150
    step: Whole = 10
    false_alarms: Number = 0.01


class WebhookSettings(Section):
    """Where an alarm is posted."""

    webhook: str = Field(repr=False)  # whoever has the address can post to it


class MonitorSettings(Section):
    """A monitor; see ``groundwire.monitor.Monitor``. What is left out is as it is there."""

    url: str | None = Field(default=None, repr=False)  # a password may stand in it
    tags: dict[str, str] = Field(default_factory=dict)
    sampling: SamplingSettings | None = None
    retention: RetentionSettings | None = None
    redact: tuple[str | Pattern, ...] = ()
    durable: bool = False
    durability: Literal["process", "power"] = "process"
    capacity: Annotated[Whole, Field(ge=1)] = 10_000
    spool: str | None = None
    spool_megabytes: Annotated[Number, Field(gt=0, lt=1e9)] = 100
    timeout: Annotated[Number, Field(gt=0, lt=1e9)] = 10.0
    drift: DriftSettings | Literal[False] | None = None
    alerts: tuple[Literal["log"] | WebhookSettings, ...] = ("log",)

    def build(self, *, also: tuple[str | Pattern, ...] = ()) -> Keeper:
        """The monitor of these settings, opened; ``also`` is masked, too.

        Raises ConfigurationError, and MissingExtraError.
        """
        monitor: Keeper = import_module("groundwire.monitor").Monitor(**self.parts(also=also))
        return monitor

    def parts(self, *, also: tuple[str | Pattern, ...] = ()) -> dict[str, Any]:
        """What the monitor is built from. Raises as ``build``, naming every mistake, and opens nothing."""
        # By its name: what keeps outcomes lies above what judges, and needs a database's packages.
        room = import_module("groundwire.monitor")
        given = self.model_dump(
            exclude_unset=True,
            exclude={
                "sampling",
                "retention",
                "redact",
                "drift",
                "alerts",
                *({"url"} if self.url is None else ()),
            },
        )

        def built(kind: str, name: str, options: Mapping[str, Any]) -> Callable[[], Any]:
            return lambda: settings.part(getattr(room, kind), options, f"monitor.{name}")

        builds: dict[str, Callable[[], Any]] = {
            name: built(kind, name, part.model_dump())
            for name, kind in (("sampling", "Sampling"), ("retention", "Retention"), ("drift", "Drift"))
            if (part := getattr(self, name))
        }
        builds["redact"] = lambda: redaction((*also, *self.redact), where="monitor.redact")
        hooks = [
            (lambda: room.log_alert)
            if one == "log"
            else built("Webhook", f"alerts.{nth}", {"url": one.webhook})
            for nth, one in enumerate(self.alerts)
        ]
        *parts, _ = gathered((*builds.values(), *hooks, lambda: self._require_url(room.Monitor)))
        given |= dict(zip(builds, parts, strict=False))
        given["alerts"] = parts[len(builds) :]
        return {**given, "drift": None} if self.drift is False else given

    def _require_url(self, monitor: Any) -> None:
        try:
            if self.url is not None:
                monitor.require_url(self.url)
        except ConfigurationError as error:
            raise ConfigurationError(*(f"monitor: {one}" for one in error.problems)) from error


MONITOR_PARTS: Mapping[str, type[Section]] = MappingProxyType(
    {"sampling": SamplingSettings, "retention": RetentionSettings, "drift": DriftSettings}
)
"""The parts that are tables of their own."""


def url_alone(value: Any) -> Any:
    """``monitor: URL`` is short for ``monitor: {url: URL}``."""
    return {"url": value} if isinstance(value, str) else value


def redaction(given: Iterable[str | Pattern], *, where: str) -> Redaction | None:
    """What masks by these names and patterns; None for none. Raises ConfigurationError."""
    problems: list[str] = []
    patterns: list[str | re.Pattern[str]] = []
    for one in given:
        if isinstance(one, str):
            patterns.append(one)
            continue
        try:
            patterns.append(re.compile(one.pattern))
        except re.error as error:
            problems.append(f"{where}: {one.pattern!r} is no regular expression: {error}")
    if problems:
        raise ConfigurationError(*problems)
    try:
        return Redaction(*patterns) if patterns else None
    except ConfigurationError as error:
        raise ConfigurationError(*(f"{where}: {problem}" for problem in error.problems)) from error
