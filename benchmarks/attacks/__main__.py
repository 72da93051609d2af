"""How often attacks on a judge succeed, with and without each defence: the tables in docs/security.md.

    python -m benchmarks.attacks [--check]

A success is a hallucinated answer that is called grounded and not recommended for review. The judges are
scripted; no model is asked. Ten seconds on one core. ``--check`` changes nothing, and exits with 1 where the
page is out of step.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.attacks import Attack, attacks
from benchmarks.attacks.judges import HONEST, JUDGES
from benchmarks.attacks.trial import CASES, DEFENCES, PLACES, RIGHT, Case, requested, silently_clean, trials
from groundwire.core.budget import estimated_tokens

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
BEGIN, END = "<!-- python -m benchmarks.attacks -->", "<!-- end -->"
ALL = frozenset(DEFENCES)
COLUMNS: Mapping[str, frozenset[str]] = {
    "none": frozenset(),
    **{one: frozenset([one]) for one in DEFENCES},
    "all": ALL,
}


def tables() -> str:
    """The whole part of the page that is measured, as Markdown."""
    tried = attacks()
    return "\n".join([BEGIN, *_by_defence(tried), "", *_by_case(tried), "", _right(tried), "", _cost(), END])


def place_of(i: int) -> str:
    """Where the attack of this number is written: everywhere would take minutes."""
    return PLACES[i % len(PLACES)]


def case_of(i: int) -> Case:
    """Which answer it is to save. Attacks of one place meet all of them."""
    return CASES[i // len(PLACES) % len(CASES)]


def _by_defence(tried: Sequence[Attack]) -> list[str]:
    clean: Counter[tuple[str, str]] = Counter()
    for column, on in COLUMNS.items():
        for i, attack in enumerate(tried):
            outcomes = trials(JUDGES, attack, place_of(i), case_of(i), on)
            for judge, outcome in zip(JUDGES, outcomes, strict=True):
                clean[judge.name, column] += silently_clean(outcome)
    return [
        f"| a judge that | {' | '.join(COLUMNS)} |",
        "|---|" + "---|" * len(COLUMNS),
        *(
            f"| {judge.name} | {' | '.join(_share(clean[judge.name, one], len(tried)) for one in COLUMNS)} |"
            for judge in JUDGES
        ),
    ]


def _by_case(tried: Sequence[Attack]) -> list[str]:
    """With all defences on, what each hallucination comes to before the judges that obey anything."""
    obeying = JUDGES[-2:]
    lines = [
        f"| all defences on | {' | '.join(case.name for case in CASES)} |",
        "|---|" + "---|" * len(CASES),
    ]
    clean: Counter[tuple[str, str]] = Counter()
    for case in CASES:
        for i, attack in enumerate(tried):
            outcomes = trials(obeying, attack, place_of(i), case, ALL)
            for judge, outcome in zip(obeying, outcomes, strict=True):
                clean[judge.name, case.name] += silently_clean(outcome)
    for judge in obeying:
        shares = [_share(clean[judge.name, case.name], len(tried)) for case in CASES]
        lines.append(f"| {judge.name} | {' | '.join(shares)} |")
    return lines


def _right(tried: Sequence[Attack]) -> str:
    places = [place for place in PLACES if place != "answer"]  # there, an attack is one more claim
    kept = sum(
        silently_clean(trials([HONEST], attack, places[i % len(places)], RIGHT, ALL)[0])
        for i, attack in enumerate(tried)
    )
    return (
        f"With all defences on, a right answer before the honest judge stays grounded beside {kept} of the "
        f"{len(tried)} attacks."
    )


def _cost() -> str:
    said = [_tokens(case, ALL - {"canary"}) for case in CASES]
    more = [_tokens(case, ALL) for case in CASES]
    sent, back = (
        round(sum(b[k] - a[k] for a, b in zip(said, more, strict=True)) / len(CASES)) for k in (0, 1)
    )
    whole = round(sum(one[0] for one in said) / len(CASES))
    return (
        f"A canary costs {sent} tokens to the model and {back} from it for each call, estimated at four "
        f"bytes a token; a call of these short answers takes {whole:,} without it. The other defences cost "
        "none."
    )


def _tokens(case: Case, on: frozenset[str]) -> tuple[int, int]:
    request, reply = requested(case, on)
    return estimated_tokens(request.system + request.user), estimated_tokens(reply)


def _share(count: int, of: int) -> str:
    return "0" if not count else f"{count} of {of}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; 1 if the page is out of step")
    measured, page = tables(), PAGE.read_text(encoding="utf-8")
    given = parser.parse_args()
    before, _, rest = page.partition(BEGIN)
    new = f"{before}{measured}{rest.partition(END)[2]}"
    if given.check:
        return int(new != page)
    PAGE.write_text(new, encoding="utf-8")
    sys.stdout.write(measured + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
