"""Settings and their values, as documents and answers tell them."""

from __future__ import annotations

import pytest

from groundwire.text import settings


def read(found, text):
    return [(".".join(one.name), one.said.of(text), one.default) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max_retries defaults to 5.", [("maxretries", "5", True)]),
        (
            "maxRetries (default: 5) and min_wait (3 by default)",
            [("maxretries", "5", True), ("minwait", "3", True)],
        ),
        ("The default value of max_retries is 5.", [("maxretries", "5", True)]),
        ("log_level is set to warning, and log_file to a.log.", []),
        ("verify_writes is false.", [("verifywrites", "false", False)]),
        ("chunk_size is 800 unless you set it.", [("chunksize", "800", True)]),
        ("Use `max_retries` with care.", []),
    ],
)
def test_a_sentence_gives_a_name_its_value(text, expected):
    assert read(settings.stated(text), text) == expected


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("server:\n  port: 80\nmetrics:\n  port: 90\n", [("server.port", "80"), ("metrics.port", "90")]),
        ('{"cache": {"maxEntries": 500}, "burst": 4}', [("cache.maxentries", "500"), ("burst", "4")]),
        ("[login]\nmax_failures = 6\n", [("login.maxfailures", "6")]),
        ("export BATCH_SIZE=250\nENV HEAP_MB=512\n", [("batchsize", "250"), ("heapmb", "512")]),
        ("| Name | Type | Default |\n|---|---|---|\n| pool_size | int | 10 |\n", [("poolsize", "10")]),
        ("  --depth N how many links to follow (default: 2)\n", [("depth", "2")]),
        ("  --batch-size SIZE\n    samples in a step (default: 48)\n", [("batchsize", "48")]),
        ("def open(path, *, mode: str = 'r', buffer=64): ...", [("open.mode", "'r'"), ("open.buffer", "64")]),
        (":param depth: how deep to walk. Defaults to 9.", [("depth", "9")]),
        ("### strict_mode\nType: boolean. Default: true.\n", [("strictmode", "true")]),
        ("If `idleTimeout` isn't set, connections are closed after 75 s.", [("idletimeout", "75")]),
    ],
)
def test_documents_give_settings_in_many_layouts(document, expected):
    text = document.replace("`", "")
    assert [one[:2] for one in read(settings.given(text), text)] == expected


def test_days_and_headings_are_no_settings():
    """ "Sunday: 16:00" and "Price: 20" name no setting, nor does what is no word of code beside "is"."""
    assert settings.given("Sunday: 16:00\nPrice: 20\n") == []
    assert settings.given("The limit is 30 kg.") == []


def test_a_value_may_be_told_before_the_name():
    """In brackets, as the default of it, and after what tells that it isn't given."""
    for text in (
        "At most 10 files (max_files).",
        "10 files, the default of max_files.",
        "Without max_files, 10 are.",
    ):
        ((one, near),) = settings.alluded(text)
        assert one.name == ("maxfiles",)
        assert "10" in near.of(text)
