"""The forms of a word, looked up: folded, stemmed, and whether it carries content."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from groundwire.text import tokens

# "false" and "null" are how a record says no. The Spanish "nada" mostly stands beside a "no", and is a name.
NEGATIONS = frozenset(
    """
    not no never none nor nothing neither cannot without nobody nowhere false null isn't aren't wasn't weren't
    don't doesn't didn't won't wouldn't can't couldn't shouldn't hasn't haven't hadn't mustn't needn't ain't
    nicht kein keine keinen keinem keiner keines nie niemals niemand nichts non pas jamais rien aucun aucune
    nunca ningún ninguna ninguno nadie tampoco mai nessun nessuno nessuna niente não nenhum nenhuma
    ninguém niet geen nooit niemand niets
    """.split()  # noqa: SIM905 - a list of fifty words reads best as words
)


class Form(NamedTuple):
    """``content`` is false for function words and negations."""

    folded: str
    stem: str
    content: bool


def of(words: Iterable[str]) -> list[Form]:
    """The forms of each word, as it is written."""
    known = _known.get
    return [known(word) or _form(word) for word in words]


def _form(word: str) -> Form:
    folded = tokens.fold(word)
    form = Form(folded, tokens.stem(folded), folded not in _EMPTY)
    if len(word) <= _LONGEST_KNOWN:
        if len(_known) >= _MOST:
            _known.clear()
        _known[word] = form
    return form


_EMPTY = tokens.STOP_WORDS | NEGATIONS
# A word is written the same way again and again: its forms are worked out once. Plain dict operations are
# atomic, and a form that two threads work out is the same form.
_MOST = 1 << 17
# Longer ones, as in encoded files, are seldom written again, and would take most of the memory.
_LONGEST_KNOWN = 64
_known: dict[str, Form] = {}
