"""The report: what it says in short, its Markdown and JSON, its plots, and a page that runs its own alone."""

import io
import json
import re
import shutil
from dataclasses import replace

import pytest
from rich.console import Console

from groundwire import Checker, ConfigurationError, Policy, Usage
from groundwire.bench import charts, page, report, table, tuning
from groundwire.bench.comparison import Contestant, compare, contestant
from groundwire.bench.runs import judge
from groundwire.core.span import Span
from tests.bench.answers import Lottery, example, said
from tests.report.html import parse
from tests.report.test_page import PAYLOADS
from tests.report.test_page_in_a_browser import opened

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def fees(count=24, *, note=""):
    """Half of the answers name another fee than their passage; their figure is marked."""
    for n in range(count):
        bad = n % 2 == 0
        answer = f"The fee for tariff {n} is {95 - n if bad else 25 + n} EUR.{note}"
        start = answer.index("is ") + 3
        yield example(
            n,
            label=bad,
            spans=(Span(start, start + 2),) if bad else (),
            answer=answer,
            contexts=f"For tariff {n}, the fee comes to {25 + n} EUR.",
            task="fees" if n < 20 else "few",
            model=f"model {n % 2}{note}",
            group=f"tariff {n // 2}",
        )


@pytest.fixture(scope="module")
def told():
    sets = {
        "first": list(fees()),
        "second set": [*fees(12), *(example(90 + n, label=None) for n in range(3))],
    }
    entered = [contestant("lexical", Checker("lexical")), contestant("lottery", Checker(Lottery()))]
    return report.told(compare(sets, entered, rounds=30), title="Fees", when="today")


def test_the_whole_comes_first_and_every_method_has_its_figures(told):
    """Over both sets, then each: detectors and all shortcuts, with what they cost."""
    assert list(told["cards"]) == ["mean of the sets", "first", "second set"]
    names = ["lexical", "lottery", "answer length", "novel words", "always flag"]
    assert [one["name"] for one in told["methods"]] == names
    assert all(list(cards) == names for cards in told["cards"].values())
    lexical = told["cards"]["first"]["lexical"]
    assert lexical["figures"]["auroc"]["value"] == 1
    assert lexical["figures"]["span_recall"]["value"] == 1
    assert lexical["coverage"] == 1
    assert told["cards"]["first"]["always flag"]["figures"]["recall"]["value"] == 1
    assert told["cards"]["first"]["answer length"]["figures"].get("f1") is None


def test_what_a_reader_must_know_is_told(told):
    """Unlabelled answers, and passages that the sets share."""
    assert "second set: 3 answers without a label are left out" in told["notes"]
    assert any("share a passage with first" in note for note in told["notes"])
    assert (
        "first: only 12 answers are hallucinated: nothing is sure before there are 50 or more"
        in told["notes"]
    )
    assert told["summary"][0].startswith("lexical orders answers best: AUROC 1.000")
    assert any("bove every shortcut on" in line and "lottery" in line for line in told["summary"])


@pytest.mark.parametrize("width", [220, 80])
def test_a_narrow_terminal_shows_every_figure_whole(told, width):
    """What is too wide goes on below, beside the methods again; no name and no figure is broken."""
    screen = Console(width=width, file=io.StringIO())
    for part in table.terminal(told):
        screen.print(part, soft_wrap=isinstance(part, str))
    shown = screen.file.getvalue()
    assert all(len(line) <= width for line in shown.splitlines() if "\u2500" in line)
    cells = [cell for row in table.rows(told["cards"]["mean of the sets"], told["methods"]) for cell in row]
    assert all(word in shown for word in (*table.HEADER, "AUROC by set", *cells))


def entered(name, score, *, why=lambda one: None):
    """A method that scores answers so."""

    def run(examples, record, progress):
        for one in examples:
            yield replace(said(score(one), why=why(one), seconds=0.1), example=one)

    return Contestant(name=name, run=run)


def test_reference_answers_alone_are_reported_with_what_was_not_judged():
    """Nothing can be ordered where all are grounded; there is a report, and it tells who abstained."""
    sets = {"set": [example(n, label=False) for n in range(12)]}
    quiet = entered("quiet", lambda one: 0.2, why=lambda one: "NO_CLAIMS" if one.id == "row-3" else None)
    told = report.told(compare(sets, [quiet], rounds=5))
    assert told["summary"] == [
        "No AUROC can be told: it takes answers of both labels that were judged.",
        "Not all answers were judged: quiet 11 of 12. Figures are of these.",
    ]
    assert told["cards"]["set"]["quiet"]["figures"]["accuracy"]["value"] == 1
    assert "NO_CLAIMS 1" in page.render(told)
    assert "NO_CLAIMS 1" in table.markdown(told)
    assert table.terminal(told)


