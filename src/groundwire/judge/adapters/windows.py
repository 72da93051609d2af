"""Whether a server has read all that it was sent: Ollama cuts what is too long for it, and says nothing.

A verdict on passages of which some were cut off would look like one on all of them, and only the number of
tokens that were read tells. Other servers refuse such a prompt, or aren't known to count what they read.
"""

from __future__ import annotations

_CUT_SILENTLY = frozenset({"ChatOllama"})
_MOST = 7  # letters and digits a token, over a whole prompt: some four in English, fewer elsewhere
_FEWEST = 2


class CutOffError(ValueError):
    """A prompt of which a part was read."""

    status_code = 413  # as others tell it: none of the model's failures, and nothing to try again


def cuts_silently(model: object) -> bool:
    """Whether the model's server cuts what is too long for it."""
    return any(kind.__name__ in _CUT_SILENTLY for kind in type(model).__mro__)


def require_whole(*said: str, read: int) -> None:
    """Raises CutOffError where so few tokens can't be all that was ``said``; 0 is for none counted."""
    letters = sum(character.isalnum() for text in said for character in text)
    if read and letters > _MOST * read:
        raise CutOffError(
            f"the server has read {read} tokens, a part of what it was sent: give it a larger window, "
            f"such as parameters={{'num_ctx': {-(-letters // _FEWEST // 1024) * 1024}}}"
        )
