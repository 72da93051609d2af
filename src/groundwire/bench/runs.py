"""A detector over labelled answers: in order, several at once, and never twice for the same row.

With a record, each outcome is on disk as soon as it is there. A run that was killed goes on where the record
ends; what it yields is what one run without a break would have yielded. Rows are known by what a detector
sees of them, wherever they stand and whatever they are called.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from groundwire.bench.examples import Example, fingerprint, shown_as_examples
from groundwire.checker import Checker
from groundwire.core import wire
from groundwire.core.errors import ConfigurationError
from groundwire.core.verdict import PASSING, Abstention, AbstentionReason, Outcome
from groundwire.identity import identity
from groundwire.policy import AbstainedError
from groundwire.progress import track

_FORM = 2
_MINE = b'{"groundwire": "run"'
_AT_ONCE = 8  # calls that are out together, where the judge has no limit of its own
_UNPAID = frozenset({AbstentionReason.OVER_BUDGET})
_AHEAD = 4  # rows begun before the oldest has been consumed, for each that may be out


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What a detector said of an example, and the ``seconds`` of the clock that it took."""

    example: Example
    outcome: Outcome
    seconds: float


def judge(
    examples: Sequence[Example],
    checker: Checker,
    *,
    record: Path | None = None,
    concurrency: int | None = None,
    progress: bool = False,
    what: str = "judged",
    retry_errors: bool = False,
    labelled: bool = False,
) -> Iterator[Judged]:
    """Judge the examples, in their order. Each outcome's id is its example's.

    With a ``record`` (a file of JSON lines) rows that it already holds are read and not judged again, and
    every other one is added as soon as it is judged, so that at most the rows in flight are lost with the
    process. Rows that it holds as over the budget are judged again, and with ``retry_errors`` all that could
    not be judged for a reason that may have passed. Between runs, examples may be added, moved, renamed and
    labelled otherwise. ``concurrency`` is how many rows are out at once: by default as many calls as the
    judge makes at once, and one where no model is asked. ``progress`` draws a bar named ``what`` on stderr.
    With ``labelled`` only labelled ones are judged. Raises ConfigurationError at once for a record of another
    detector or model, and where the detector is shown some of these very answers as reviewed examples.
    """
    wanted = [at for at, one in enumerate(examples) if not labelled or one.label is not None]
    if known := shown_as_examples(checker.detector, [examples[at] for at in wanted]):
        raise ConfigurationError(
            f"{len(known)} of the answers are from passages of the examples that the "
            f"{checker.detector.name!r} detector is shown, such as {known[0]}: what it says of them is no "
            "measure. Leave them out, or show it others"
        )
    checker = checker.alone()  # a verdict of another detector is none of this one's
    at_once = _concurrency(checker, concurrency)
    again = PASSING if retry_errors else _UNPAID
    kept = None if record is None else _Record(record, checker, examples, again=again)
    judged = _judged(examples, wanted, checker, kept, at_once)
    return track(judged, total=len(wanted), what=what) if progress else judged


def _concurrency(checker: Checker, given: int | None) -> int:
    if given is not None and given < 1:
        raise ConfigurationError(f"concurrency: expected a whole number from 1 on, not {given!r}")
    if not checker.detector.needs_judge:
        return given or 1
    allowed = int(getattr(checker.judge, "max_concurrency", given or _AT_ONCE))
    return min(given or allowed, allowed)


def _judged(
    examples: Sequence[Example],
    wanted: Sequence[int],
    checker: Checker,
    kept: _Record | None,
    at_once: int,
) -> Iterator[Judged]:
    def one(at: int) -> Judged:
        if kept is not None and (known := kept.known(at)) is not None:
            return known
        done = _check(examples[at], checker)
        return done if kept is None else kept.add(at, done)

    with kept or contextlib.nullcontext():
        if at_once == 1:
            yield from map(one, wanted)
        else:
            yield from _in_threads(one, wanted, at_once)