def test_a_method_that_judged_nothing_is_named_beside_one_that_did():
    silent = entered("silent", lambda one: 0.0, why=lambda one: "MODEL_FAILED")
    good = entered("good", lambda one: 0.9 if one.label else 0.1)
    told = report.told(compare({"set": list(fees())}, [silent, good], rounds=5))
    assert told["summary"][-1] == "Not all answers were judged: silent 0 of 24. Figures are of these."


def test_a_method_that_abstains_is_held_against_shortcuts_on_the_answers_that_it_judged():
    """Above them on easier answers than theirs is not above them."""
    easy, hard = list(fees()), [replace(one, id=f"{one.id} hard") for one in fees()]
    hard = [replace(one, label=not one.label, spans=None) for one in hard]
    choosy = entered(
        "choosy",
        lambda one: 0.9 if one.label else 0.1,
        why=lambda one: "NO_CLAIMS" if one.id.endswith("hard") else None,
    )
    told = report.told(compare({"set": easy + hard}, [choosy], rounds=5))
    cards = told["cards"]["set"]
    assert cards["choosy"]["figures"]["auroc"]["value"] == 1
    assert cards["novel words"]["figures"]["auroc"]["value"] < 1
    (lead,) = [one for one in told["leads"] if one["second"] == "novel words"]
    assert lead["auroc"]["value"] == 0
    assert told["methods"][0]["beats_every_shortcut"] == []


@pytest.mark.parametrize(("detectors", "p", "sure"), [(1, 0.02, True), (2, 0.02, True), (8, 0.02, False)])
def test_the_best_of_many_is_not_sure_as_soon_as_the_only_one(detectors, p, sure):
    """Of eight that are as good as a shortcut, the luckiest is above it by chance far oftener than one is."""
    names = [f"method {n}" for n in range(detectors)]
    figure = {"value": 0.8, "low": 0.7, "high": 0.9}
    given = {
        "sets": {"set": {}},
        "methods": [
            {"name": name, "shortcut": name == "rival", "beats_every_shortcut": ["set"]}
            for name in (*names, "rival")
        ],
        "cards": {
            "set": {name: {"figures": {"auroc": figure}, "coverage": 1.0} for name in (*names, "rival")}
        },
        "leads": [{"first": "method 0", "second": "rival", "auroc": {**figure, "p": p}}],
    }
    line = report.summary(given, [*names, "rival"])[1]
    assert line.startswith("method 0 is above the best shortcut, rival: +0.800 [0.700, 0.900] (p = 0.020)")
    assert line.endswith("which chance may have done for the best of 8.") is not sure


def test_labels_the_wrong_way_round_are_suspected():
    """No method is called best for scoring hallucinated answers surely lower than grounded ones."""
    sets = {"set": [replace(one, label=not one.label) for one in fees()]}
    (first, *_) = report.told(compare(sets, [contestant("lexical", Checker("lexical"))], rounds=30))[
        "summary"
    ]
    assert "Are the labels the wrong way round? 1 is hallucinated, 0 grounded, and the reverse under" in first
    assert "best: AUROC" not in first


def test_answers_about_few_sources_make_no_sure_intervals():
    """About one source, an interval over sources has no width: that is no certainty, and is said."""
    many = [example(n, label=n % 2 == 0, group=f"source {n % 4}") for n in range(120)]
    one = [replace(example(n, label=n % 2 == 0), group="source") for n in range(4)]
    compared = compare({"four": many, "single": one}, [entered("any", lambda one: 0.5)], rounds=5)
    notes = " ".join(compared.notes)
    assert "four: its hallucinated answers are about 2 sources: the intervals are rough" in notes
    assert "single: all answers are about one source, so that nothing can be told of others" in notes


@pytest.fixture
def tuned(tmp_path):
    """A checker that was tuned on ``fees()``."""
    checker = Checker("lexical")
    given = [*fees(), example(99, contexts=[])]
    tuning.tune(judge(given, checker), checker).save(tmp_path / "tuned.json")
    return Checker.from_config(tmp_path / "tuned.json")


