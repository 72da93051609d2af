"""What servers refuse of a request, and the same request without it: asked at once, and from then on.

Many models have fields for what their server doesn't know. How a request is sent is each adapter's own.
"""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from dataclasses import replace

from groundwire.core.plan import Complete, Completed
from groundwire.judge.adapters import Ungrounding
from groundwire.judge.failures import READ, of_the_request, without_prompt
from groundwire.judge.replies import texts_of

_log = logging.getLogger(__name__)
# As Bedrock, OpenAI and Google tell it, and templates whose first message has to be the user's.
_NO_SYSTEM = re.compile(
    r"\bsystem['\"]? (?:role|message|prompt|instruction)|['\"]system['\"]"
    r"|\bdeveloper instruction|\broles must alternate"
)
_ECHOED = re.compile(r"['\"]role['\"]: ?['\"]system['\"]")  # a message that stands in the error itself


class Yielding(Ungrounding, ABC):
    """A language model that is asked without what its server has refused.

    ``_untold`` is for log probabilities, ``_untempered`` for a temperature, ``_in_one`` for a system message,
    ``_freely`` for the form of a reply.
    """

    _untold = _untempered = _in_one = _freely = False
    _needs_temperature = False
    """Whether samples without a temperature would all be alike, which passes for being sure."""

    @abstractmethod
    def _sent(self, request: Complete, *, several: bool) -> Completed:
        """The reply to just this request; ``several`` asks for all of its samples at once."""

    def _asked(self, request: Complete) -> Completed:
        """The reply to the request, but for what was refused before."""
        asked = replace(request, alternatives=0) if self._untold else request
        asked = replace(asked, temperature=None) if self._untempered else asked
        asked = replace(asked, schema=None) if self._freely else asked
        asked = _in_one_message(asked) if self._in_one else asked
        return self._tried(asked, several=self.several and request.samples > 1)

    def _tried(self, request: Complete, *, several: bool) -> Completed:
        """The reply. A temperature, system message, form, log probabilities or ``n`` is sent till refused.

        Some servers pass over ``n``: then there are fewer texts than samples.
        """
        try:
            reply = self._sent(request, several=several)
        except Exception as error:
            if not _refused(error):
                raise
            told = _told(error, request)
            if request.temperature is not None and "temperature" in told and not self._needs_temperature:
                reply = self._tried(replace(request, temperature=None), several=several)
                self._untempered = True
            elif request.system and _NO_SYSTEM.search(told):
                reply = self._tried(_in_one_message(request), several=several)
                self._in_one = True
            elif request.schema is not None and not several:
                reply = self._tried(replace(request, schema=None), several=several)
                self._freely = True
                _log.warning("the model refuses the form of a reply, and is asked in words alone from now on")
            elif request.alternatives:
                reply = self._tried(replace(request, alternatives=0), several=several)
                self._untold = True
            elif several:
                reply = self._tried(request, several=False)
                self.several = False
            else:
                raise
            return reply
        if several and len(reply.texts) < request.samples:
            self.several = False
        return reply


def _in_one_message(request: Complete) -> Complete:
    """The same with what the system message says before the rest of the user's."""
    before = f"{request.system}\n\n"
    prefix = request.prefix and len(before) + request.prefix
    return replace(request, system="", user=before + request.user, prefix=prefix)


def _told(error: Exception, request: Complete) -> str:
    """What an error says, without what it repeats of the request, which may speak of anything."""
    return _ECHOED.sub("", without_prompt(str(error)[:READ], texts_of(request)).lower())


def _refused(error: Exception) -> bool:
    """Whether what was asked for is a mistake to the server, or to its client."""
    template = "jinja" in str(error)[:READ].lower()  # servers of local models tell what it refuses with a 500
    return of_the_request(error) or isinstance(error, TypeError) or template or "logprobs" in str(error)
