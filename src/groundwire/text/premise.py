"""Whether a figure that a question gives is what it asks about, or a condition of the asker's own.

"Does a second bag cost 75 EUR?" may be denied by a document; "How long is a flight of 370 miles?" may not. In
earlier turns of a conversation, what is said of the asker is a circumstance, and "The fee is 75 EUR." is not.
"""

from __future__ import annotations

import re

from groundwire.text.fact import Fact

# Questions that ask for something else than their figure; "why" takes it for true.
_ASKS_ELSE = re.compile(
    r"\W*(?:(?:and|but|so|und|et|y|e)\s+)?(?:"
    r"how(?! come)|what|when|where|which|who(?! (?:says|said|claims|told))|whom|whose|"
    r"wie\w*|wann|wo|welche\w*|wer|wen|wem|hoe\w*|wat|waar|welke?|"
    r"combien|quel\w*|quand|où|que|qui|comment|cu[aá]nt\w*|qu[eé]|cu[aá]l\w*|cu[aá]ndo|d[oó]nde|c[oó]mo|"
    r"quant\w*|quale|quali|quando|dove|chi|come)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|when(?! \w+ing\b)|suppos\w+|assum\w+|given|wenn|falls|bei|si|se|als)\b|"
    r"\b(?:for|with|of|at|für|mit|von|pour|avec|de|para|con|per|di|voor|met|van) (?:(?:an?|the) )?\Z",
    re.IGNORECASE,
)
_END = re.compile(r"[.?!;\n](?=\s|\Z)|\x1e|\s[-–—](?=\s)")
# What makes a statement before it a question: "I was told that it is 75 EUR. Is that so?"
_IS_THAT_SO = re.compile(
    r"\W*(?:and )?(?:(?:is|isn't|was) (?:that|this|it) |ist das |est-ce |c'est |es |è |klopt )?"
    r"(?:really |still |wirklich |noch |vraiment )?"
    r"(?:right|correct|true|so|the case|accurate|or not|yes or no|am i (?:right|wrong|correct)|"
    r"(?:can|could|would) you (?:please )?(?:confirm|verify)|please confirm|do you (?:know|agree)|"
    r"richtig|wahr|oder|vrai|exact|juste|"
    r"verdad|cierto|correcto|vero|corretto|giusto|dat|waar|juist)\b",
    re.IGNORECASE,
)
# What asks about a circumstance that was told before it: "My bag weighs 30 kg, is that allowed?"
_ASKED_AFTER = re.compile(
    r",\s*(?:and |so |but )?(?:am|is|are|can|could|do|does|did|may|must|will|would|should|shall|has|have)\b",
    re.IGNORECASE,
)
# What asks, or tells of what was heard, and not of the asker: it is at issue whatever else is asked after it.
_ASKS_IT = re.compile(
    r"\W*(?:and |so |but )?"
    r"(?:is|are|was|were|do|does|did|can|could|will|would|has|have|must|may)\b(?! (?:i|we)\b)|"
    r".*\b(?:read|heard|told|says?|said|claims?|believe|thought|understand|understood|supposedly)\b",
    re.IGNORECASE | re.DOTALL,
)
# What was heard of others, and is no circumstance of the asker's own even in a sentence by itself.
_HEARD = re.compile(
    r"\b(?:(?:i(?:'ve| have)? (?:just )?(?:read|heard)|i(?: was|'ve been| have been) told|"
    r"(?:someone|somebody|people|they) (?:says?|said|claims?|claimed|tells? me|told me))\b"
    r"(?:(?!\b(?:i|i'm|my|me|we|our|us)\b)[^,;:]){0,40}? (?:that|it|it's|there|the|an?|your))\b"
    r"(?!.*\b(?:i|i'm|my|we|our)\b)",
    re.IGNORECASE | re.DOTALL,
)
_NEAR = 400  # characters around a figure that are looked at
TURN = "\N{INFORMATION SEPARATOR TWO}"
"""What stands after each earlier turn, in a question that begins with them."""

_OF_THE_ASKER = re.compile(
    r"\b(?:i|i['’]\w+|my|me|mine|we|we['’]\w+|our|us|ich|wir|mein\w*|unser\w*|mir|mich|uns|je|nous|mon|ma|mes|nos"
    r"|notre|yo|mis?|tengo|soy|estoy|tenemos|somos|nuestr\w+|io|ho|sono|abbiamo|siamo|mi[oae]i?|nostr\w+|eu|tenho|sou"
    r"|temos|meus?|minhas?|nossos?|ik|wij|mijn|onze?)\b|\b[jm]['’]\w",
    re.IGNORECASE,
)


def at_issue(asked: Fact) -> bool:
    """Whether the question asks if this figure of its own is right, or takes it for right.

    What is told in a sentence of its own is the asker's circumstance, unless it was heard of others or it is
    asked whether it is so.
    """
    text = asked.source[max(0, asked.span.start - _NEAR) : asked.span.end + _NEAR]
    place = asked.span.shifted(-max(0, asked.span.start - _NEAR))
    begin = max((end.end() for end in _END.finditer(text, 0, place.start)), default=0)
    opening = text[begin : place.start]
    if _ASKS_ELSE.match(opening) or _CONDITION.search(opening):
        return False
    end = _END.search(text, place.end)
    rest, after = (
        (text[place.end :], "") if end is None else (text[place.end : end.start()], text[end.end() :])
    )
    told = _ASKED_AFTER.search(rest)
    if told and not _ASKS_IT.match(opening):
        return bool(_IS_THAT_SO.match(rest, told.start() + 1))
    if "?" not in text or (end is not None and end[0] == "?"):
        return True
    if TURN in asked.source[asked.span.end :] and not _OF_THE_ASKER.search(opening + rest):
        return True
    return bool(_IS_THAT_SO.match(after) or _HEARD.search(opening))
