"""The settings that options name: those of a file, with the options in place of what it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundwire import config
from groundwire.core.errors import ConfigurationError, gathered


def complete_settings(file: str | None, **options: Any) -> config.Settings:
    """``settings_of`` that a checker can be built from.

    Raises ConfigurationError where a model is needed and none is named.
    """
    settings = settings_of(file, **options)
    require_models(settings, _NAMED)
    return settings


def require_models(settings: config.Settings, named: Mapping[str, str]) -> None:
    """Raises ConfigurationError for each model that is needed and missing; ``named`` says how to name it."""
    detector = settings.build_detector()
    if missing := detector.lacking(settings.judge):
        raise ConfigurationError(
            *(
                f"the {detector.name!r} detector asks {kind}, and none is named: {named[kind]}"
                for kind in missing
            )
        )


_NAMED = {
    "a language model": "--model bedrock:MODEL_ID, or a judge in the file of --config",
    "an embedding model": "set judge.embeddings in the file of --config",
}


def settings_of(
    file: str | None,
    *,
    detector: str | None = None,
    model: str | None = None,
    threshold: float | None = None,
) -> config.Settings:
    """The settings of the file, if one is named, with what the other options name."""
    read = config.load(file or {})
    # What is judged here is not kept, but a file that is accepted here should work in the application.
    gathered((read.build_redaction, read.build_fallback, read.check_sinks, read.check_monitor))
    given = read.without_monitor()
    # What can't be judged is told by the exit code; raising would hide the rows that follow.
    given["on_abstention"] = "return"
    if detector or (model and not file):
        given["detector"] = detector or "judge"
    if threshold is not None:
        given["threshold"] = threshold
    if model:
        given["judge"] = {**(given.get("judge") or {}), "model": model}
        if not (built := config.load(given).build_detector()).takes_model:
            raise ConfigurationError(
                f"--model has nothing to answer: the {built.name!r} detector asks no model; "
                "use --detector judge"
            )
    return config.load(given)
