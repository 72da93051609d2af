"""What an answer says of itself: that it or a list comes, how sure it is, what it is based on, what wrote it.

Whole sentences alone, in English, of closed sets of words: one that goes on to say something is a claim.
"""

from __future__ import annotations

import re

from groundwire.core.span import Span
from groundwire.text import forms, tokens


def is_of_itself(sentence: str) -> bool:
    """Whether a sentence only announces an answer, or says what kind of answer it is."""
    if len(sentence) > _LONGEST:
        return False
    if _DESCRIBING.fullmatch(sentence):
        return True
    words = [form.folded for form in forms.of(tokens.texts(sentence))]
    if sentence.rstrip().endswith(":") and not _LISTED.isdisjoint(words) and _LEADING.issuperset(words):
        return True
    put_together = _PUT_TOGETHER.match(sentence)
    if put_together is not None:
        return _is_told(put_together)
    announces = not _ANNOUNCING.isdisjoint(words) and not _ANSWERS.isdisjoint(words)
    if not announces or not _BESIDE.issuperset(words) or _REQUESTING.search(sentence) is not None:
        return False
    return _WORDED.isdisjoint(words) or (_OFFERED.isdisjoint(words) and _HERE.match(sentence) is not None)


def _is_told(put_together: re.Match[str]) -> bool:
    """Whether what an assistant says that it put together is its answer, and no document or letter."""
    sentence = put_together.string
    left = [tokens.fold(word) for word in tokens.texts(sentence[put_together.end() :])]
    made = next((word for word in left if word in _ANSWERS), "")
    told = made in (_ANSWERS if put_together["told"] else _MADE_OF_THEM)
    return told and _BESIDE.issuperset(left) and _OF_SOMEBODY.search(sentence) is None


def attributions(sentence: str) -> list[Span]:
    """Where a sentence only says whence it has what it says: "According to the provided context"."""
    return [Span(*found.span()) for found in _ATTRIBUTION.finditer(sentence)]


_LONGEST = 160
# Who announces says a word of each of the first two sets, and none that is not in the third.
_ANNOUNCING = frozenset(["here", "below", "following", "found", "find", "based", "according"])
_ANSWERS = frozenset(
    """
    answer answers response summary overview version rundown recap
    breakdown explanation information details points facts findings
    comparison example examples draft timeline
    results list steps context documents document sources source passages passage what everything question
    """.split()  # noqa: SIM905
)
# What an assistant can have put together itself: who gathers documents does something else.
_MADE_OF_THEM = _ANSWERS - frozenset(
    """
    context documents document sources source passages passage what everything question
    """.split()  # noqa: SIM905
)
# How it is worded. "The documents can be found in plain English here" is about what there is.
_WORDED = frozenset(["simple", "plain", "language", "everyday", "english", "terms", "nutshell", "most"])
_OFFERED = frozenset(["can", "could", "available", "provided", "supplied", "request", "documents", "letter"])
_OF_SOMEBODY = re.compile(r"\b(?:about|on|to) (?:you|them|him|her|us|me)\b", re.IGNORECASE)
_REQUESTING = re.compile(
    r"(?:\A|\b(?:to|can|could) )request\b|\bby (?:an? )?(?:e-?mail|letter)\b", re.IGNORECASE
)
_HERE = re.compile(
    r"(?:(?:sure|certainly|okay|ok)[,!.]? )?(?:in [\w ]{1,30}, )?"
    r"(?:here(?:['’]s| is| are)|below (?:is|are))\b"
    r"(?!.*\b(?:is|are)\b)",
    re.IGNORECASE,
)
_BESIDE = (
    _ANNOUNCING
    | _ANSWERS
    | tokens.STOP_WORDS
    | frozenset(
        """
        sure certainly okay ok above key main relevant important concise brief short quick detailed step given
        simple plain language everyday english terms nutshell most
        provided supplied retrieved available contexts text texts article
        articles excerpt excerpts materials
        content query request regarding can could all tell topic email e-mail letter reply
        """.split()  # noqa: SIM905
    )
)
# What is said before a list of what it has: "There are two ways back in:", "What the pages do cover:".
_LISTED = frozenset(
    """
    way ways option options thing things step steps point points reason reasons case cases choice choices rule
    rules condition conditions situation situations works happens need needs know cover say says mention tell
    details order do
    """.split()  # noqa: SIM905
)
_LEADING = (
    _BESIDE
    | _LISTED
    | frozenset(
        """
        one two three four five six few several some both main different possible possibilities back exactly
        exact pages page files notes guide manual handbook documentation depending each should how briefly now
        next try first involved simple general helpful useful worth keep mind remember consider
        """.split()  # noqa: SIM905
    )
)

