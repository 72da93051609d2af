"""A backend that knows by its prompt what it is asked, and replies as written for that prompt."""

import json

from groundwire import Usage, prompts
from groundwire.core.plan import Complete, Completed, Failed


class Player:
    """Replies by the name of the prompt, told by its system text; one reply after the other if it is a list.

    A reply is a text, something that becomes JSON, a reply of the protocol, or a function from the request to
    one of these. ``asked`` keeps every request with the name of its prompt.
    """

    def __init__(self, **replies):
        self.replies = {name: list(r) if isinstance(r, list) else r for name, r in replies.items()}
        self.asked = []

    def perform(self, requests, *, timeout):
        return [self._reply(request) for request in requests]

    async def aperform(self, requests, *, timeout):
        return self.perform(requests, timeout=timeout)

    def named(self, name):
        return [request for one, request in self.asked if one == name]

    @property
    def calls(self):
        return sum(request.samples for _, request in self.asked)

    def _reply(self, request):
        assert isinstance(request, Complete)
        name = next(n for n in prompts.names() if prompts.get(n).system == request.system)
        self.asked.append((name, request))
        reply = self.replies[name]
        if isinstance(reply, list):
            reply = reply.pop(0)
        if callable(reply):
            reply = reply(request)
        if isinstance(reply, Completed | Failed):
            return reply
        text = reply if isinstance(reply, str) else json.dumps(reply)
        return Completed(texts=(text,) * request.samples, usage=Usage(calls=request.samples))
