"""A comparison as plain data: all that its page, its Markdown and its JSON tell, measured once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from groundwire import __version__
from groundwire.bench import curves, metrics
from groundwire.bench.comparison import Comparison, Contestant, beats_shortcuts, worst
from groundwire.bench.intervals import Difference
from groundwire.bench.runs import Judged
from groundwire.bench.scorecard import Card, scored
from groundwire.core.plain import plain
from groundwire.core.tuned import Figure

VERSION = 1
_CLEAR = 0.05  # below this, chance seldom parts two equally good methods so far
_DIGITS = 6
_WORST = 4
_PASSAGES = 8  # of those that a worst mistake was judged by
_CONTEXT = 4_000  # characters of a passage that a worst mistake shows


def told(
    comparison: Comparison, *, title: str = "Detectors compared", when: str | None = None
) -> dict[str, Any]:
    """The whole comparison, JSON-safe. Keys are named as the values of ``scorecard`` and ``curves`` are."""
    whole = comparison.whole
    result = {
        "version": VERSION,
        "groundwire": __version__,
        "title": title,
        "when": when or datetime.now().astimezone().strftime("%d %B %Y, %H:%M"),
        "sets": {name: _set(comparison, name) for name in comparison.sets},
        "methods": [
            {
                "name": one.name,
                "shortcut": one.shortcut,
                "flags": one.flags,
                "locates": one.locates,
                "made_by": one.made_by,
                "beats_every_shortcut": beats_shortcuts(comparison, one.name),
            }
            for one in comparison.contestants
        ],
        "cards": {
            where: {name: _card(card) for name, card in cards.items()}
            for where, cards in {**_mean(comparison), **comparison.cards}.items()
        },
        "slices": [
            {
                **{name: getattr(part, name) for name in ("set", "by", "name", "answers", "bad")},
                "figures": {
                    name: {measure: _figure(value) for measure, value in figures.items()}
                    for name, figures in part.figures.items()
                },
            }
            for part in comparison.slices
        ],
        "leads": [
            {
                "first": first,
                "second": second,
                **{measure: _difference(value) for measure, value in found.items()},
            }
            for (first, second), found in comparison.leads.items()
        ],
        "worst": {one.name: _worst(comparison, one) for one in comparison.contestants if not one.shortcut},
        "notes": list(comparison.notes),
    }
    result["summary"] = summary(result, list(whole))
    rounded: dict[str, Any] = _rounded(plain(result))
    return rounded


def whole_of(report: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """What the figures over all sets are called, and each method's card over them."""
    name = next(iter(report["cards"]))
    return name, report["cards"][name]


def summary(report: Mapping[str, Any], order: Sequence[str]) -> list[str]:
    """What the figures say, in sentences: who leads, by how much and how surely, and what it costs."""
    _, cards = whole_of(report)
    methods = {one["name"]: one for one in report["methods"]}
    ranked = sorted(
        (name for name in order if not methods[name]["shortcut"] and cards[name]["figures"].get("auroc")),
        key=lambda name: -cards[name]["figures"]["auroc"]["value"],
    )
    left_out = [
        line for line in [_not_judged(cards, [n for n in order if not methods[n]["shortcut"]])] if line
    ]
    if not ranked:
        return ["No AUROC can be told: it takes answers of both labels that were judged.", *left_out]
    best = ranked[0]
    lines = [_best(best, cards[best]["figures"]["auroc"])]
    rivals = [
        name
        for name in order
        if methods[name]["shortcut"] and cards[name]["figures"].get("auroc") and name != "always flag"
    ]
    if rivals:
        rival = max(rivals, key=lambda name: cards[name]["figures"]["auroc"]["value"])
        lines += [
            line for line in [_lead(report, best, rival, "the best shortcut, ", of=len(ranked))] if line
        ]
    if len(ranked) > 1:
        lines += [line for line in [_lead(report, best, ranked[1], "the next detector, ")] if line]
    lost: dict[int, list[str]] = {}
    for name in ranked:
        lost.setdefault(len(methods[name]["beats_every_shortcut"]), []).append(name)
    lines += [
        f"Above every shortcut on {won} of {len(report['sets'])} sets: {', '.join(names)}. "
        "Where a score is not, it says little that counting words does not."
        for won, names in sorted(lost.items())
        if won < len(report["sets"])
    ]
    return lines + left_out


def _best(name: str, auroc: Mapping[str, float]) -> str:
    if auroc["high"] >= metrics.KNOWS_NOTHING:
        return f"{name} orders answers best: AUROC {_shown(auroc)}."
    return (
        f"Every detector scores hallucinated answers lower than grounded ones: {name}, the best, has AUROC "
        f"{_shown(auroc)}. Are the labels the wrong way round? 1 is hallucinated, 0 grounded, and the "
        "reverse under a name such as 'faithful'."
    )


