"""Attacks on judges: texts that try to steer them, and what comes of it.

``python -m benchmarks.attacks`` runs them all against scripted judges and writes the tables in
docs/security.md. What of the texts reaches a model as instruction, by method, is in ``tests.judge.attacks``.
"""

from __future__ import annotations

import base64
import codecs
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

NO_CODE = "0" * 12


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One text.

    ``written`` disguises it, with ``code`` and ``label`` where it tries to close the quotation of that label.
    """

    family: str
    text: str
    form: str = ""

    def written(self, code: str = NO_CODE, label: str = "answer") -> str:
        return _FORMS[self.form](self.text.replace("{code}", code).replace("{label}", label))


def attacks() -> list[Attack]:
    """All of them, in the order of the file."""
    data = tomllib.loads((Path(__file__).parent / "attacks.toml").read_text(encoding="utf-8"))
    return [
        Attack(family=group["family"], text=text, form=group.get("form", ""))
        for group in data["attack"]
        for text in group["texts"]
    ]


def _fullwidth(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


_FORMS: Mapping[str, Callable[[str], str]] = {
    "": lambda text: text,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "reversed": lambda text: text[::-1],
    "spaced": " ".join,
    "fullwidth": _fullwidth,
    "padding": lambda text: text * (20_000 // len(text)),
    "invisible": "\u200b".join,
    "tags": lambda text: "".join(chr(0xE0000 + ord(c)) for c in text),
}
