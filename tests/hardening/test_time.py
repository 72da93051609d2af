"""No input takes more than linear time: not a regular expression, a function of one text, or a check."""

import importlib
import inspect
import io
import json
import pkgutil

import pytest

import groundwire
from groundwire import Checker, Interaction, prompts, text
from groundwire.tables import Format
from groundwire.tables.records import records
from tests.hardening.growth import growth
from tests.hardening.patterns import FAMILIES, patterns, worst_texts

# Growth is 1 where it is linear, and the ratio of the sizes where it is quadratic.
SIZES, MOST = (1_000, 8_000), 4.0
# Quadratic where a long text is searched, and only ever searched in the characters before a number.
BOUNDED = {("groundwire.text.codes", r"[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9]))*-?\Z"): "24 characters"}
USED = patterns()
FEE = "The fee for a second bag is 25 EUR. Refunds take 14 days. Ada Byron wrote it in 1843."
UNITS = {
    **FAMILIES,
    "figures in sentences": "The fee is 25 EUR. ",
    "amounts": "25 EUR, ",
    "items": "- item 5 EUR\n",
    "rows": "| a | 5 |\n",
    "objects": '{"a": 1}, ',
    "open objects": '{"a":',
    "negations": "not never ",
}


def test_patterns_are_found_in_every_kind_of_place():
    assert len(USED) > 120
    where = {one.module for one in USED}
    assert {"groundwire.text.sentences", "groundwire.core.secrets", "groundwire.core.redaction"} <= where


@pytest.mark.parametrize("used", USED, ids=lambda used: f"{used.module}:{used.pattern.pattern[:30]!a}")
def test_no_pattern_takes_more_than_linear_time(used):
    if (used.module, used.pattern.pattern) in BOUNDED:
        return

    def tried(subject):
        if used.searched:
            for _ in used.pattern.finditer(subject):
                pass
        else:
            used.pattern.match(subject)
            used.pattern.fullmatch(subject)

    texts = {size: dict(worst_texts(used.pattern, size)) for size in SIZES}
    slow = {name: growth(tried, lambda size, name=name: texts[size][name], SIZES) for name in texts[SIZES[0]]}
    assert max(slow.values()) < MOST, {name: round(one, 1) for name, one in slow.items() if one >= MOST}


def functions():
    """Every public function and class of one text, in the packages that read texts."""
    names = [
        one.name
        for package in (text, prompts)
        for one in pkgutil.iter_modules(package.__path__, package.__name__ + ".")
    ]
    for name in [
        *names,
        "groundwire.report.visible",
        "groundwire.report.segments",
        "groundwire.detectors.shown",
    ]:
        module = importlib.import_module(name)
        for key, value in vars(module).items():
            ours = getattr(value, "__module__", "") == name and not key.startswith("_")
            if ours and (
                inspect.isfunction(value) or (inspect.isclass(value) and not issubclass(value, Exception))
            ):
                given = list(inspect.signature(value).parameters.values())
                if (
                    given
                    and given[0].annotation in ("str", str)
                    and all(p.default is not p.empty for p in given[1:])
                ):
                    yield pytest.param(value, id=f"{name.removeprefix('groundwire.')}.{key}")


@pytest.mark.parametrize("function", list(functions()))
def test_no_function_of_a_text_takes_more_than_linear_time(function):
    def called(subject):
        try:
            result = function(subject)
        except (ValueError, TypeError):
            return
        if inspect.isgenerator(result):
            list(result)

    slow = {
        name: growth(called, lambda size, unit=unit: made(unit, size), SIZES) for name, unit in UNITS.items()
    }
    assert max(slow.values()) < MOST, slow


def made(unit, size):
    return (unit * (size // len(unit) + 1))[:size] + "\x00"


@pytest.mark.parametrize("where", ["answer", "context", "many contexts", "question"])
def test_no_check_takes_more_than_linear_time(where):
    checker = Checker("lexical")

    def checked(subject):
        said = {"answer": FEE, "contexts": [FEE], "question": "What is it?"}
        split = [subject[i : i + 60] for i in range(0, len(subject), 60)]
        said |= {"context": {"contexts": [subject]}, "many contexts": {"contexts": split}}.get(
            where, {where: subject}
        )
        checker.check(Interaction(**said))

    for name in (
        "words",
        "figures",
        "figures in sentences",
        "rows",
        "items",
        "emoji",
        "quotes",
        "one letter",
    ):
        found = growth(checked, lambda size, unit=UNITS[name]: made(unit, size), SIZES)
        assert found < MOST, (name, found)


def test_an_array_takes_linear_time_whatever_its_first_item_is():
    """What is held of the text behind a long item is not copied for each short one."""

    def array(size):
        items = [{"context": "c" * 2_200_000, "answer": "a"}, *[{"context": "c", "answer": "a"}] * size]
        return json.dumps(items).encode()

    found = growth(lambda data: list(records(io.BytesIO(data), kind=Format.JSON)), array, (5_000, 50_000))
    assert found < MOST


def test_the_whole_package_was_looked_at():
    assert groundwire.__name__ in {one.module.partition(".")[0] for one in USED}
