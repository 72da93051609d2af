"""Own words in place of the catalogue's, as a parameter of a detector.

They are checked when they are given. That untrusted texts stay quoted is not up to them: see ``message``.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from string import Template

from groundwire.core.errors import ConfigurationError
from groundwire.prompts import catalogue
from groundwire.prompts.catalogue import Prompt

_PARTS = ("system", "user")


class OwnWords:
    """Replaced prompts by their names, such as ``{"level": {"system": "...", "user": "..."}}``.

    A part that is left out stays as it is in the catalogue. A verdict names replaced prompts by a fingerprint
    alone: its detector's parameters travel with every answer, and long texts must not. Raises
    ConfigurationError naming every mistake: a prompt that is not in the catalogue, a ``$name`` that nothing
    fills, a text without which there is nothing to judge.
    """

    def __init__(self, given: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self._given: dict[str, dict[str, str]] = {}
        problems: list[str] = []
        if not isinstance(given or {}, Mapping):
            raise ConfigurationError(f"prompts: expected names and texts, not {type(given).__name__}")
        for name, parts in (given or {}).items():
            found = _problems(name, parts)
            problems += [f"prompts.{name}{one}" for one in found]
            if not found:
                self._given[name] = dict(parts)
        if problems:
            raise ConfigurationError(*problems)

    @property
    def names(self) -> tuple[str, ...]:
        """The prompts that are replaced."""
        return tuple(self._given)

    def get(self, name: str) -> Prompt:
        """The prompt to use: the catalogue's, with the replaced parts."""
        prompt = catalogue.get(name)
        if name not in self._given:
            return prompt
        own = self._given[name]
        return replace(
            prompt,
            version="own",
            system=own.get("system", prompt.system),
            user=own.get("user", prompt.user),
        )

    def problems(self, used: Iterable[str]) -> list[str]:
        """What is replaced although it is not ``used``."""
        known = tuple(used)
        return [
            f"prompts.{name}: this method does not use it; expected one of {', '.join(known)}"
            for name in self._given
            if name not in known
        ]

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change with every word."""
        told = json.dumps(self._given, sort_keys=True)
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnWords) and self._given == other._given

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return (
            f"OwnWords({', '.join(sorted(self._given))}; {self.fingerprint})" if self._given else "OwnWords()"
        )


def _problems(name: str, parts: Mapping[str, str]) -> list[str]:
    """What is wrong with one replaced prompt, each beginning where its name ends."""
    if name not in catalogue.names():
        close = difflib.get_close_matches(str(name), catalogue.names(), n=1)
        return [": no prompt has this name" + (f"; did you mean {close[0]!r}?" if close else "")]
    if not isinstance(parts, Mapping) or not parts:
        return [": expected 'system' and 'user', or one of them"]
    found = [f".{part}: expected one of {', '.join(_PARTS)}" for part in parts if part not in _PARTS]
    found += [
        f".{part}: expected a text, not {type(text).__name__}"
        for part, text in parts.items()
        if part in _PARTS and not isinstance(text, str)
    ]
    if found:
        return found
    prompt = catalogue.get(name)
    for part, text in parts.items():
        found += [f".{part}: {one}" for one in _placeholders(text, prompt)]
    ours = [parts.get(part, getattr(prompt, part)) for part in _PARTS]
    shown = {one for text in ours for one in Template(text).get_identifiers()}
    missing = [one for one in prompt.needs if one not in shown]
    if missing and not found:
        found.append(f": neither text shows ${missing[0]}, and without it there is nothing to judge")
    return found


def _placeholders(text: str, prompt: Prompt) -> list[str]:
    template = Template(text)
    if not template.is_valid():
        return ["a '$' that begins no name; write '$$' for the character itself"]
    unknown = [one for one in template.get_identifiers() if one not in prompt.names]
    known = ", ".join(f"${one}" for one in prompt.names)
    return [f"unknown placeholder ${one}; expected one of {known}" for one in unknown]
