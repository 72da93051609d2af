"""Hand-written minimal pairs: which kinds of error a detector sees, and which faithful answers it mistakes.

    python -m benchmarks.probes [--detector lexical|embedded] [FILE ...]

Each pair is one answer twice, faithful and with one thing changed. Nothing here says which pairs a detector
gets wrong: who tunes on them can't measure with them any more. (Of the conversions and the arithmetic,
those that version 2 flagged have been read; ``tests/probes/worked_out`` has pairs held out for version 3.)
"""

from __future__ import annotations

import argparse
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rich import box
from rich.console import Console
from rich.table import Table

from groundwire import Checker, Interaction, Turn, Verdict, detectors
from groundwire.core.claim import Support
from groundwire.core.interaction import Role
from groundwire.core.span import Span
from groundwire.core.verdict import Outcome

DATA = Path(__file__).resolve().parents[1] / "tests" / "probes" / "data"
FAITHFUL = "hard_negatives.toml"
ALL = "all"
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A faithful answer, with what it was drawn from."""

    kind: str
    contexts: tuple[str, ...]
    question: str
    grounded: str
    history: tuple[Turn, ...] = ()

    @property
    def interaction(self) -> Interaction:
        return self._saying(self.grounded)

    def _saying(self, answer: str) -> Interaction:
        return Interaction(
            question=self.question, contexts=self.contexts, answer=answer, history=self.history
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair(Answer):
    """The same answer a second time, with ``wrong`` words that the passages deny or don't hold."""

    support: Support
    hallucinated: str
    wrong: tuple[Span, ...]

    @property
    def changed(self) -> Interaction:
        return self._saying(self.hallucinated)


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """How many of how many, with the interval that Wilson's score gives at 95 %."""

    hits: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        if not self.of:
            return 0.0, 1.0
        z = 1.96
        share, spread = self.hits / self.of, z * z / self.of
        middle = (share + spread / 2) / (1 + spread)
        half = z / (1 + spread) * math.sqrt(share * (1 - share) / self.of + spread / self.of / 4)
        return max(0.0, middle - half), min(1.0, middle + half)

    def __str__(self) -> str:
        if not self.of:
            return "-"
        low, high = self.interval
        return f"{self.hits}/{self.of} {self.hits / self.of:4.0%} ({low:3.0%} to {high:4.0%})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A pair with both of its outcomes."""

    pair: Pair
    grounded: Outcome
    hallucinated: Outcome

    @property
    def ordered(self) -> bool:
        """Whether the changed answer scores strictly higher; False where either could not be judged."""
        good, bad = self.grounded.score, self.hallucinated.score
        return good is not None and bad is not None and bad > good

    @property
    def pointed(self) -> bool:
        """Whether a word that was marked is one of those that are wrong."""
        return any(
            span.start < wrong.end and wrong.start < span.end
            for span in self.hallucinated.spans
            for wrong in self.pair.wrong
        )

    @property
    def unjudged(self) -> int:
        return sum(not isinstance(one, Verdict) for one in (self.grounded, self.hallucinated))


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """What a detector made of some pairs.

    ``caught`` and ``alarms`` are changed and faithful answers that were flagged, ``pointed`` the share of
    the caught with a marked word among the wrong ones. An answer that could not be judged is neither
    caught nor an alarm, and ``unjudged`` counts it.
    """

    ordered: Share
    caught: Share
    alarms: Share
    pointed: Share
    unjudged: int

    @classmethod
    def of(cls, judged: Sequence[Judged]) -> Rates:
        caught = [one for one in judged if one.hallucinated.hallucinated]
        return cls(
            ordered=Share(hits=sum(one.ordered for one in judged), of=len(judged)),
            caught=Share(hits=len(caught), of=len(judged)),
            alarms=Share(hits=sum(bool(one.grounded.hallucinated) for one in judged), of=len(judged)),
            pointed=Share(hits=sum(one.pointed for one in caught), of=len(caught)),
            unjudged=sum(one.unjudged for one in judged),
        )


def pairs(*files: Path) -> list[Pair]:
    """The minimal pairs of ``files``, or all. Raises ValueError where wrong words can't be found."""
    files = files or tuple(sorted(path for path in DATA.glob("*.toml") if path.name != FAITHFUL))
    return [_pair(row) for path in files for row in _read(path, "pair")]


def faithful() -> list[Answer]:
    """Answers that are grounded and don't look it."""
    return [Answer(**_common(row)) for row in _read(DATA / FAITHFUL, "answer")]


def judge(checker: Checker, these: Sequence[Pair]) -> list[Judged]:
    """Both answers of each pair, as the checker finds them."""
    outcomes = checker.check_many([side for one in these for side in (one.interaction, one.changed)])
    return [Judged(pair=one, grounded=next(outcomes), hallucinated=next(outcomes)) for one in these]


