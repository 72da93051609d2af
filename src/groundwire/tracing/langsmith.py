"""Verdicts in LangSmith: as feedback on the run that was judged, and on a wrapper's own run.

Where a run is traced can only be seen from inside the host's context, and only feedback can reach a run that
has ended; so an address is taken while the run ends, and the verdict follows it later from another thread.
LangSmith is imported when it is first needed. Nothing here judges, and no answer's text leaves unless asked.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID
from weakref import WeakKeyDictionary

from groundwire.core.fork import renew_after_fork
from groundwire.core.one_process import OfOneProcess
from groundwire.core.secrets import Traced
from groundwire.core.verdict import Abstention, Outcome
from groundwire.core.version import VERSION
from groundwire.tracing.otel import unobserved
from groundwire.tracing.outbox import Counts, Outbox, TryLaterError, may_pass
from groundwire.tracing.told import KEY, comment, feedback_id, flat_metadata

if TYPE_CHECKING:
    from langsmith import Client

_LOG = logging.getLogger(__name__)

_AT_ONCE = 8  # feedback is sent one by one, and a distant server takes a tenth of a second for each
_ELSEWHERE = (
    "address",
    "kind",
    "api_url",
    "api_key",
    "auth",
)  # in a replica: to an agent, or another account
_ID = 36  # characters of a run's id
_DRAIN = 5.0  # seconds given to the host's own client to send a run that its verdict has overtaken


@dataclass(frozen=True, kw_only=True)
class RunAddress:
    """Where a run of the host is traced.

    ``trace_id`` is the outermost run's id. ``started`` is by the observer's clock, not exactly the tracer's.
    ``client`` is the one that traces the run.
    """

    run_id: UUID
    trace_id: UUID
    project: str
    started: datetime
    client: Client = field(repr=False, compare=False)


def locate(run_id: UUID, trace_id: UUID, started: datetime) -> RunAddress | None:
    """Where the run that starts in this context is traced, or None when it is not traced.

    ``trace_id`` is the topmost run the caller has seen; a run outside of its sight, such as an enclosing
    ``@traceable``, takes its place. Takes microseconds, opens no connection, never raises.
    """
    try:
        return _locate(run_id, trace_id, started)
    except ImportError:
        return None
    except Exception:  # rule 5: tracing that can't be read must not harm the run that is traced
        _LOG.debug("where run %s is traced could not be read\n%s", run_id, Traced())
        return None


def is_inside(run_id: UUID) -> bool:
    """Whether this context is inside of that run as LangSmith traces it, by whatever tracer."""
    room = sys.modules.get("langsmith.run_helpers")
    run = None if room is None else room.get_current_run_tree()
    return run is not None and str(run_id) in (run.dotted_order or "")  # all around it, and its own id


def around(run_id: UUID) -> list[UUID]:
    """The runs that LangSmith has around the one this context is in, the nearest first; none around another.

    LangChain names a function that is ``@traceable`` as the parent of what runs in it, and tells no callback
    of it. Never raises.
    """
    try:
        room = sys.modules.get("langsmith.run_helpers")
        run = None if room is None else room.get_current_run_tree()
        if run is None or run.id != run_id:
            return []
        # Each part is a time and an id, from the outermost run down to this one.
        *outer, _ = run.dotted_order.split(".")
        return [UUID(part[-_ID:]) for part in reversed(outer)]
    except Exception:  # rule 5: as in ``locate``
        _LOG.debug("what is around run %s could not be read\n%s", run_id, Traced())
        return []


def _locate(run_id: UUID, trace_id: UUID, started: datetime) -> RunAddress | None:
    from langsmith.run_helpers import get_tracing_context  # noqa: PLC0415 - wanted only by those who trace
    from langsmith.run_trees import get_cached_client  # noqa: PLC0415
    from langsmith.utils import get_env_var, get_tracer_project, tracing_is_enabled  # noqa: PLC0415

    context = get_tracing_context()
    tracer = _explicit_tracer()
    # "local" traces are kept in memory and sent nowhere; an explicit False switches off any tracer.
    if context["enabled"] is False or (tracing_is_enabled() is not True and tracer is None):
        return None
    if context.get("address") is not None:  # the run goes to an agent, and to a project nobody here can name
        return None
    parent = context["parent"]
    if parent is not None:
        trace_id, project, client = parent.trace_id, parent.session_name, parent.client
    elif tracer is not None:
        project, client = tracer.project_name or get_tracer_project(), tracer.client
    else:
        project = context["project_name"] or get_tracer_project()
        client = context["client"] or get_cached_client()
    replicas = context["replicas"] if parent is None else parent.replicas
    if replicas or (parent is None and replicas is None and get_env_var("RUNS_ENDPOINTS")):
        kept = _keeping_ids(replicas or (), project)
        if kept is None:
            return None
        project, client = kept.get("project_name") or project, kept.get("client") or client
    if not project or not _is_sampled(client, trace_id):
        return None
    return RunAddress(run_id=run_id, trace_id=trace_id, project=project, started=started, client=client)


def _keeping_ids(replicas: Sequence[Any], project: str) -> Mapping[str, Any] | None:
    """The replica in which the run has its own id, of those that this process's own client can speak to.

    A run that is replicated goes to its replicas alone; in the others it has another id.
    """
    for replica in replicas:
        if not isinstance(replica, Mapping) or any(replica.get(key) for key in _ELSEWHERE):
            continue
        primary = replica.get("primary")
        if primary or (primary is None and (replica.get("project_name") or project) == project):
            return replica
    return None


def _explicit_tracer() -> Any:
    """The tracer that LangChain's ``tracing_v2_enabled()`` put into this context, if there is one."""
    room = sys.modules.get("langchain_core.tracers.context")
    return room.tracing_v2_callback_var.get() if room is not None else None


