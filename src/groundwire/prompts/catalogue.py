"""The catalogue of prompt files. A file is never edited once released: new words are a new version."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

_CURRENT = {
    "answer_relevancy": "answer_relevancy_v1.toml",
    "claim_reader": "claim_reader_v1.toml",
    "context_utilization": "context_utilization_v1.toml",
    "contradiction": "contradiction_v1.toml",
    "examples": "examples_v1.toml",
    "faithfulness_statements": "faithfulness_statements_v1.toml",
    "faithfulness_verdicts": "faithfulness_verdicts_v1.toml",
    "frame": "frame_v1.toml",
    "g_eval": "g_eval_v1.toml",
    "g_eval_criterion": "g_eval_criterion_v1.toml",
    "g_eval_kept_steps": "g_eval_kept_steps_v1.toml",
    "g_eval_steps": "g_eval_steps_v1.toml",
    "judge": "judge_v1.toml",
    "level": "level_v1.toml",
    "level_alone": "level_alone_v1.toml",
    "retry": "retry_v1.toml",
    "self_eval": "self_eval_v1.toml",
    "stochastic": "stochastic_v1.toml",
    "stochastic_agreement": "stochastic_agreement_v1.toml",
    "trustworthiness_agreement": "trustworthiness_agreement_v1.toml",
    "trustworthiness_answer": "trustworthiness_answer_v1.toml",
    "trustworthiness_reflection": "trustworthiness_reflection_v1.toml",
}


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What is said to a model: ``system`` and ``user``, with ``$names`` to fill.

    ``again`` is put before ``user`` when a first reply could not be used, and ``form``, which says how to
    reply, after it. A prompt for the application's own model has no ``system``: that place is the
    application's. ``names`` are all that may be filled in, and ``needs`` those without which nothing could be
    judged; own words in place of ours may use the former and must use the latter.
    """

    name: str
    version: str
    user: str
    system: str = ""
    again: str = ""
    form: str = ""
    names: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def fill(self, *, again: bool = False, **values: str) -> str:
        """The user message. Values are data and are not searched for names. KeyError for a missing one."""
        user = Template(self.user).substitute(values)
        return "\n\n".join(part for part in (self.again if again else "", user, self.form) if part)


def names() -> tuple[str, ...]:
    """The names in the catalogue, sorted."""
    return tuple(sorted(_CURRENT))


@cache
def get(name: str) -> Prompt:
    """The current version of a prompt. KeyError, naming the known ones, for any other name."""
    if name not in _CURRENT:
        raise KeyError(f"no prompt is named {name!r}: expected one of {', '.join(names())}")
    data = tomllib.loads((files(__package__) / _CURRENT[name]).read_text(encoding="utf-8"))
    said: dict[str, Any] = {
        key: value.strip() if isinstance(value, str) else tuple(value) for key, value in data.items()
    }
    filled = tuple(Template(said["user"]).get_identifiers())
    # The code of the marks is told to the model in any case; see ``message``.
    needs = tuple(one for one in filled if one != "code")
    return Prompt(name=name, **({"names": filled, "needs": needs} | said))
