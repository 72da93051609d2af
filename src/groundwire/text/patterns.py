"""How regular expressions that several modules use are put together."""

from __future__ import annotations


def several(one: str, joint: str, most: int, *, group: int = 1) -> str:
    """A pattern of one to ``most`` of the pattern ``one``, with ``joint`` between them.

    ``one`` stands in it a single time: long patterns take long to compile. That there was one before it keeps
    in a group, the ``group``-th of the whole pattern that it is put into; ``one`` and ``joint`` have none.
    """
    return f"(?:(?({group}){joint})(?:{one})()){{1,{most}}}"
