"""The catalogue of prompt files. A file is never edited once released: new words are a new version."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

_CURRENT = {"examples": "examples_v1.toml", "judge": "judge_v1.toml", "retry": "retry_v1.toml"}


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What is said to a model: ``system`` as it stands, ``user`` with ``$names`` to fill.

    ``again`` is put before ``user`` when a first reply could not be used. A prompt for the application's
    own model has no ``system``: that place is the application's.
    """

    name: str
    version: str
    user: str
    system: str = ""
    again: str = ""

    def fill(self, *, again: bool = False, **values: str) -> str:
        """The user message. Values are data and are not searched for names. KeyError for a missing one."""
        user = Template(self.user).substitute(values)
        return f"{self.again}\n\n{user}" if again else user


def names() -> tuple[str, ...]:
    """The names in the catalogue, sorted."""
    return tuple(sorted(_CURRENT))


@cache
def get(name: str) -> Prompt:
    """The current version of a prompt. KeyError, naming the known ones, for any other name."""
    if name not in _CURRENT:
        raise KeyError(f"no prompt is named {name!r}: expected one of {', '.join(names())}")
    data = tomllib.loads((files(__package__) / _CURRENT[name]).read_text(encoding="utf-8"))
    return Prompt(name=name, **{key: value.strip() for key, value in data.items()})
