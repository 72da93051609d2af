"""Whether a figure that a question gives is what it asks about, or a condition of the asker's own.

"Does a second bag cost 75 EUR?" may be denied by a document; "How long is a flight of 370 miles?" may not.
"""

from __future__ import annotations

import re

from groundwire.text.fact import Fact

# Questions that ask for something else than their figure; "why" takes it for true.
_ASKS_ELSE = re.compile(
    r"\W*(?:(?:and|but|so|und|et|y|e)\s+)?(?:"
    r"how|what|when|where|which|who|whom|whose|"
    r"wie\w*|wann|wo|welche\w*|wer|wen|wem|hoe\w*|wat|waar|welke?|"
    r"combien|quel\w*|quand|où|que|qui|comment|cu[aá]nt\w*|qu[eé]|cu[aá]l\w*|cu[aá]ndo|d[oó]nde|c[oó]mo|"
    r"quant\w*|quale|quali|quando|dove|chi|come)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|when|suppos\w+|assum\w+|given|wenn|falls|bei|si|se|als)\b|"
    r"\b(?:for|with|of|at|für|mit|von|pour|avec|de|para|con|per|di|voor|met|van) (?:(?:an?|the) )?\Z",
    re.IGNORECASE,
)
_END = re.compile(r"[.?!;\n]\s")


def at_issue(asked: Fact) -> bool:
    """Whether the question asks if this figure of its own is right, or takes it for right."""
    before = asked.source[: asked.span.start]
    opening = before[max((end.end() for end in _END.finditer(before)), default=0) :]
    return not _ASKS_ELSE.match(opening) and not _CONDITION.search(opening)