def by_kind(judged: Sequence[Judged]) -> dict[str, Rates]:
    """Each kind's rates in the order of the files, then each support's, then those of all."""
    return {
        **_grouped(judged, lambda one: one.pair.kind),
        **_grouped(judged, lambda one: str(one.pair.support)),
        ALL: Rates.of(judged),
    }


def alarms(checker: Checker, answers: Sequence[Answer]) -> dict[str, tuple[Share, int]]:
    """For each kind of faithful answer and for all: those flagged, and how many could not be judged."""
    outcomes = list(checker.check_many([one.interaction for one in answers]))
    kinds = dict.fromkeys(one.kind for one in answers)
    groups = {
        kind: [outcome for one, outcome in zip(answers, outcomes, strict=True) if one.kind == kind]
        for kind in kinds
    } | {ALL: outcomes}
    return {
        kind: (
            Share(hits=sum(bool(one.hallucinated) for one in group), of=len(group)),
            sum(not isinstance(one, Verdict) for one in group),
        )
        for kind, group in groups.items()
    }


def report(names: Sequence[str]) -> dict[str, Any]:
    """Print both tables for each detector, and return their figures by its name."""
    out = Console()
    found = {}
    for name in names:
        checker = Checker(name)
        rates, flagged = by_kind(judge(checker, pairs())), alarms(checker, faithful())
        out.print(_of_pairs(name, rates), _of_faithful(name, flagged))
        found[name] = {"pairs": rates, "faithful": flagged}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--detector", choices=detectors.names(), default=Checker().detector.name)
    parser.add_argument("files", nargs="*", type=Path, help="other pairs than those of tests/probes/data")
    given = parser.parse_args()
    if given.files:
        rates = by_kind(judge(Checker(given.detector), pairs(*given.files)))
        Console().print(_of_pairs(given.detector, rates))
    else:
        report([given.detector])


def _read(path: Path, table: str) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))[table]
    return rows


def _common(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": row["kind"],
        "contexts": tuple(row["contexts"]),
        "question": row.get("question", ""),
        "grounded": row["grounded"],
        "history": tuple(_turns(row.get("history", ()))),
    }


def _turns(messages: Sequence[str]) -> Iterator[Turn]:
    """What was said before, by turns; the user began."""
    for i, text in enumerate(messages):
        yield Turn(role=Role.ASSISTANT if i % 2 else Role.USER, text=text)


def _pair(row: Mapping[str, Any]) -> Pair:
    return Pair(
        **_common(row),
        support=Support(row["support"]),
        hallucinated=row["hallucinated"],
        wrong=tuple(_place(words, row["hallucinated"]) for words in row["wrong"]),
    )


def _place(words: str, answer: str) -> Span:
    found = [Span(*one.span()) for one in re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", answer)]
    if len(found) != 1:
        raise ValueError(f"wrong words must stand once in their answer, not {len(found)} times: {words!r}")
    return found[0]


def _grouped(judged: Sequence[Judged], key: Callable[[Judged], str]) -> dict[str, Rates]:
    kinds = dict.fromkeys(map(key, judged))
    return {kind: Rates.of([one for one in judged if key(one) == kind]) for kind in kinds}


def _of_pairs(name: str, rates: Mapping[str, Rates]) -> Table:
    table = _table(
        f"{name} on minimal pairs (95 % intervals)",
        *("kind", "changed scores higher", "changed flagged", "faithful flagged"),
        *("marked where wrong, of flagged", "not judged"),
    )
    for kind, one in _sectioned(table, rates):
        table.add_row(
            kind, str(one.ordered), str(one.caught), str(one.alarms), str(one.pointed), str(one.unjudged)
        )
    return table


def _of_faithful(name: str, flagged: Mapping[str, tuple[Share, int]]) -> Table:
    table = _table(
        f"{name} on faithful answers that don't look it (95 % intervals)",
        *("kind", "flagged", "not judged"),
    )
    for kind, (share, unjudged) in _sectioned(table, flagged):
        table.add_row(kind, str(share), str(unjudged))
    return table


def _sectioned(table: Table, rows: Mapping[str, T]) -> Iterator[tuple[str, T]]:
    """The rows, with a rule before the totals."""
    totals = [kind for kind in rows if kind in (*Support, ALL)]
    for kind, row in rows.items():
        if kind == totals[0]:
            table.add_section()
        yield kind, row


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for at, column in enumerate(columns):
        table.add_column(column, justify="left" if at == 0 else "right")
    return table


if __name__ == "__main__":
    main()
