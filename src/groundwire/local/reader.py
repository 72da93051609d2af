"""Reader: whoever reads claims beside passages on this machine, as plans ask for it.

The embedded encoder is one, and so is every optional one; which request goes to which, the backend knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from groundwire.core.plan import Encode, Encoded


class Reader(Protocol):
    """Reads the claims of requests. Safe to call from several threads at once.

    One reply for each request, in order; within it one reading for each claim, in order. What a request is
    read as may not depend on the others. Raises GroundwireError where the reader itself can't work (weights
    that are missing, a package that is too old); anything else it raises fails the requests it was given.
    """

    def read(self, requests: Sequence[Encode]) -> list[Encoded]: ...
