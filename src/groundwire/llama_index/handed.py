"""What an agent or a chat engine was handed by the workflow around it.

Documents, and others' answers from them: it found none of that itself, and answers from it all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from groundwire.core.interaction import Passage
from groundwire.host.seen import is_telling
from groundwire.llama_index import findings
from groundwire.llama_index.made import said_in
from groundwire.llama_index.showing import opening
from groundwire.llama_index.spans import Finding, Found, Kind, Part

MOST = 1000
"""How many findings of a workflow its agents are held against; one may go on for days."""


def handed(part: Part) -> list[Passage]:
    """What was found around a part, and its model was told of as it was found, or was told an answer from."""
    if part.handed is None or not part.exchanges:
        part.handed = _handed(part)
    return part.handed


def _handed(part: Part) -> list[Passage]:
    around = list(_around(part))
    if not around:
        return []
    told = "\n".join(one.told for one in part.exchanges)
    behind = findings.passages([one for one in around if _is_answer(one, told)])
    there = findings.passages([one for one in around if one.how is not Found.ANSWERED])
    return findings.unique([*behind, *(passage for passage in there if opening(passage) in told)])


def answers(part: Part) -> list[str]:
    """What was answered around a part before it."""
    return [said for one in _around(part) if is_telling(said := said_in(one))]


def _around(part: Part) -> Iterator[Finding]:
    if part.kind in {Kind.AGENT, Kind.CHAT} and part.parent is not None:
        for above in part.parent.outward:
            yield from above.found[-MOST:]


def _is_answer(finding: Finding, told: str) -> bool:
    said = said_in(finding) if finding.how is Found.ANSWERED else ""
    return is_telling(said) and said in told