def test_answers_that_a_contestant_was_tuned_on_are_told(tuned):
    """Beside its detector as it came, a tuned one looks better on its own labels than on others."""
    mine = list(fees())
    sets = {
        "mine": mine,
        "renamed": [replace(one, id=f"{one.id} again") for one in mine],
        "turned round, without one": mine[:0:-1],
        "with another": [*mine, example(99, contexts=[])],
        "others": list(fees(note=" It is said.")),
    }
    entered = [contestant("tuned", tuned), contestant("lexical", Checker("lexical"))]
    notes = [note.partition(", so")[0] for note in compare(sets, entered, rounds=5).notes if "tuned" in note]
    assert notes == [
        "mine: tuned was tuned on these very answers",
        "renamed: tuned was tuned on these very answers",
        "turned round, without one: tuned was tuned on these very answers",
        "with another: tuned was tuned on these answers: 24 of 25",
    ]


def test_a_tuning_that_does_not_tell_its_answers_may_have_been_on_these(tuned):
    """As files from before that was kept: that nothing is known is no reason for silence."""
    old = replace(tuned.policy.tuned, labels=replace(tuned.policy.tuned.labels, contents=b""))
    entered = contestant("old", Checker("lexical", policy=Policy(tuned=old)))
    (note,) = [note for note in compare({"set": list(fees())}, [entered], rounds=5).notes if "tuned" in note]
    assert note.startswith("old was tuned before tunings told on which answers")


def test_sets_whose_names_differ_in_signs_alone_are_drawn_to_files_of_their_own():
    sets = {"a b": list(fees(12)), "a-b": list(fees(12))}
    told = report.told(compare(sets, [contestant("lexical", Checker("lexical"))], rounds=5))
    assert len(charts.plots(told)) == 2 * 4 + 1


def test_what_a_mistake_does_not_show_is_told():
    """Of many or long passages, a few are shown; how many there are is said."""
    long = [f"Passage {n}." for n in range(9)] + ["x" * 9]
    sets = {"set": [example(n, label=n % 2 == 0, contexts=["y" * 5_000, *long]) for n in range(4)]}
    told = report.told(compare(sets, [entered("all", lambda one: 0.9)], rounds=5))
    shown = page.render(told)
    assert "the first 8 of 11" in shown
    assert f"{'y' * 4_000} [...]" in shown


def test_parts_with_few_answers_have_no_figures(told):
    """Ten answers of either label, or nothing is said of a task."""
    parts = {(part["set"], part["name"]): part["figures"] for part in told["slices"]}
    assert parts["first", "fees"]["lexical"]["auroc"]["value"] == 1
    assert not any(parts["first", "few"].values())


def test_it_is_json(told):
    """Nothing in it is NaN, and it comes back as it went."""
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_markdown_has_a_row_a_method_and_cells_that_hold(told):
    """A bar in a name does not break its table."""
    sets = {"a|b": list(fees(20))}
    named = report.told(compare(sets, [contestant("x|y", Checker(Lottery()))], rounds=5))
    text = table.markdown(named)
    rows = [line for line in text.splitlines() if line.startswith("| x\\|y")]
    assert rows
    assert all(len(re.findall(r"(?<!\\)\|", row)) == len(table.HEADER) + 1 for row in rows[:1])
    assert "## mean of the sets" in table.markdown(told)


def test_plots_stand_alone_as_svg_and_png(told, tmp_path):
    """Each is a file that names its methods and needs no style from elsewhere."""
    written = page.write_all(tmp_path, told, plots="svg")
    drawn = [path for path in written if path.suffix == ".svg"]
    assert len(drawn) == 2 * 4 + 1
    for path in drawn:
        text = path.read_text(encoding="utf-8")
        assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
        assert "lottery" in text
        assert "var(" not in text
    assert not charts.priced(told), "no model was asked, so there is no plot of money"
    pytest.importorskip("resvg_py")
    assert charts.png(drawn[0].read_text(encoding="utf-8")).startswith(b"\x89PNG")


