"""What stands for words that nobody shall read, or that the reader is to fill in: "[REDACTED_EMAIL]".

It states nothing. What masks a whole length in blocks belongs to ``core.redaction``.
"""

from __future__ import annotations

import re

from groundwire.core.span import Span


def find(text: str) -> list[Span]:
    """The placeholders of ``text``, in order.

    * A word or more in capitals between brackets, of which each names a kind of thing ("[PERSON_1]",
      "<API_KEY>"), and "your" with what is yours in small letters too ("<your-token>").
    * Names between two braces ("{{deploy_key}}").
    * Three or more stars, bullets, blocks or X's, with what is left of the number or address that they hide.
    """
    found = [
        Span(*match.span()) for pattern in (_NAMED, _BRACED, _MASKED) for match in pattern.finditer(text)
    ]
    return sorted(_with_brackets(text, span) for span in found)


def _with_brackets(text: str, span: Span) -> Span:
    """With the brackets that hold nothing else."""
    alone = text.startswith("(", max(0, span.start - 1)) and text.startswith(")", span.end)
    if not alone or not span.start:
        return span
    return Span(span.start - 1 - text.startswith(" ", max(0, span.start - 2)), span.end + 1)


_KINDS = """
    redacted removed masked hidden anonymi[sz]ed censored deleted omitted confidential pii name
    names person first last full middle family user username customer client employee patient member
    contact email e-?mail mail phone mobile telephone tel fax address street city country state zip
    postcode postal location date time birth dob age id uuid number no nr code account iban bic card
    credit debit cvv ssn passport license licence ip url uri link domain host hostname server port
    region zone api key keys token access refresh secret password passwd pwd credential credentials
    bearer auth org organi[sz]ation company project bucket tenant team file path folder repo
    repository branch version value your my insert here placeholder example
"""
_KIND = rf"(?:{'|'.join(_KINDS.split())})"
_JOINED = rf"(?:U[SK][ _])?{_KIND}(?:[ _-]{_KIND}){{0,5}}(?:[ _-]?\d{{1,3}})?"
_CAPITALS = r"(?=[A-Z])(?![^\[\]<>]{0,80}[a-z])"
_NAMED = re.compile(
    rf"(?<![\w\]])\[{_CAPITALS}(?i:{_JOINED})\](?!\()|(?<!\w)<{_CAPITALS}(?i:{_JOINED})>"
    rf"|(?<!\w)[<\[](?i:(?:your|insert)(?:[ _-]{_KIND}){{1,5}})[>\]](?!\()"
)
_BRACED = re.compile(r"\{\{ ?[A-Za-z][\w. -]{0,40}\}\}")
_MASKED = re.compile(
    r"(?<![\w*])(?>[*]{3,40}+(?:[ -][*]{2,40}+){0,5}|[•█●]{3,40}+(?:[ -][•█●]{2,40}+){0,5}"
    r"|[Xx]{4,40}+(?:[ -][Xx]{2,40}+){0,5})(?:[ -]?\d{2,6}(?!\w))?(?![\w*])"
    r"|(?<![\w*])[\w.+-]{1,10}\*{3,20}[\w.-]{0,20}@[\w.-]{3,60}"
)
