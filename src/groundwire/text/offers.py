"""What an assistant offers to do with words: to explain, to draft, to shorten, to look at what it is sent.

Whole sentences alone, in English, of closed sets of words. Who offers a thing ("a refund", "a form"), does
more than talk ("order", "take your application") or has to do with others ("write to them") states something.
"""

from __future__ import annotations

import re

from groundwire.text import tokens


def is_offer(sentence: str) -> bool:
    """Whether a sentence only offers more of the same: "I can put this into a table if you like."."""
    if len(sentence) > _LONGEST:
        return False
    offer = _OFFER.fullmatch(sentence)
    if offer is not None:
        return _DOES_MORE.search(offer["what"]) is None and _only_of_words(offer["what"])
    helps = _HELP.fullmatch(sentence)
    if helps is not None:
        return _DOES_MORE.search(helps["what"]) is None
    need = _NEED.fullmatch(sentence)
    if need is None or (need["please"] and not need["so"] and _SOME.search(sentence) is None):
        return False
    return (_NEEDED | _NUMBERS if need["so"] else _NEEDED).issuperset(_folded(need["what"]))


def _only_of_words(what: str) -> bool:
    """Whether it is told or worded, and neither handed over nor filled in."""
    words = _folded(_CODE.sub("example", what))
    return _WORDS.issuperset(words) and (_HANDING.isdisjoint(words) or _THINGS.isdisjoint(words))


def _folded(words: str) -> set[str]:
    return {tokens.fold(word) for word in tokens.texts(words)}