def _not_judged(cards: Mapping[str, Any], names: Sequence[str]) -> str:
    part = [
        f"{name} {round(cards[name]['coverage'] * cards[name]['answers']):,} of {cards[name]['answers']:,}"
        for name in names
        if cards[name]["coverage"] < 1
    ]
    return f"Not all answers were judged: {', '.join(part)}. Figures are of these." if part else ""


def _lead(report: Mapping[str, Any], best: str, other: str, what: str, *, of: int = 1) -> str:
    """By how much the best leads. As the best ``of`` several it has as many chances to lead by luck."""
    for one in report["leads"]:
        if {one["first"], one["second"]} == {best, other} and one.get("auroc"):
            found, sign = one["auroc"], 1 if one["first"] == best else -1
            low, high = sorted((sign * found["low"], sign * found["high"]))
            lead = sign * found["value"]
            sure = "" if found["p"] * of < _CLEAR else ", which chance may have done"
            if sure and found["p"] < _CLEAR:
                sure += f" for the best of {of}"
            return (
                f"{best} is {'above' if lead > 0 else 'not above'} {what}{other}: {lead:+.3f} "
                f"[{low:.3f}, {high:.3f}] (p = {found['p']:.3f}){sure}."
            )
    return ""


def _shown(figure: Mapping[str, float]) -> str:
    return f"{figure['value']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}]"


def _mean(comparison: Comparison) -> dict[str, Mapping[str, Card]]:
    # The whole comes first, whatever it is called.
    name = next(where for where, cards in comparison.cards.items() if cards is comparison.whole)
    return {name: comparison.whole}


def _set(comparison: Comparison, name: str) -> dict[str, Any]:
    examples = comparison.sets[name]
    return {
        "answers": len(examples),
        "hallucinated": sum(bool(one.label) for one in examples),
        "sources": len({one.group for one in examples}),
        "marked": any(one.spans for one in examples),
        "fingerprint": comparison.data[name],
        "drawn": {
            one.name: _drawn(comparison.judged[one.name][name], one)
            for one in comparison.contestants
            if one.name != "always flag"
        },
    }


def _drawn(judged: Sequence[Judged], one: Contestant) -> dict[str, Any]:
    data = scored({"": judged}, either_way=one.shortcut)
    thresholds = {outcome.threshold for j in judged if (outcome := j.outcome).threshold is not None}
    grounded, hallucinated = curves.spread(data)
    return {
        "roc": curves.roc(data),
        "precision_recall": curves.precision_recall(data),
        "spread": {"grounded": grounded, "hallucinated": hallucinated},
        "sweep": []
        if one.shortcut
        else [[cut.hit, cut.missed, cut.false, cut.passed] for cut in curves.sweep(data)],
        "threshold": next(iter(thresholds)) if one.flags and len(thresholds) == 1 else None,
    }


def _card(card: Card) -> dict[str, Any]:
    return {
        **asdict(card),
        "figures": {name: _figure(value) for name, value in card.figures.items()},
        "reliability": [asdict(one) for one in card.reliability],
    }


def _figure(value: Figure | None) -> dict[str, float] | None:
    return None if value is None else asdict(value)


def _difference(value: Difference | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {**asdict(value.difference), "p": value.p, "answers": value.answers}


def _worst(comparison: Comparison, one: Contestant) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {"missed": [], "alarmed": []}
    for name in comparison.sets:
        missed, alarmed = worst(comparison.judged[one.name][name], _WORST)
        for kind, mistakes in (("missed", missed), ("alarmed", alarmed)):
            found[kind] += [{"rank": rank, **_mistake(name, one)} for rank, one in enumerate(mistakes)]
    for kind, sign in (("missed", 1), ("alarmed", -1)):
        # Of several sets, the first of each and then the second: one set must not have them all.
        found[kind] = sorted(found[kind], key=lambda mistake: (mistake["rank"], sign * mistake["score"]))[
            :_WORST
        ]
    return found


def _mistake(name: str, judged: Judged) -> dict[str, Any]:
    given, outcome = judged.example.interaction, judged.outcome
    return {
        "set": name,
        "id": judged.example.id,
        "task": judged.example.task,
        "model": judged.example.model,
        "question": given.question,
        "answer": given.answer,
        "passages": len(given.contexts),
        "contexts": [_shortened(passage.text) for passage in given.contexts[:_PASSAGES]],
        "score": outcome.score,
        "threshold": outcome.threshold,
        "reason": outcome.reason,
        "flagged": [[span.start, span.end] for span in outcome.spans],
        "marked": None
        if judged.example.spans is None
        else [[span.start, span.end] for span in judged.example.spans],
    }


def _shortened(text: str) -> str:
    return text if len(text) <= _CONTEXT else f"{text[:_CONTEXT]} [...]"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value
