"""What an answer says of itself: that it comes, how sure it is, what it is based on or for.

Whole sentences alone, in English: one that goes on to say something is a claim.
"""

from __future__ import annotations

import re

from groundwire.text import tokens


def is_of_itself(sentence: str) -> bool:
    """Whether a sentence only announces an answer, or says what kind of answer it is."""
    if len(sentence) > _LONGEST:
        return False
    if _DESCRIBING.fullmatch(sentence):
        return True
    words = [tokens.fold(word) for word in tokens.texts(sentence)]
    of_itself = sentence.endswith(":") or not _ANNOUNCED.isdisjoint(words)
    return of_itself and bool(words) and _ANNOUNCING.issuperset(words)


def is_disclaimer(sentence: str) -> bool:
    """Whether a sentence only says what an AI can't do. Where it stands alone, it declines to answer."""
    return len(sentence) <= _LONGEST and _LIMITS.fullmatch(sentence) is not None


_LONGEST = 160
# Words by which an answer calls itself, and all that may stand beside them where it is announced.
_ANNOUNCED = frozenset(
    """
    answer answers response summary overview breakdown explanation information details points facts findings
    found find results list steps here ai ai-generated
    """.split()  # noqa: SIM905
)
_ANNOUNCING = (
    _ANNOUNCED
    | tokens.STOP_WORDS
    | frozenset(
        """
        sure certainly okay ok below above following key main relevant important concise brief short
        quick detailed step based given provided supplied retrieved available context contexts document
        documents source sources passage passages text texts article articles excerpt excerpts materials
        content question query request according regarding can could may let see some all everything
        tell share say know used taken drawn comes topic generated assistant make mistakes incorrect
        inaccurate errors contain contains disclaimer
        """.split()  # noqa: SIM905
    )
)

_CONFIDENCE = (
    r"[*_]{0,2}(?:confidence|certainty)(?: (?:level|score|rating))?[*_]{0,2} ?[:=][*_]{0,2} ?"
    r"(?:(?:very )?(?:high|medium|moderate|low)|\d[\d.]{0,5}(?: ?%|/\d{1,3})?)"
)
_NOTED = "(?:please )?(?:note that )?(?:this|the|my)(?: answer| response| summary| information| content)? is "
_GIVEN = (
    "(?:the |your )?(?:(?:provided|given|retrieved|available|supplied|above) )?"
    "(?:context|documents?|sources?|passages?|information|text|materials?)(?: (?:provided|given|above))?"
)
_ONLY = "(?:(?:solely|only|entirely) )?"
_BASED = f"{_NOTED}(?:provided )?{_ONLY}based {_ONLY}on {_GIVEN}"
_PURPOSE = (
    f"{_NOTED}(?:provided )?for (?:general )?(?:informational|educational|information|general) "
    "(?:purposes|use) only"
)
_PLAINLY = "(?!(?:but|however|although|which|that|because)\\b)[a-z'’-]++"
_LIMITS = re.compile(
    "as an ai(?: language)?(?: model| assistant| system)?,? i "
    "(?:can(?:not|['’]t| only)|only|do(?: not|n['’]t)|am (?:unable|not able|only able) to) "
    f"{_PLAINLY}(?>(?:,? {_PLAINLY})*)[\\s!.…]*",
    re.IGNORECASE,
)
_DESCRIBING = re.compile(rf"(?:{_CONFIDENCE}|{_BASED}|{_PURPOSE})[\s!.…]*", re.IGNORECASE)
