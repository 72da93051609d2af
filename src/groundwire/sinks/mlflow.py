"""Assessments in MLflow, on the span that answered."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections import OrderedDict
from datetime import datetime
from typing import Any
from uuid import UUID

from groundwire.core.errors import MissingExtraError
from groundwire.core.sink import Sink
from groundwire.tracing.otel import SpanIds
from groundwire.tracing.outbox import TryLaterError, may_pass
from groundwire.tracing.scores import Score, ScoreSink

_PREFIX = "tr-"  # MLflow's trace ids are OpenTelemetry's behind this
_REMEMBERED = 10_000
_PASSING = frozenset(
    {
        "INTERNAL_ERROR",
        "REQUEST_LIMIT_EXCEEDED",
        "RESOURCE_DOES_NOT_EXIST",  # a verdict may overtake its trace, which is exported in the background
        "TEMPORARILY_UNAVAILABLE",
    }
)


class MLflowSink(ScoreSink):
    """Sends each outcome to MLflow as the feedback ``hallucination`` of its span.

    An abstention is a feedback with an error, whose code is the reason, and no value. Feedback goes to the
    tracking server that MLflow is set to. What this process has sent it replaces when the same run is judged
    again by the same detector; MLflow has no ids that would do so between processes, so metadata has ours as
    ``groundwire_id``. ``include_text`` puts the reason and the unsupported statements into the rationale.
    Raises MissingExtraError without ``groundwire[mlflow]``.
    """

    def __init__(self, *, include_text: bool = False) -> None:
        if importlib.util.find_spec("mlflow") is None:
            raise MissingExtraError("MLflowSink", package="mlflow-skinny", extra="mlflow")
        super().__init__(self._log, what="mlflow", include_text=include_text)
        self._lock = threading.Lock()
        self._sent: OrderedDict[str, str] = OrderedDict()

    def locate(self, run_id: UUID | None = None, started: datetime | None = None) -> SpanIds | None:
        """MLflow's own active span, which OpenTelemetry's context does not know; else the current span."""
        mlflow = sys.modules.get("mlflow")
        active: Any = None if mlflow is None else mlflow.get_current_active_span()
        if active is not None and active.trace_id.startswith(_PREFIX):
            return SpanIds(trace_id=active.trace_id.removeprefix(_PREFIX), span_id=active.span_id)
        return super().locate(run_id, started)

    find = Sink.find  # MLflow knows no run by its id: what is current tells

    def _log(self, score: Score) -> None:
        import mlflow  # noqa: PLC0415 - slow to import, and wanted only by those who have this
        from mlflow.exceptions import MlflowException  # noqa: PLC0415

        trace_id, feedback = _PREFIX + score.trace_id, _feedback(score)
        with self._lock:
            known = self._sent.get(score.id)
        try:
            if known is not None:
                mlflow.update_assessment(trace_id, known, feedback)
            else:
                made = mlflow.log_assessment(trace_id, feedback)
                self._remember(score.id, made.assessment_id)
        except MlflowException as error:
            if error.error_code in _PASSING or may_pass(error):
                raise TryLaterError from error
            raise

    def _remember(self, key: str, assessment_id: str | None) -> None:
        if assessment_id is not None:
            with self._lock:
                self._sent[key] = assessment_id
                while len(self._sent) > _REMEMBERED:
                    self._sent.popitem(last=False)


def _feedback(score: Score) -> Any:
    from mlflow.entities import AssessmentError, AssessmentSource, Feedback  # noqa: PLC0415 - as above

    error = AssessmentError(error_code=score.label, error_message=score.comment) if score.abstained else None
    return Feedback(
        name=score.name,
        value=score.value,
        error=error,
        rationale=score.comment,
        source=AssessmentSource(
            source_type="LLM_JUDGE" if score.annotator == "LLM" else "CODE",
            source_id=f"groundwire {score.metadata.get('hallucination_detector', '')}".strip(),
        ),
        # MLflow takes texts alone here.
        metadata={**{key: str(value) for key, value in score.metadata.items()}, "groundwire_id": score.id},
        span_id=score.span_id,
    )
