"""Yes-and-no entries of records."""

import pytest

from groundwire.text import flags


def entries(text):
    return {flag.key: flag.value for flag in flags.find(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"OutdoorSeating": false, "WiFi": "no", "name": "no"}',
            {"outdoorseat": False, "wifi": False, "name": False},
        ),
        ('{"RestaurantsTakeOut": true, "parking": {"garage": null}}', {"takeout": True, "garagpark": None}),
        (
            '{"attributes": {"wifi": true, "Ambience": {"casual": false}, "bar": "no"}}',
            {"wifi": True, "casualambienc": False, "bar": False},
        ),
        ("{'has_wifi': True, 'pets_allowed': None}", {"wifi": True, "petallow": None}),
        ("Outdoor seating: no\nWi-Fi: yes\nName: Uno", {"outdoorseat": False, "wifi": True}),
    ],
)
def test_an_entry_is_read_however_its_name_is_written(text, expected):
    assert entries(text) == expected


@pytest.mark.parametrize(
    "text", ["Answer: no", "Is it open? No, never: true stories", '{"note": "no pets"}', "a: nowhere"]
)
def test_what_is_no_record_has_no_entries(text):
    assert entries(text) == {}


def test_spans_are_the_entries_as_they_are_written():
    text = '{ "WiFi": "no", "Parking": null }'
    assert [flag.span.of(text) for flag in flags.find(text)] == ['"WiFi": "no"', '"Parking": null']


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"parking": {"garage": true}}', ("garagpark", "garag", "park")),
        ('{"attributes": {"GoodForGroups": true}}', ("goodforgroup", "group", "")),
        ('{"OutdoorSeating": true}', ("outdoorseat", "outdoorseat", "")),
    ],
)
def test_an_entry_has_a_short_name_and_a_kind(text, names):
    (flag,) = flags.find(text)
    assert (flag.key, flag.short, flag.kind) == names
