"""Checker: a detector, a judge and a policy, ready to use. Everything else takes one."""

from __future__ import annotations

import copy
import time
import uuid
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from groundwire.chosen import meant, require_models, standing_in
from groundwire.core.budget import within
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError, InputError, gathered
from groundwire.core.fallback import with_fallback
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction, Passage, Turn, shown
from groundwire.core.keeper import Keeper, keep, keeper_problems
from groundwire.core.plan import Backend, Plan, metered, together
from groundwire.core.redaction import masked_interaction
from groundwire.core.sink import Sink, Sinks, Told, sink_problems
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome, Usage, Verdict, explained, reread
from groundwire.judge.drivers import NoBackend, arun, run
from groundwire.local.backend import LocalBackend
from groundwire.policy import AbstainedError, OnAbstention, Policy
from groundwire.tuned import members, require_fit


class Checker:
    """Judges interactions. Safe to share between threads and event loops.

    ``detector`` is a Detector or a registered name (the embedded one if left out). ``judge`` answers
    what the detector asks of models; a detector that asks none leaves it idle, which warns. ``monitor`` keeps
    every outcome, and ``sinks`` are told of it. Raises ConfigurationError at once when they don't fit.
    """

    def __init__(
        self,
        detector: Detector | str | None = None,
        *,
        judge: Backend | None = None,
        policy: Policy | None = None,
        monitor: Keeper | None = None,
        sinks: Sequence[Sink] = (),
    ) -> None:
        problems = [*keeper_problems(monitor), *sink_problems(sinks)]
        if judge is not None and not hasattr(judge, "perform"):
            problems.append(f"judge must be a Judge, not {type(judge).__name__}: judge=Judge(model)")
        if policy is not None and not isinstance(policy, Policy):
            problems.append(
                f"policy must be a Policy, not {type(policy).__name__}: policy=Policy(timeout=30)"
            )
        if problems:
            raise ConfigurationError(*problems)
        policy, detector = policy or Policy(), meant(detector).beside(judge)
        _, _, self.fallback = gathered(
            (
                lambda: require_models(detector, judge),
                lambda: require_fit(policy.tuned, detector, judge),
                lambda: standing_in(policy.fallback) if detector.takes_model else None,
            )
        )
        self.judge: Backend = judge or NoBackend()
        # NoBackend is what a checker without a judge has, and hands on with its other parts.
        if not (isinstance(self.judge, NoBackend) or detector.takes_model):
            warnings.warn(
                f"the {detector.name!r} detector asks no model, so its judge is never used: leave it out, or "
                "name a detector that asks one, such as 'judge'",
                stacklevel=2,
            )
        self.detector, self.policy = detector, policy
        self._backend = LocalBackend(self.judge)
        self.monitor = monitor
        self.sinks = self._listening = Sinks(sinks or ())
        if hasattr(monitor, "stats"):
            self.sinks.watch("monitor", monitor)

    @classmethod
    def from_config(cls, source: str | Path | Mapping[str, Any], *, judge: Backend | None = None) -> Checker:
        """Build a checker from a YAML, TOML or JSON file, or a dict; see ``groundwire.config``.

        ``judge`` stands in for the one that the settings name, which then is not built. Raises
        ConfigurationError naming every mistake at once.
        """
        from groundwire import config  # noqa: PLC0415 - slow to load, and settings alone need it

        settings = config.load(source)
        answering = settings.judge if judge is None else judge
        judged, tuned, redact, fallback, built, *_ = gathered(
            (
                settings.build_judging,
                settings.build_tuned,
                settings.build_redaction,
                settings.build_fallback,
                lambda: settings.judge.build() if settings.judge and judge is None else judge,
                lambda: require_models(settings.build_detector().beside(answering), answering),
                settings.check_sinks,  # which are opened last, as the monitor is
                settings.check_monitor,
            )
        )
        detector, grading = judged
        return cls(
            detector,
            judge=built,
            sinks=settings.build_sinks(),
            policy=Policy(
                enabled=settings.enabled,
                grading=grading,
                tuned=tuned,
                timeout=settings.timeout,
                budget=settings.budget.build() if settings.budget else None,
                on_abstention=OnAbstention(settings.on_abstention),
                redact=redact,
                fallback=fallback,
                max_characters=settings.max_characters,
                max_passages=settings.max_passages,
            ),
            monitor=settings.monitor.build(also=settings.redact) if settings.monitor else None,
        )

    def __repr__(self) -> str:
        return f"Checker(detector={self.detector!r}, policy={self.policy!r})"

    def unwatched(self, listening: Sinks | None = None) -> Checker:
        """The same checker without its monitor and its sinks, for whoever tells them more than a checker can.

        Only of what its judge is asked it tells sinks, for nobody else knows: ``listening``, or else its own.
        """
        other = copy.copy(self)
        other.monitor = None
        other.sinks = Sinks()
        other._listening = self._listening if listening is None else listening  # noqa: SLF001 - a copy of this
        return other

    def alone(self) -> Checker:
        """The same checker without a fallback, for whoever measures its detector and no other."""
        other = copy.copy(self)
        other.policy, other.fallback = replace(self.policy, fallback=None), None
        return other

    def check(
        self,
        interaction: Interaction | None = None,
        *,
        answer: str | None = None,
        contexts: str | Passage | Iterable[str | Passage] | None = None,
        question: str | None = None,
        history: Iterable[Turn] = (),
    ) -> Outcome:
        """Judge one answer, waiting for it: give an Interaction, or its question, contexts and answer."""
        started = time.perf_counter()
        interaction = _interaction(interaction, answer, contexts, question, history)
        plan = self._plan(interaction)
        outcome, usage = run(plan, self._backend, timeout=self.policy.timeout)
        return self._settle(outcome, interaction, replace(usage, seconds=time.perf_counter() - started))

    async def acheck(
        self,
        interaction: Interaction | None = None,
        *,
        answer: str | None = None,
        contexts: str | Passage | Iterable[str | Passage] | None = None,
        question: str | None = None,
        history: Iterable[Turn] = (),
    ) -> Outcome:
        """``check`` without holding the event loop."""
        started = time.perf_counter()
        interaction = _interaction(interaction, answer, contexts, question, history)
        plan = self._plan(interaction)
        outcome, usage = await arun(plan, self._backend, timeout=self.policy.timeout)
        return self._settle(outcome, interaction, replace(usage, seconds=time.perf_counter() - started))

    def check_many(
        self, interactions: Iterable[Interaction], *, progress: bool = False, batch: int = 32
    ) -> Iterator[Outcome]:
        """Judge many, in order, ``batch`` at a time: requests of one batch go out together.

        No more go out together than the judge performs at once, so that the policy's timeout is time for
        judging and not for waiting; where only an encoder is asked, the timeouts of a batch add up, for it
        reads one after the other. Lazy and of bounded memory: interactions are read as outcomes are consumed.
        What was read before the source raised, or gave something else than an Interaction, is judged before
        that is raised. ``progress`` draws a bar on stderr.
        """
        if batch < 1:
            raise ValueError(f"batch must be at least 1, not {batch}")
        outcomes = self._in_batches(interactions, batch)
        if not progress:
            return outcomes
        from groundwire.progress import track  # noqa: PLC0415 - drawing is wanted by few

        return track(outcomes, total=len(interactions) if isinstance(interactions, list | tuple) else None)

    def _in_batches(self, interactions: Iterable[Interaction], batch: int) -> Iterator[Outcome]:
        if not (self.detector.needs_judge or self.detector.needs_encoder):
            yield from map(self.check, interactions)
            return
        if self.detector.needs_judge:
            batch = min(batch, getattr(self.judge, "max_concurrency", batch))
        for group in _batches(interactions, batch):
            started = time.perf_counter()
            plan = together([self._plan(interaction) for interaction in group])
            done = run(plan, self._backend, timeout=self._time_for(len(group)))
            took = time.perf_counter() - started  # and not the time that whoever takes the outcomes needs
            for interaction, (outcome, usage) in zip(group, done, strict=True):
                yield self._settle(outcome, interaction, replace(usage, seconds=took))

    def _time_for(self, checks: int) -> float | None:
        """Seconds for checks made together: a judge is at all of them at once, an encoder is not."""
        if self.policy.timeout is None or self.detector.needs_judge:
            return self.policy.timeout
        return self.policy.timeout * checks

    def _plan(self, interaction: Interaction) -> Plan[tuple[Outcome, Usage]]:
        _require_interaction(interaction)
        plan = self._judging(interaction)
        plan = within(plan, self.policy.budget) if self.policy.budget else plan
        return metered(self._listening.overheard(plan))

    def _judging(self, interaction: Interaction) -> Plan[Outcome]:
        """What the policy lets a detector see, judged by this one or what stands in for it."""
        if excess := self.policy.excess(interaction):
            detail = f"{excess}: nothing was cut, and nothing judged"
            return self.detector.abstain(AbstentionReason.OVER_BUDGET, detail)
        if not self.policy.enabled:
            return self.detector.abstain(
                AbstentionReason.NOT_SAMPLED, "checking is switched off by the policy"
            )
        if self.policy.redact is not None:
            interaction = masked_interaction(self.policy.redact, interaction)
        if self.fallback is None:
            return (yield from self.detector.detect(interaction))
        part = self.fallback.name in {one.name for one in members(self.detector)}
        return (yield from with_fallback(self.detector, self.fallback, interaction, part=part))

    def _settle(self, outcome: Outcome, interaction: Interaction, usage: Usage) -> Outcome:
        """Read the outcome by this checker's policy, and put on it what only the checker knows."""
        if isinstance(outcome, Verdict):
            outcome = self._read(outcome)
        elif not isinstance(outcome, Abstention):
            raise TypeError(
                f"the plan of the {self.detector.name!r} detector returned {shown(outcome)}: expected "
                "Verdict.graded(score, self.grading, detector=self.spec), or self.abstain(why, detail)"
            )
        # What was spent is counted here; what was not, only the detector knows.
        usage = replace(usage, saved_tokens=outcome.usage.saved_tokens)
        outcome = replace(outcome, usage=usage, id=interaction.id or uuid.uuid4().hex)
        if isinstance(outcome, Abstention) and outcome.detector is None:
            outcome = replace(outcome, detector=self.detector.spec)
        self.tell(interaction, outcome)
        if isinstance(outcome, Abstention) and self.policy.on_abstention is OnAbstention.RAISE:
            raise AbstainedError(outcome)
        return outcome

    def tell(self, interaction: Interaction, outcome: Outcome) -> None:
        """Have an outcome kept, and the sinks told of it. Never raises."""
        keep(self.monitor, interaction, outcome)
        if self.sinks:
            self.sinks.tell(Told(interaction=interaction, outcome=outcome))

    def _read(self, verdict: Verdict) -> Outcome:
        tuned, grading = self.policy.tuned, self.policy.grading
        if verdict.degraded is not None:
            # Cut points are one detector's; the words for a level are anybody's.
            words = (tuned.grading if tuned else grading or Grading()).wording
            return replace(verdict, wording=words.get(verdict.level, verdict.wording))
        if tuned is not None:
            return explained(verdict, tuned.read(verdict))
        return verdict if grading is None else explained(verdict, reread(verdict, grading))


