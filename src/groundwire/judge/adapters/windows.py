"""Whether a server has read all that it was sent: Ollama cuts what is too long for it, and says nothing.

A verdict on passages of which some were cut off would look like one on all of them, and only the number of
tokens that were read tells. Other servers refuse such a prompt, or aren't known to count what they read.
"""

from __future__ import annotations

from collections.abc import Iterable

from groundwire.core.budget import estimated_tokens

_CUT_SILENTLY = frozenset({"ChatOllama"})
_MOST = 7  # letters and digits a token, over a whole prompt: some four in English, fewer elsewhere
_FEWEST = 2
# What is cut down to a window, or to half of it, is so many tokens or a few more, and was more by this share.
_BEYOND = 8
_MORE = 1.2
_USUAL = tuple(2**power for power in range(10, 21))  # windows, and halves of them, where nobody has set one


class CutOffError(ValueError):
    """A prompt of which a part was read."""

    status_code = 413  # as others tell it: none of the model's failures, and nothing to try again


def cuts_silently(model: object) -> bool:
    """Whether the model's server cuts what is too long for it."""
    return any(kind.__name__ in _CUT_SILENTLY for kind in type(model).__mro__)


def window_of(models: Iterable[object]) -> int | None:
    """The widest window that any of the models was told; None where one was told none."""
    windows = [getattr(one, "num_ctx", None) for one in models]
    known = [one for one in windows if isinstance(one, int) and one > 0]
    return max(known) if known and len(known) == len(windows) else None


def require_whole(*said: str, read: int, window: int | None = None) -> None:
    """Raises CutOffError where so few tokens can't be all that was ``said``; 0 is for none counted.

    Or where they fill the ``window``, or are as many as a cut leaves and clearly fewer than were said.
    """
    letters = sum(character.isalnum() for text in said for character in text)
    left = _USUAL if window is None else (window // 2, window)
    as_cut = any(0 <= read - one <= _BEYOND for one in left)
    fewer = sum(map(estimated_tokens, said)) > _MORE * read
    full = window is not None and read >= window
    if read and (letters > _MOST * read or full or (as_cut and fewer)):
        wanted = max(-(-letters // _FEWEST // 1024) * 1024, 2 * (window or 0))
        raise CutOffError(
            f"the server has read {read} tokens, a part of what it was sent: give it a larger window, "
            f"such as parameters={{'num_ctx': {wanted}}}"
        )
