"""A backend that replies as it was told: with texts in the order given, with vectors by a table."""

from groundwire import Usage
from groundwire.core.plan import Complete, Completed, Embedded, Failed


class Answering:
    """``replies`` are texts, lists of texts (samples) or Failed; ``vectors`` a dict or a function of a text.

    ``vectors`` may be a Failed, too. ``asked`` and ``embedded`` keep what was asked for.
    """

    def __init__(self, *replies, vectors=None):
        self.replies = list(replies)
        self.vectors = vectors
        self.asked = []
        self.embedded = []

    def perform(self, requests, *, timeout):
        return [self._reply(request) for request in requests]

    async def aperform(self, requests, *, timeout):
        return self.perform(requests, timeout=timeout)

    def _reply(self, request):
        if isinstance(request, Complete):
            self.asked.append(request)
            reply = self.replies.pop(0)
            if isinstance(reply, Failed):
                return reply
            texts = (reply,) if isinstance(reply, str) else tuple(reply)
            return Completed(texts=texts, usage=Usage(calls=len(texts)))
        self.embedded.append(request.texts)
        if isinstance(self.vectors, Failed):
            return self.vectors
        of = self.vectors if callable(self.vectors) else self.vectors.__getitem__
        return Embedded(vectors=tuple(tuple(of(text)) for text in request.texts), usage=Usage(calls=1))
