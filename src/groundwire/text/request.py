"""What is asked for: an answer to a question, or a text that tells over what is given."""

from __future__ import annotations

import re

from groundwire.text import premise

_PLEASE = r"\W*+(?:(?:please|now|kindly)\s++|(?:can|could|would|will) you\s++)*"
_MADE_OF_IT = (
    r"summary|summaries|summari[sz]ation|overview|abstract|synopsis|digest|recap|outline|description|"
    r"paraphrase|headline|tl;?dr|zusammenfassung|überblick|résumé|resumen|riassunto|samenvatting"
)
_WRITE = r"write|give|create|generate|provide|draft|prepare|produce|make|compose|schreibe?n?|erstellen?"
_TELL_OVER = (
    r"summari[sz]e|sum\s++up|recap|paraphrase|condense|rephrase|rewrite|shorten|"
    r"fasse?\b.{0,60}\bzusammen|résume[zr]?|riassum\w++|vat\b.{0,60}\bsamen|"
    r"resum[ea]n?(?=\s++(?:el|la|l[oa]s|est[aeo]s?)\b)"  # in English, a résumé or to go on
)
# "What headline rate was reported?"
_ASKS = r"(?:what|which|whose|who|how|is|are|was|were|do|does|did|has|have|can|will)\b"
_RETELLS = re.compile(
    rf"{_PLEASE}(?:(?:{_TELL_OVER})\b|(?:{_WRITE})\b"
    rf"(?:\s++(?!(?:about|of|to|when|how|why)\b)[\w'-]++,?){{0,6}}?\s++(?:{_MADE_OF_IT})\b|"
    rf"(?:an?\s++)?(?:(?!{_ASKS})\w++\s++)?(?:{_MADE_OF_IT})\b)",
    re.IGNORECASE,
)


def is_question(text: str) -> bool:
    """Whether a text asks something, and not for a summary, an overview or the like.

    Of a conversation, what the asker said last counts.
    """
    last = text.rpartition(premise.TURN)[2].strip()
    return bool(last) and _RETELLS.match(last) is None