def check(
    interaction: Interaction | None = None,
    *,
    answer: str | None = None,
    contexts: str | Passage | Iterable[str | Passage] | None = None,
    question: str | None = None,
    history: Iterable[Turn] = (),
    checker: Checker | None = None,
) -> Outcome:
    """Judge one answer: give an Interaction, or its question, contexts and answer.

    >>> import groundwire as gw
    >>> outcome = gw.check(contexts="The fee is 25 EUR.", answer="The fee is 75 EUR.")
    >>> outcome.hallucinated
    True
    """
    return _chosen(checker).check(
        interaction, answer=answer, contexts=contexts, question=question, history=history
    )


async def acheck(
    interaction: Interaction | None = None,
    *,
    answer: str | None = None,
    contexts: str | Passage | Iterable[str | Passage] | None = None,
    question: str | None = None,
    history: Iterable[Turn] = (),
    checker: Checker | None = None,
) -> Outcome:
    """``check`` for callers on an event loop."""
    return await _chosen(checker).acheck(
        interaction, answer=answer, contexts=contexts, question=question, history=history
    )


def check_many(
    interactions: Iterable[Interaction], *, progress: bool = False, checker: Checker | None = None
) -> Iterator[Outcome]:
    """Judge many interactions, in order and in bounded memory; see Checker.check_many."""
    return _chosen(checker).check_many(interactions, progress=progress)


