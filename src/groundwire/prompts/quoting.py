"""How other people's texts are put before a model: between marks that they can't contain.

Pure: the same texts are always quoted the same way. Whether a model keeps to what it is told about the marks
can't be decided here.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_CODE_LENGTH = 12

# What a reader of the text can't see but a model can: controls, directions, tags and variation selectors
# (both smuggle whole hidden messages), fillers that are letters by name alone.
_INVISIBLE = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_BREAKS = "\x0b\x0c\x85\u2028\u2029"
_HIDDEN = re.compile(
    f"(?P<dropped>\r(?=\n)|[{_INVISIBLE}])|(?P<line>[\r{_BREAKS}])|(?P<lone>[\ud800-\udfff])"
)
# Where a server writes messages into a template, these end a turn and begin another one, wherever they stand:
# those of Llama, ChatML, Phi, DeepSeek, Mistral, Gemma, GLM, Nemotron, EXAONE, Seed and MiniMax.
# And what ends a model's thinking would have its reply read from there on, where it quotes such a text.
_OPENS_TURN = re.compile(
    r"<(?=[|\uff5c][^\s<>|\uff5c]{1,60}[|\uff5c]?>|[^\s<>|\uff5c]{1,60}[|\uff5c]>|</?SYS>>|/?s>"
    r"|(?:(?:start|end)_of_turn|(?:seed:)?[be]os|unk|pad|[se]op"
    r"|/?(?:seed:)?(?:think|thinking|thoughts?|reasoning)|(?:extra_id|special|reserved)_[0-9]{1,4})>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|[BE]OS|gMASK|THINK)\])"
    r"|\[(?=\|[^\s\[\]|]{1,60}\|\]|e~\[)|\](?=~!?b[\[\]])|\u25c1(?=/?think\u25b7)",
    re.IGNORECASE,
)
_BRACKET = "\N{MATHEMATICAL LEFT ANGLE BRACKET}"
_INSTEAD = {"dropped": "", "line": "\n", "lone": "\N{REPLACEMENT CHARACTER}"}


@dataclass(frozen=True, kw_only=True)
class Fence:
    """Quotes texts so that none of them can end its own quotation: ``code`` stands in none of them."""

    code: str

    def around(self, label: str, text: str) -> str:
        """The neutral form of ``text`` between an opening and a closing line. ``label`` is our own word."""
        return f"<<<{label} {self.code}>>>\n{neutral(text)}\n<<<end {label} {self.code}>>>"


def fence(texts: Iterable[str]) -> Fence:
    """A fence for these texts, whose code comes from what they say."""
    quoted = [neutral(text) for text in texts]
    whole = hashlib.sha256()
    for text in quoted:
        data = text.encode()
        whole.update(len(data).to_bytes(8, "big") + data)
    lowered = [text.lower() for text in quoted]
    return Fence(code=next(code for code in _codes(whole.digest()) if not any(code in t for t in lowered)))


def neutral(text: str) -> str:
    """The text without what a reader can't see; every kind of line break is a newline.

    The bracket before the name of a model's control token is another one, so that it is none.
    """
    return _OPENS_TURN.sub(_BRACKET, _HIDDEN.sub(_instead, text))


def places(text: str) -> list[int]:
    """For each character of ``neutral(text)``, where it stands in ``text``; and at the end, its length."""
    dropped = {found.start() for found in _HIDDEN.finditer(text) if not _instead(found)}
    return [i for i in range(len(text)) if i not in dropped] + [len(text)]


def _instead(found: re.Match[str]) -> str:
    return _INSTEAD[str(found.lastgroup)]


def _codes(seed: bytes) -> Iterator[str]:
    for attempt in itertools.count():
        yield hashlib.sha256(seed + attempt.to_bytes(8, "big")).hexdigest()[:_CODE_LENGTH]
