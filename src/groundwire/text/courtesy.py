"""What is only polite: it states nothing, and is judged by nobody.

Whole sentences alone, of phrases from lists without gaps, one or several with a comma or "and" between: a
courtesy that goes on to say something is a claim. What is congratulated on or asked about may be named in a
few small words.
"""

from __future__ import annotations

import re

from groundwire.text.courtesy_phrases import AFFIRMING, GREETING, NAMED, PARTING
from groundwire.text.patterns import several


def is_opening(sentence: str) -> bool:
    """Whether a sentence only opens an answer. Some may affirm where nothing else does: "Of course."."""
    return len(sentence) <= _LONGEST and _COURTEOUS.fullmatch(_MAY_AFFIRM + sentence) is not None


def is_polite(sentence: str) -> bool:
    """Whether a sentence only greets, thanks, feels for the asker, wishes well or offers more help."""
    return len(sentence) <= _LONGEST and _COURTEOUS.fullmatch(sentence) is not None


def is_regards(sentence: str) -> bool:
    """Whether a sentence is what stands above a signature."""
    return is_polite(sentence) and _REGARDS.search(sentence) is not None


def is_asking(sentence: str) -> bool:
    """Whether a sentence asks the asker back, and takes nothing for given, such as a figure or an offer."""
    if len(sentence) > _LONGEST or "?" not in sentence:
        return False
    asked = _THAT.sub(r"\1 this", _LOOKED_INTO.sub("?", sentence))
    return _STATING.search(asked) is None and _ASKING.fullmatch(asked) is not None


def is_their_name(sentence: str, said: str) -> bool:
    """Whether a sentence only calls the asker by the name that they ``said``: "Your name is Ann."."""
    called = _CALLED.fullmatch(sentence) if len(sentence) <= _LONGEST else None
    return called is not None and any(
        name[1].casefold() == called["name"].casefold() for name in _NAMES_SELF.finditer(said)
    )


_LONGEST = 160
_MOST = 5  # phrases: each may be read as words of the one before, too, which costs time


def _any_of(*lists: str) -> str:
    """A pattern of the phrases of the lists."""
    phrases = "|".join("|".join(lines.split("\n")[1:-1]) for lines in lists)
    while (named := re.search(r"<([^\W\d_][^\W\d_ ]*(?: \w+)?)>", phrases)) is not None:
        phrases = phrases.replace(named.group(), NAMED[named[1]].replace("\n", ""))
    return f"(?:{phrases})"


def _sentence() -> re.Pattern[str]:
    """One phrase or several, each with whom it is said to or without; after the mark, they may affirm."""
    name = r"(?-i:(?:M(?:r|s|rs)\.? )?[A-Z][\w-]+)"
    # One pattern for both kinds of sentences: the lists are long, and take long to compile.
    phrase = f"(?:{_any_of(GREETING, PARTING)}|(?(1){_any_of(AFFIRMING)}|(?!)))"
    one = rf"{phrase}(?:, {name}| {name}(?=[,!]))?"
    phrases = several(one, "(?:[,;!]|,? and|[,;!]? [-–—])? ", _MOST, group=2)
    whole = rf"({_MAY_AFFIRM})?[¡¿]?{phrases}[\s!.,…。！？🙂😊👋🎉👍]*"
    return re.compile(whole.replace("'", "['’]"), re.IGNORECASE)


