"""Annotations in Phoenix, on the span that answered."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from groundwire.core.errors import MissingExtraError
from groundwire.tracing.outbox import TryLaterError, http_status, may_pass
from groundwire.tracing.scores import Score, ScoreSink

if TYPE_CHECKING:
    from phoenix.client import Client

_NOT_THERE_YET = 404  # spans are exported in batches, and a verdict may overtake its own


class PhoenixSink(ScoreSink):
    """Sends each outcome to Phoenix as the annotation ``hallucination`` of its span.

    Its label is the level, or for an abstention the reason, and then there is no score. ``client`` is a
    Phoenix client; if left out, one that reads Phoenix's own environment variables. An annotation is replaced
    when the same detector judges the same run again. ``include_text`` puts the reason and the unsupported
    statements into the explanation. Raises MissingExtraError without ``groundwire[phoenix]``.
    """

    def __init__(self, client: Client | None = None, *, include_text: bool = False) -> None:
        if client is None and importlib.util.find_spec("phoenix") is None:
            raise MissingExtraError("PhoenixSink", package="arize-phoenix-client", extra="phoenix")
        super().__init__(self._annotate, what="phoenix", include_text=include_text)
        self._client = client

    def _annotate(self, score: Score) -> None:
        import httpx  # noqa: PLC0415 - which its client brings
        from phoenix.client import Client  # noqa: PLC0415 - wanted only by those who have this

        self._client = self._client or Client()
        try:
            self._client.spans.add_span_annotation(
                span_id=score.span_id,
                annotation_name=score.name,
                annotator_kind=score.annotator,
                label=score.label,
                score=score.value,
                explanation=score.comment,
                metadata={**score.metadata, "groundwire_id": score.id, "trace_id": score.trace_id},
                identifier=score.id,  # Phoenix keeps the last of each, and a span may have several answers
                sync=True,  # the other way Phoenix never says that it has no such span
            )
        except httpx.TransportError as error:
            raise TryLaterError from error
        except Exception as error:
            if may_pass(error) or http_status(error) == _NOT_THERE_YET:
                raise TryLaterError from error
            raise