def _is_sampled(client: Client, trace_id: UUID) -> bool:
    # The SDK has no public name for the choice it makes by trace id; without one, its own check of feedback
    # still holds, only later.
    chosen = getattr(client, "_should_sample", None)
    return chosen is None or bool(chosen(trace_id))


class LangSmithSink(OfOneProcess):
    """Sends outcomes to LangSmith, as feedback under the key ``hallucination``.

    ``client`` replaces the one that traces the run. ``include_text`` puts the reason and the unsupported
    statements into the comment, which LangSmith's own switches for hiding outputs do not hide.
    ``extend_retention`` keeps judged traces for LangSmith's longer, dearer period. Safe to share between
    threads; outcomes that wait when the process ends normally are still sent, for up to 5 seconds.
    """

    def __init__(
        self,
        client: Client | None = None,
        *,
        include_text: bool = False,
        extend_retention: bool = False,
    ) -> None:
        self._client = client
        self._include_text = include_text
        self._extend_retention = extend_retention
        self._outbox: Outbox[tuple[RunAddress, Outcome]] = Outbox(
            self._deliver, what="LangSmith feedback", threads=_AT_ONCE
        )
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Know no project yet: whoever looked one up may not exist in a forked child."""
        self._lock = threading.Lock()
        self._projects: WeakKeyDictionary[Client, dict[str, UUID]] = WeakKeyDictionary()

    def send(self, address: RunAddress, outcome: Outcome) -> None:
        """Put an outcome on the run at ``address``, soon. Never waits and never raises."""
        try:
            self._outbox.post((address, outcome))
        except Exception:  # rule 5: a process at its end may refuse a new thread
            _LOG.warning("a verdict could not be queued for LangSmith\n%s", Traced())

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every outcome was sent or given up. False when ``timeout`` seconds were not enough.

        With ``extend_retention`` the client sends feedback from its own queue: flush that one too.
        """
        return self._outbox.flush(timeout)

    @property
    def counts(self) -> Counts:
        """How many outcomes were delivered, failed, were dropped, and are pending."""
        return self._outbox.counts

    def _deliver(self, letter: tuple[RunAddress, Outcome]) -> None:
        from langsmith import utils  # noqa: PLC0415

        address, outcome = letter
        client = self._client or address.client
        try:
            with unobserved():
                self._create_feedback_on_run(client, address, outcome)
        except utils.LangSmithConflictError:
            pass  # it is there already: its id says which run, judged by what
        except Exception as error:
            if _may_pass(error):
                raise TryLaterError from error
            raise

    def _create_feedback_on_run(self, client: Client, address: RunAddress, outcome: Outcome) -> None:
        from langsmith import utils  # noqa: PLC0415

        try:
            self._create_feedback(client, address, outcome)
        except utils.LangSmithNotFoundError:
            # The verdict has overtaken its run, which may still wait in this process.
            with self._lock:
                self._projects.pop(client, None)
            client.flush(timeout=_DRAIN)
            self._create_feedback(client, address, outcome)

    def _create_feedback(self, client: Client, address: RunAddress, outcome: Outcome) -> None:
        session_id = self._project_id(client, address.project)
        with _quiet("langsmith.client"):
            # The run's start_time is left to the server to look up: it takes a given one on trust, and an
            # observer's clock is not exactly the tracer's.
            client.create_feedback(
                run_id=address.run_id,
                trace_id=address.trace_id,
                session_id=session_id,
                key=KEY,
                score=outcome.score,
                value=str(outcome.why) if isinstance(outcome, Abstention) else str(outcome.level),
                comment=comment(outcome, include_text=self._include_text),
                feedback_id=feedback_id(address.run_id, outcome),
                feedback_source_type="model",
                source_info={"groundwire": VERSION, **flat_metadata(outcome)},
                extend_trace_retention=self._extend_retention,
                stop_after_attempt=1,
            )

    def _project_id(self, client: Client, project: str) -> UUID:
        with self._lock:
            known = self._projects.setdefault(client, {})
            if project not in known:
                known[project] = client.read_project(project_name=project).id
            return known[project]