_MAY_AFFIRM = "\0"
_COURTEOUS = _sentence()
_REGARDS = re.compile(
    r"regards|wishes|sincerely|cheers|best|thank|yours|warmly|respectfully|travels|flight|grüßen?"
    r"|cordialement|saludos|saluti|groet",
    re.IGNORECASE,
)
_OFFERED = (
    r"(?:explain|elaborate|clarify|summari[sz]e|check|look|draft|write|list|calculate|compare|find"
    r"|translate|walk|go|show|tell you|guide|help"
    r"|(?:provide|give|share|create)(?: you)?(?: with)?(?: (?:an?|the|some|any|more|further|additional|few"
    r"|short|quick|simple|full|complete|detailed|specific|concrete)){0,6} (?:details?|information"
    r"|examples?|summary|list|overview|steps?|comparison|breakdown|explanation|drafts?|links?|tips|guidance"
    r"|instructions"
    r"|table|version|translation|checklist|calculation))"
)
_ASKING = re.compile(
    r"(?:(?:sorry|and|but|so|first|please|quick question|one question|just to (?:be sure|check|clarify"
    r"|confirm)"
    r"|to (?:be sure|help you (?:better|further)|give you the right answer"
    r"|point you in the right direction)|before (?:we|i) (?:go on|continue|proceed"
    r"|start|begin|look into (?:it|this)))[,:]? )?(?:"
    r"(?:could|can|would|will|may|might) (?:you|i|we) (?:please |kindly |also |just )*"
    r"(?:tell|clarify|specify|provide|share|give|let|confirm|say|ask|know|describe|explain|elaborate"
    r"|check|look|send|rephrase|paste|upload|show|name|narrow)\b"
    r"|(?:which|what|where|when|who|how \w+)\b[^.!?,;:\d]* (?:(?:do|are|were|would|will|have|can) you\b"
    r"|did you (?:mean|book|order|buy|pay|use|receive|travel|fly|stay)\b)"
    r"|(?:which|what|how \w+) (?:is|are|was|were) yours?\b|what's your\b"
    r"|(?:would you like|do you want|want|shall|should) (?:me to|us to|i) <offered>\b"
    r"|would you like (?:to (?:know|learn|hear|see|explore) more|(?:some |any )?(?:more|further|additional) "
    r"|help\b|an (?:example|overview)|a (?:summary|list|draft|comparison))"
    r"|do you have any (?:other |further |more |additional )?(?:questions|concerns)\b"
    r"|is there (?:an?|any|anything) (?:specific|particular)\b[^.!?,;:\d]* (?:you|i)\b"
    r"|do you (?:also )?(?:mean|want(?! me to\b)|need|have in mind)\b"
    r"|are you (?:asking|looking|referring|interested)\b"
    r"|are you (?:currently |already |also )?(?:planning|taking|using|trying|travell?ing|flying|staying"
    r"|having"
    r"|experiencing|getting|seeing)\b(?![^?]*\bthe )|may i ask (?:what|which|when|where|how)\b"
    r"|(?:any )?(?:other |further |more )?questions(?=\?)|(?:anything|is there anything) (?:else )?(?:that )?"
    r"(?:you['’]d|you would) like me to\b"
    r"|(?:what (?:happens|is|comes) next|what['’]s next|what now|so what|why is that|how does (?:it|this"
    r"|that) work"
    r"|what does (?:it|this|that) mean(?: for you)?|what (?:should|can|do) (?:you"
    r"|i) (?:need to )?do(?: next| now)?"
    r"|(?:does|did) (?:it|this|that) (?:help|make sense|answer your question|work for you|sound good)"
    r"|make sense"
    r"|sound good|shall we (?:start|begin)|is (?:this|that) what you (?:were|are) looking for|which (?:one"
    r"|option) (?:works|suits you) best(?: for you)?|ready to (?:start|begin|get started)|need (?:more "
    r"|any )?help)(?=\?)"
    r")[^.!?;:\d]*\?[\s?!🙂😊]*".replace("<offered>", _OFFERED),
    re.IGNORECASE,
)
# In a question, what states something beside it: "the refund that every ticket includes", "our guarantee".
_STATING = re.compile(
    r"[(\[]|(?<![\w-])(?<!your )(?!(?:what|it|that|there|here|who|how|where|let|he|she)['’]s)[\w-]++['’]s \w"
    r"|, (?:which|who|whose|where|when)\b"
    r"|\b(?:that|because|since|after|our|its|their|every|each|all|always|never|free|guarantee\w*|"
    r"two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|fifty|hundred|thousand)\b",
    re.IGNORECASE,
)
_THAT = re.compile(r"\A(is|does|did) that\b", re.IGNORECASE)
# What an answer is wanted for.
_LOOKED_INTO = re.compile(
    r",? so (?:that )?(?:i|we) can (?:look (?:into|at|up) (?:it|this|that)|look (?:it|this|that) up"
    r"|help(?: you)?(?: (?:better|further))?"
    r"|assist(?: you)?(?: (?:better|further))?|check(?: (?:it|this|that|for you))?)\?",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"(?:(?:yes|hi|hello|sure|of course|great question)[,!] )?(?:as )?(?:you (?:just |already )?(?:told me"
    r"|said|mentioned)"
    r"(?: earlier| before)?(?: that|,)? )?(?:your name(?: is|['’]s)|you(?:['’]re| are) called) "
    r"(?P<name>[^\W\d_][\w-]{0,30})[\s.!😊🙂]*",
    re.IGNORECASE,
)
_NAMES_SELF = re.compile(
    r"\b(?:my (?:first )?name(?: is|['’]s)|i['’]m|i am|(?:please|just|can|may) call me"
    r"|this is(?= \S+ (?:here|speaking)\b)) ([^\W\d_][\w-]{0,30})(?!['’\w-])",
    re.IGNORECASE,
)
