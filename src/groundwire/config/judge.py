"""Settings of a judge: its models by their strings, and what it may take. ``config`` shows their layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from groundwire.config.section import Number, Seconds, Section, Whole
from groundwire.core.budget import Budget
from groundwire.core.errors import ConfigurationError

if TYPE_CHECKING:
    from groundwire.judge.judge import Judge
    from groundwire.judge.prices import Price


class BudgetSettings(Section):
    """The most that may be spent, on one check or in a period."""

    calls: Annotated[Whole, Field(ge=0)] | None = None
    tokens: Annotated[Whole, Field(ge=0)] | None = None
    cost: Annotated[Number, Field(ge=0, allow_inf_nan=False)] | None = None

    def build(self) -> Budget:
        return Budget(calls=self.calls, tokens=self.tokens, cost=self.cost)


class LimitsSettings(Section):
    """What the judge may take; see ``groundwire.judge.limits.Limits``."""

    retries: Annotated[Whole, Field(ge=0)] = 0
    backoff: Annotated[Number, Field(ge=0, le=60)] = 1.0
    requests_per_minute: Annotated[Whole, Field(ge=1)] | None = None
    tokens_per_minute: Annotated[Whole, Field(ge=1)] | None = None
    budget: BudgetSettings | None = None
    period: Seconds = 86_400.0


class BreakerSettings(Section):
    """When a model counts as unavailable; see ``groundwire.judge.breaker.Breaker``."""

    failures: Annotated[Whole, Field(ge=1)] = 5
    rate: Annotated[Number, Field(gt=0, le=1)] | None = None
    window: Annotated[Whole, Field(ge=1)] = 20
    cooldown: Annotated[Number, Field(ge=0, allow_inf_nan=False)] = 30.0


def _switch(value: Any) -> Any:
    # YAML reads a bare "on" or "off" as a boolean.
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


def off(value: Any) -> Any:
    """None for "off", which TOML has no other word for; what YAML makes of it is False."""
    return None if value is False or value == "off" else value


class MemorySettings(Section):
    """Whether the judge remembers, and where; see ``groundwire.judge.memory.Memory``."""

    mode: Annotated[Literal["off", "on", "read-only"], BeforeValidator(_switch)] = "on"
    path: str | None = None
    size: Annotated[Whole, Field(ge=1)] = 10_000
    namespace: str = ""


class PriceSettings(Section):
    """What a million tokens cost, sent and received."""

    input: Annotated[Number, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[Number, Field(ge=0, allow_inf_nan=False)] = 0.0


class JudgeSettings(Section):
    """The judge: its models by their strings, and what it may take.

    ``parameters`` are what the model is built with, such as temperature or region_name. For detectors that
    only embed, ``embeddings`` alone are enough.
    """

    model: str | None = None
    embeddings: str | None = None
    models: dict[str, str] = Field(default_factory=dict)
    parameters: dict[str, Any] = Field(default_factory=dict, repr=False)  # keys may be among them
    structured: bool = False
    timeout: Seconds = 30.0
    max_concurrency: Annotated[Whole, Field(ge=1)] = 8
    limits: LimitsSettings = LimitsSettings()
    breaker: Annotated[BreakerSettings | None, BeforeValidator(off)] = BreakerSettings()
    prices: dict[str, PriceSettings] = Field(default_factory=dict)
    memory: MemorySettings | None = None
    trace_project: str | None = None

    @property
    def completes(self) -> bool:
        """Whether it names a language model."""
        return self.model is not None

    @property
    def embeds(self) -> bool:
        """Whether it names an embedding model."""
        return self.embeddings is not None

    def priced(self) -> dict[str, Price]:
        """What each model costs whose price is given, by its name here, "" for the judge's own.

        Found without building any: by a model's string, or by its name behind a colon.
        """
        from groundwire.judge.prices import Price  # noqa: PLC0415 - most checkers have no judge to load

        found = {
            name: self.prices.get(model) or self.prices.get(model.partition(":")[2])
            for name, model in {"": self.model, **self.models}.items()
            if model is not None
        }
        return {name: Price(**price.model_dump()) for name, price in found.items() if price}

    def build(self) -> Judge:
        """The judge these settings describe. Raises ConfigurationError for a model that can't be set up."""
        from groundwire.judge.breaker import Breaker  # noqa: PLC0415 - most checkers have no judge to load
        from groundwire.judge.judge import Judge  # noqa: PLC0415
        from groundwire.judge.limits import Limits  # noqa: PLC0415
        from groundwire.judge.memory import Memory  # noqa: PLC0415
        from groundwire.judge.prices import Price  # noqa: PLC0415

        if self.model is None and self.embeddings is None:
            raise ConfigurationError("judge: needs a 'model', or 'embeddings' alone for what only embeds")
        limits = self.limits.model_dump(exclude={"budget"})
        budget = self.limits.budget.build() if self.limits.budget else None
        return Judge(
            self.model,
            embeddings=self.embeddings,
            models=self.models,
            parameters=self.parameters,
            structured=self.structured,
            timeout=self.timeout,
            max_concurrency=self.max_concurrency,
            limits=Limits(**limits, budget=budget),
            breaker=Breaker(**self.breaker.model_dump()) if self.breaker else None,
            prices={name: Price(**price.model_dump()) for name, price in self.prices.items()},
            memory=Memory(**self.memory.model_dump()) if self.memory else None,
            trace_project=self.trace_project,
        )