def checker_problems(checker: object) -> list[str]:
    """What is wrong with what was given as a checker; None is the default one."""
    if checker is None or isinstance(checker, Checker):
        return []
    kind = f"the class {checker.__name__}" if isinstance(checker, type) else type(checker).__qualname__
    return [f"checker must be a Checker, not {kind}: Checker(detector, judge=...) makes one"]


def default_checker() -> Checker:
    """The checker that is meant where none is named: the embedded detector with its own grading."""
    global _default  # noqa: PLW0603 - one detector's model is loaded once for the whole process
    if _default is None:
        _default = Checker()
    return _default


_default: Checker | None = None


def _chosen(checker: Checker | None) -> Checker:
    if problems := checker_problems(checker):
        raise ConfigurationError(*problems)
    return checker or default_checker()


def _interaction(
    interaction: Interaction | None,
    answer: str | None,
    contexts: str | Passage | Iterable[str | Passage] | None,
    question: str | None,
    history: Iterable[Turn],
) -> Interaction:
    if interaction is None:
        # Interaction itself refuses an answer of None, naming the field.
        return Interaction(
            answer=answer,  # type: ignore[arg-type]
            contexts=contexts,
            question=question,
            history=history,
        )
    if answer is not None or contexts is not None or question is not None or history:
        raise TypeError("give either an Interaction or question, contexts, answer and history, not both")
    return interaction


def _batches(interactions: Iterable[Interaction], size: int) -> Iterator[list[Interaction]]:
    """As many at a time; where the source fails, what it gave before comes first."""
    source = iter(interactions)
    group: list[Interaction] = []
    try:
        for interaction in source:
            _require_interaction(interaction)
            group.append(interaction)
            if len(group) == size:
                yield group
                group = []
    except Exception:
        if group:
            yield group
        raise
    if group:
        yield group


def _require_interaction(given: object) -> None:
    if not isinstance(given, Interaction):
        raise InputError(
            f"only an Interaction can be judged, not {shown(given)}: "
            "gw.Interaction(question=..., contexts=..., answer=...)"
        )