def test_what_money_buys_is_drawn_where_it_is_known():
    """Methods that ask nothing stand at the edge, as free; the others where their cost is."""

    def entered(name, cost, score):
        def run(examples, record, progress):
            for one in examples:
                usage = Usage(calls=1 if cost else 0, cost=cost)
                yield replace(said(score(one), usage=usage, seconds=0.1), example=one)

        return Contestant(name=name, run=run)

    paid = entered("paid", 0.02, lambda one: 0.9 if one.label else 0.1)
    free = entered("free one", None, lambda one: len(one.id) / 10)
    told = report.told(compare({"set": list(fees())}, [paid, free], rounds=5))
    drawn = charts.cost(told, "cost")
    assert "cost of an answer 0.02" in drawn
    assert ">free<" in drawn
    assert drawn in page.render(told)
    assert "| paid | 1.000 [0.735, 1.000] |" in table.markdown(told)


def test_the_page_loads_nothing_and_runs_only_its_own(told):
    """No address but those of the SVG namespace; a policy with two hashes."""
    root = parse(page.render(told))
    assert not list(root.all("link", "stylesheet"))
    assert not [node for node in root.all("script") if "src" in node.attrs]
    text = page.render(told)
    assert not re.findall(r"https?://(?!www\.w3\.org)", text)
    assert list(root.all("article"))


def test_words_that_people_marked_and_a_method_flagged_are_told_apart(told):
    """In the worst errors: what was found, what was missed, what was flagged for nothing."""
    kinds = {node.attrs["class"] for node in parse(page.render(told)).all("mark")}
    assert kinds >= {"marked flagged", "marked", "flagged"}


def hostile():
    sets = {f"set {PAYLOADS[0]}": list(fees(20, note=" ".join(PAYLOADS)))}
    entered = [contestant(f"lottery {PAYLOADS[1]}", Checker(Lottery()))]
    return report.told(compare(sets, entered, rounds=5), title=f"mine {PAYLOADS[2]}")


def test_no_text_becomes_markup():
    """Names, answers, models and titles with markup in them are shown, and are no elements."""
    root = parse(page.render(hostile()))
    assert not list(root.all("img"))
    assert len(list(root.all("script"))) == 2


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_no_payload_runs_in_a_browser(tmp_path):
    """With payloads in every text the page is drawn, and its title is its own."""
    root = opened(tmp_path, page.render(hostile()))
    assert root.one("head").one("title").text.startswith("mine ")
    assert not list(root.all("img"))


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_a_set_is_chosen_and_a_threshold_is_slid(told, tmp_path):
    """One set at a time; at threshold 1.01 nothing would be flagged, at 0 all are."""
    then = (
        "document.querySelectorAll('button[data-set]')[1].click();"
        "const box = document.querySelectorAll('[data-sweep]')[0];"
        "const slider = box.querySelector('input');"
        "slider.value = 0; slider.dispatchEvent(new Event('input'));"
    )
    root = opened(tmp_path, page.render(told), then=then)
    shown = [node.attrs["data-set"] for node in root.all("section", "set") if "hidden" not in node.attrs]
    assert shown == ["1"]
    box = next(iter(root.all("div", "sweep")))
    cells = [cell.text for cell in box.all("td") if "data-cell" in cell.attrs]
    assert cells == ["12", "0", "12", "0"]
    rates = [rate.text for rate in box.all("dd")]
    assert rates == ["0.500", "1.000", "0.667", "100"]


def test_of_many_detectors_the_best_is_compared_with_every_other():
    """Six detectors make five pairs with the best of them, and two with shortcuts each, and no more."""

    def entered(number):
        def run(examples, record, progress):
            for at, one in enumerate(examples):
                right = at % 10 >= number
                score = 0.9 if bool(one.label) is right else 0.1
                yield replace(said(score, seconds=0.1), example=one)

        return Contestant(name=f"number {number}", run=run)

    compared = compare({"set": list(fees())}, [entered(number) for number in (3, 0, 1, 2, 4, 5)], rounds=5)
    pairs = list(compared.leads)
    assert [pair for pair in pairs if "always flag" in pair] == [
        (f"number {number}", "always flag") for number in (3, 0, 1, 2, 4, 5)
    ]
    among = [pair for pair in pairs if pair[1].startswith("number")]
    assert among == [("number 0", f"number {number}") for number in (3, 1, 2, 4, 5)]
    assert len(pairs) == 5 + 2 * 6
    assert all("auroc" not in found for pair, found in compared.leads.items() if "always flag" in pair)


def test_contestants_of_one_name_are_refused():
    with pytest.raises(ConfigurationError, match="2 contestants are called 'lexical'"):
        compare({"set": list(fees())}, [contestant("lexical", Checker("lexical"))] * 2)