def _in_threads(one: Callable[[int], Judged], wanted: Sequence[int], at_once: int) -> Iterator[Judged]:
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="groundwire-bench")
    out: deque[Future[Judged]] = deque()
    try:
        for at in wanted:
            out.append(pool.submit(one, at))
            if len(out) >= at_once * _AHEAD:
                yield out.popleft().result()
        while out:
            yield out.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _check(example: Example, checker: Checker) -> Judged:
    started = time.perf_counter()
    outcome: Outcome
    try:
        outcome = checker.check(example.interaction)
    except AbstainedError as error:  # the policy's wish for its application; here all rows are wanted
        outcome = error.abstention
    seconds = time.perf_counter() - started
    # What is yielded is what a record gives back, so that a resumed run can't be told from another.
    outcome = wire.decode(wire.encode(replace(outcome, id=example.id)))
    return Judged(example=example, outcome=outcome, seconds=seconds)


class _Record:
    """The file of a run: a first line that says whose it is, and a line for each row that was judged.

    Of rows that say the same each has a line of its own, as a detector may say another thing each time. A
    line that was being written when the process died is cut off; one writer at a time has the file. Rows that
    could not be judged for the reasons ``again`` are not known; of two lines for a row the last counts.
    """

    def __init__(
        self, path: Path, checker: Checker, examples: Sequence[Example], *, again: frozenset[AbstentionReason]
    ) -> None:
        self._path, self._examples, self._again = path, examples, again
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._head = {"groundwire": "run", "form": _FORM, **identity(checker)}
        self._keys = list(_keys(examples))
        self._rows: dict[str, Mapping[str, Any]] = {}
        if path.is_dir():
            raise ConfigurationError(f"the record {str(path)!r} is a directory: name a file in it")
        if path.exists() and path.stat().st_size:
            self._read()

    def __enter__(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("ab")
        _claim(self._file, self._path)
        self._file.truncate(self._whole())
        if not self._path.stat().st_size:
            self._append(self._head)

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def known(self, at: int) -> Judged | None:
        row = self._rows.get(self._keys[at])
        if row is None:
            return None
        outcome = replace(wire.decode(row["outcome"]), id=self._examples[at].id)
        if isinstance(outcome, Abstention) and outcome.why in self._again:
            return None  # what it says this time stands below, and counts
        return Judged(example=self._examples[at], outcome=outcome, seconds=row["seconds"])

    def add(self, at: int, done: Judged) -> Judged:
        row = {"row": self._keys[at], "seconds": done.seconds, "outcome": wire.encode(done.outcome)}
        with self._lock:
            self._append(row)
        return done

    def _append(self, value: Mapping[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n")
        self._file.flush()  # to the system, which outlives the process

    def _read(self) -> None:
        # A process may die before the first line is whole; any other file without one is somebody's.
        if not self._path.read_bytes()[: len(_MINE)].startswith(_MINE[: self._path.stat().st_size]):
            raise ConfigurationError(f"{self._path} is no record of a run: name another file")
        lines = self._path.read_bytes()[: self._whole()].splitlines()
        try:
            first, *rows = map(json.loads, lines) if lines else [{}]
            self._rows = {row["row"]: row for row in rows}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigurationError(f"{self._path} is no record of a run: {error}") from error
        if not lines:
            return
        for what, expected in json.loads(json.dumps(self._head)).items():
            if what in first and first[what] != expected:
                raise ConfigurationError(
                    f"{self._path} is the record of another run: its {what} is {_short(first.get(what))}, "
                    f"this one's is {_short(expected)}. Name another file, or delete this one to begin anew"
                )

    def _whole(self) -> int:
        """The bytes up to the end of the last line that was written to its end."""
        return self._path.read_bytes().rfind(b"\n") + 1


def _keys(examples: Sequence[Example]) -> Iterator[str]:
    """What tells each row apart: what a detector sees of it, and how many rows before it say the same."""
    seen: Counter[str] = Counter()
    for one in examples:
        content = fingerprint([replace(one, id="")], labels=False)
        yield f"{content}.{seen[content]}"
        seen[content] += 1


def _claim(file: IO[bytes], path: Path) -> None:
    try:
        import fcntl  # noqa: PLC0415 - Windows has none; there two runs must not share a record
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise ConfigurationError(f"another run is writing to {path}: wait for it, or name another") from error


def _short(value: object) -> str:
    said = repr(value)
    if len(said) <= 60:
        return said
    return f"{said[:40]}... ({hashlib.sha256(said.encode()).hexdigest()[:8]})"