def annotate_current_run(outcome: Outcome, **done: str | int) -> None:
    """Put an outcome on the run this is called in: flat metadata, and the tag ``hallucination`` when flagged.

    For wrappers, which still run while they judge; ``done`` is what they did about it, each put beside the
    outcome as ``hallucination_<name>``. Does nothing where tracing is off. Never raises.
    """
    try:
        from langsmith.run_helpers import get_current_run_tree  # noqa: PLC0415
        from langsmith.utils import tracing_is_enabled  # noqa: PLC0415

        run = get_current_run_tree()
        if run is None or not tracing_is_enabled():
            return
        run.add_metadata(flat_metadata(outcome) | {f"{KEY}_{name}": value for name, value in done.items()})
        if outcome.hallucinated:
            run.add_tags([KEY])
    except ImportError:
        return
    except Exception:  # rule 5: a trace that can't be written must not harm the run that is traced
        _LOG.debug("a verdict could not be put on the current run\n%s", Traced())


def _may_pass(error: Exception) -> bool:
    """Whether the same request may succeed later: no connection, no time, no capacity, not there yet."""
    from langsmith import utils  # noqa: PLC0415
    from requests import Timeout  # noqa: PLC0415

    passing = (utils.LangSmithConnectionError, utils.LangSmithNotFoundError, Timeout)
    return isinstance(error, passing) or may_pass(error)


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Keep a logger silent on this thread: losses are counted, and told once, by the outbox."""
    # Added once and never removed: a filter that goes makes a logger skip another in that very moment.
    logging.getLogger(name).addFilter(_is_heard)
    _SILENT.here = True
    try:
        yield
    finally:
        _SILENT.here = False


def _is_heard(_: logging.LogRecord) -> bool:
    return not getattr(_SILENT, "here", False)


_SILENT = threading.local()