_CONFIDENCE = (
    r"[*_]{0,2}(?:confidence|certainty)(?: (?:level|score|rating))?[*_]{0,2} ?[:=][*_]{0,2} ?"
    r"(?:(?:very )?(?:high|medium|moderate|low)|(?:0?\.\d{1,4}|1(?:\.0)?|\d{1,2}/10))"
)
_NOTED = "(?:please )?(?:note that )?(?:this|the|my)(?: answer| response| summary| information| content)? is "
_GIVEN = (
    "(?:the |your )?(?:(?:provided|given|retrieved|available|supplied|above) )?"
    "(?:context|documents?|sources?|passages?|information|text|materials?)(?: (?:provided|given|above))?"
)
_ATTRIBUTION = re.compile(
    r"\b(?:according to|based (?:solely |only )?(?:up)?on|as (?:per|stated in|mentioned in|described in)) "
    rf"{_GIVEN}\b",
    re.IGNORECASE,
)
_ONLY = "(?:(?:solely|only|entirely) )?"
_FAULTS = (
    "(?:(?:,? and| but)(?: it| as such)? (?:may|might|can) (?:not be (?:complete|exhaustive|accurate"
    "|up to date)"
    "|be (?:incomplete|incorrect|inaccurate|outdated)|contain (?:errors|mistakes|inaccuracies)))?"
)
_BASED = f"(?:note: )?{_NOTED}(?:provided )?{_ONLY}based {_ONLY}on {_GIVEN}{_FAULTS}"
_TAKEN = (
    "(?:this|the|these|all)(?: the)? (?:answer|information|details|facts)(?: above)? "
    f"(?:is|are|comes?|was|were) {_ONLY}(?:based on|from|taken from|drawn from) {_GIVEN}"
)
_USED = f"i (?:have )?(?:only )?used {_GIVEN} to answer (?:this|the|your) question"
_PURPOSE = (
    f"{_NOTED}(?:provided )?for (?:general )?(?:informational|educational|information|general) "
    "(?:purposes|use) only(?:,? and (?:is not|does not constitute|should not be considered)(?: any)? "
    "(?:legal|medical|financial|professional|tax) advice)?"
)
_ALL = (
    "(?:that['’]s|that is|this is) (?:all|everything)(?: the (?:information|details))? (?:that )?"
    "i (?:have|found|could find)(?: on (?:this|the) topic)?"
)
_MADE = (
    "(?:disclaimer: )?(?:(?:this|the|my) (?:answer|response|text|content|summary) (?:was|is|has been) )?"
    "(?:generated|written|created|produced) by (?:an )?ai(?: assistant| model)?"
    f"{_FAULTS}|ai-generated"
)
_MISTAKES = (
    "(?:(?:please )?note that )?(?:i(?:['’]m| am) an ai(?: assistant| model)?(?: and (?:can|may"
    "|might) make mistakes)?"
    "|ai-generated content (?:may|might|can) "
    "(?:be (?:incorrect|inaccurate|wrong)|contain (?:errors|mistakes)))"
)
_STEPS = (
    "(?:(?:ok|okay|alright|sure|so|well|hmm),? )?let(?:['’]s| me| us) (?:break (?:this|it|that"
    "|things) down|walk (?:you )?through (?:this|it)|take a look"
    "|think|go through (?:this|it|them)|see|check|explain|summari[sz]e)(?: (?:step by step|for you"
    "|together|in detail"
    "|one by one|carefully|about (?:this|it)))*:?"
)
_PUT_TOGETHER = re.compile(
    r"i(?:['’]ve| have)? (?:just |also )?(?:(?P<told>summari[sz]ed|outlined|highlighted)|listed|collected"
    r"|gathered|compiled|put together|prepared|written(?! to\b))\b",
    re.IGNORECASE,
)
_PAPERS_GIVEN = "(?:context|documents?|docs|sources?|passages?|information|text|documentation|excerpts?)"
_PAPER = (
    "(?:context|documents?|docs|sources?|passages?|information|text|materials?|handbook|manual|guide|leaflet"
    "|polic(?:y|ies)|article|report|contract|documentation|faqs?|pages?|excerpts?|files?)"
)
_AT_HAND = (
    "(?: (?:(?:that )?you (?:have )?(?:provided|shared|sent|uploaded|attached|pasted|gave me)"
    "|provided|given|above|below|at hand|linked above|linked below))"
)
_THE_PAPER = (
    "(?:the information (?:in|from) )?(?:the |this )?(?:provided |given |retrieved )?"
    f"(?:{_PAPER} )?{_PAPER}{_AT_HAND}?"
)
# That a contract or leaflet has the rest may be wrong; what was given is at hand.
_MARKED = (
    f"(?:(?:the |your |this )?(?:{_PAPER} )?{_PAPER}{_AT_HAND}"
    f"|(?:the |your |this )?(?:provided|given|retrieved) (?:{_PAPER} )?{_PAPER})"
)
_THE_GIVEN = f"(?:{_MARKED}|(?:the |this ){_PAPERS_GIVEN})"
_FROM = (
    f"(?:(?:(?:i(?:['’]ve| have)? (?:only )?{_ONLY}(?:based|base|took|taken|drawn) (?:this|that|it|my answer"
    "|all of this)"
    f" {_ONLY}(?:on|from)|(?:(?:all )?(?:of )?(?:this|my) (?:answer|information|summary)|(?:all )?(?:of )?the"
    f" (?:answer|information|summary) above) (?:is|comes|was)(?: taken| drawn)? {_ONLY}(?:based on|from))"
    f" {_THE_PAPER}|(?:all of )?this (?:is|comes|was)(?: taken| drawn)? {_ONLY}(?:based on|from)"
    f" {_THE_GIVEN})"
    "(?:,? (?:and|but)(?: it)? (?:is not|isn['’]t|does not constitute|doesn['’]t constitute"
    "|doesn['’]t replace)(?: any)?"
    " (?:legal|medical|financial|professional|tax) advice)?)"
)
_DONE = (
    f"(?:i(?:['’]ve| have)? (?:just )?(?:read|went|gone|looked|checked)(?: (?:through|at|over"
    f"|into))? {_THE_PAPER}(?: for you)?"
    "|(?:this|the|my) (?:summary|answer|overview) (?:only )?(?:covers|contains) the (?:main|key"
    "|most important)"
    f" (?:points|facts|information) (?:of|in|from) {_THE_PAPER}"
    "|(?:please )?(?:note|remember|keep in mind) the following:?"
    "|i(?:['’]ve| have)? kept (?:this|it|my answer) (?:short|brief|simple)"
    "|let me (?:answer|address|cover|take|explain|summari[sz]e|list) (?:(?:both|all|the|each|key|main|these"
    "|those|two|of"
    "|your|them|parts?|questions?|points?|facts?|one|by|in|turn|for|you|quickly|briefly) ?)+"
    "|that['’]s the (?:gist|short version|short answer)(?: of it)?|i hope this summary helps)"
)
_REST = "(?:(?:more|further|the|full|additional) )*(?:details|information|text|reference)"
_SEE = "(?:see|check|refer to|read|consult|have a look at|take a look at)"
_MORE = (
    "(?:(?:please )?see (?:above|below|the (?:table|list|section|document|text|steps) (?:above|below))"
    "(?: for (?:(?:more|further|all|the|full|additional) )*(?:details|information))?"
    f"|for {_REST},? (?:please )?{_SEE} {_THE_PAPER}"
    f"|(?:please )?{_SEE} (?:{_THE_PAPER} for {_REST}|{_MARKED})"
    "|(?:you(?: can|['’]ll| will)?(?: also)? find (?:(?:more|further|full|additional) )+"
    "(?:details|information) in|(?:(?:more|further|full|additional) )+(?:details|information) (?:is|are"
    f"|can be found) in) {_THE_GIVEN})"
)
_ASK = (
    "(?:[,;] (?:just )?(?:ask|tell me|let me know)(?: me)? (?:if|should) you(?:['’]d)?(?: would)?"
    " (?:like|want|need|prefer)(?: to (?:know|have|see|hear))?(?: (?:the|a|more|full|all|longer|details?"
    "|version))*)?"
)
_DESCRIBING = re.compile(
    rf"(?:{_FROM}|(?:{_DONE}){_ASK}|{_MORE}|{_STEPS}|{_CONFIDENCE}|{_BASED}|{_TAKEN}|{_USED}|{_PURPOSE}"
    rf"|{_ALL}|{_MADE}"
    rf"|{_MISTAKES})[\s!.…]*",
    re.IGNORECASE,
)