_LONGEST = 160
_NICE = (
    r"(?:if (?:you(?:'d| would)? (?:like|want|prefer|wish)(?: (?:me to|that|it))?"
    r"|you need (?:it|that|a hand|help|any help|me to)|you(?:'re| are) (?:interested|unsure|stuck)"
    r"|(?:that|this|it)(?:'s| is| would be| might be)? (?:useful|helpful|of interest|easier|helps?)"
    r"|(?:that|it|this) would help|needed|necessary)|any ?time|whenever you(?:'re| are) ready)"
)
_SENT = (
    r"if you (?:can |could )?(?:share|send|paste|tell|give|show|upload|provide)(?: me)?(?: with)?"
    r"(?: (?:your|the|more|some|a|few|me))* "
    r"(?:code|details|question|text|draft|e-?mail|message|error|error message|document|file|examples?"
    r"|information|context|order number|booking reference|case number|dates|route)"
)
_CAN = (
    r"(?:(?:i'd be|i would be|i'm|i am)? ?(?:also |always |more than |very |of course )*(?:happy|glad) to"
    r"|i(?:'d| would) (?:gladly|love to|be delighted to)"
    r"|i(?: can| could|'ll| will)(?: also| gladly| certainly| happily| of course| then| always| try to)*"
    r"|(?:please )?(?:just )?let me know (?:if|when|whenever) you(?:'d like|'d prefer| would like| want"
    r"| need) me to"
    r"|(?:just )?let me know,? and i(?:'ll| can| will)|let me)"
)
_DO = (
    r"(?:also )?(?:help|assist|check|explain|walk|guide|take|go|show|share|give|provide|summari[sz]e|draft"
    r"|write|put"
    r"|create|prepare|list|compare|look|find|translate|shorten|simplify|turn|convert|reformat|rephrase|debug"
    r"|elaborate|expand|clarify|answer|break|outline|format|adapt|adjust|tailor)"
)
_BEFORE = rf"(?:(?:and|also|or)?,? ?(?:{_NICE}|{_SENT}),? )?"
_OFFER = re.compile(
    rf"{_BEFORE}{_CAN} (?P<what>{_DO}\b[^.!?;:,()\d]*?)(?:,? {_NICE})?[\s!.…🙂😊]*".replace("'", "['’]"),
    re.IGNORECASE,
)
# To help with words is all that is offered, whatever they are to say.
_HELP = re.compile(
    r"(?:please )?(?:just )?let me know (?:if|when|whenever) you(?:'d like| would like| want| need)"
    r" (?:any |some |my )?(?:help|a hand|assistance)(?: with| in)? (?:drafting|writing|wording|phrasing"
    r"|rewording|summari[sz]ing|comparing|calculating|understanding|interpreting) "
    r"(?P<what>(?>(?:[^.!?;:()\d\s]|\s++(?![!.…🙂😊]|\Z))*))[\s!.…🙂😊]*".replace("'", "['’]"),
    re.IGNORECASE,
)
_NEED = re.compile(
    r"(?:to (?:help you|answer (?:this|that|your question))(?: better| further| fully)?,? )?"
    r"(?:i(?:'d| would)?(?: just| still)? need|(?P<please>please (?:provide|share|send|give|tell|describe)"
    r"|feel free to (?:share|send)))"
    r" (?P<what>[^.!?;:,()\d]*?)(?P<so>,? so (?:that )?i can (?:help|assist|look|check|answer|find)\b"
    r"(?: (?:you|it|this|that|into|up|better|further|your|question|for))*)?[\s!.…🙂😊]*".replace("'", "['’]"),
    re.IGNORECASE,
)
# Who is asked for "your details" without this may have to send them.
_SOME = re.compile(
    r"\A(?:to (?:help|answer)\b)|\b(?:more|further|additional|some|bit|few|context|questions?|mean|clari\w+"
    r"|what|other)\b",
    re.IGNORECASE,
)
# It has to do with others, or with more than words: "put your question to them", "take this over".
_DOES_MORE = re.compile(
    r"\bthem\b|\b(?:put|take) (?!you through\b)(?:your|you)\b|\bput you\b|\btake (?!you\b|a (?:\w+ )?look\b)"
    r"|\bput (?!(?:this|that|it|these|those|together|all)\b)|\bgo (?:out|first|on|and|at|by|to)\b"
    r"|\b(?:share|give|provide|show|send|answer|list|put) (?:\w+ ){0,2}your (?!questions?\b)"
    r"|\b(?:next|full|complete|a|the|another|your) version\b"
    r"|(?<!help you )\b(?:write|draft|prepare) (?:\w+ ){0,2}(?:applications?|forms?)\b"
    r"|\bprepare (?<!help you prepare )|\b(?:check(?:ing)?|walk you) out\b|\bbreak it\Z"
    r"|\b(?:by|over|via|to) (?:an? |the |your )?(?:e-?mail|letter|form|message|reply)\b"
    r"|\b(?:give|provide|share|find) (?:it|this|that|these|those)\b"
    r"|\bany (?:other )?language\b|\bapplication (?:as|at)\b|\bat\Z",
    re.IGNORECASE,
)
_CODE = re.compile(r"\bcode (?:examples?|samples?|snippets?)\b", re.IGNORECASE)
# What is offered: words of talking and writing, and nothing that a document could promise.
_WORDS = frozenset(
    """
        help assist check explain walk guide take go show share give provide summarize summarise draft
        write put
        create prepare list compare look find translate shorten simplify turn convert reformat rephrase debug
        elaborate expand clarify answer break outline format adapt adjust tailor do
        a an the this that it them these those your you me with to for of on in into about as at through over
        out up down by and or also too well then how what which where any some more further other another
        step steps detail details detailed example examples snippet sample question questions
        information overview summary comparison table list checklist plan template version format
        language slide slides chart bullet point points text document report e-mail email message letter reply
        process procedure application form topic part parts section side idea ideas wording tone
        short shorter long longer simple simpler quick full complete specific concrete next first
        get started works work together understand decide choose apply rest anything else something
        """.split()  # noqa: SIM905
)
# Who hands these over or looks them up does more than talk.
_HANDING = frozenset(
    """
        give provide share show take find go look check list expand convert adapt adjust create get turn
        """.split()  # noqa: SIM905
)
_THINGS = frozenset(
    """
        application form plan letter document report e-mail email message reply code template process
        procedure anything something another question questions part parts side section slide slides chart
        """.split()  # noqa: SIM905
)
_NEEDED = frozenset(
    """
    a an the that this your me with of on about to for what you mean need bit little few more some further
    other
    additional
    information detail details context example examples question questions situation clarification clarify
    answer help better or and exact exactly
    """.split()  # noqa: SIM905
)
# What somebody may be asked for, but documents too may say that it has to be sent.
_NUMBERS = frozenset(["order", "booking", "reference", "case", "number", "code", "draft", "text"])
