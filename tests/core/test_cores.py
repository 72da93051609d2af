"""The cores of a container are those that it may use, not those of its machine."""

import pytest

from groundwire.core.cores import usable_cores


@pytest.fixture(autouse=True)
def _machine_with_64_cores(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)


def cores(folder, files, group="/"):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    own = folder / "own"
    own.write_text(f"1:cpu:/\n0::{group}\n")
    return usable_cores(folder, own)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("200000 100000\n", 2),
        ("50000 100000\n", 1),
        ("250000 100000\n", 3),
        ("9900000 100000\n", 64),
        ("max 100000\n", 64),
        ("", 64),
        ("nonsense\n", 64),
        ("100000 0\n", 64),
    ],
)
def test_a_container_s_limit_counts(tmp_path, limit, expected):
    assert cores(tmp_path, {"cpu.max": limit}) == expected


def test_a_limit_of_a_group_around_it_counts(tmp_path):
    """As of a service with CPUQuota=, or of a container that sees its machine's groups."""
    files = {"pods/cpu.max": "400000 100000\n", "pods/one/cpu.max": "max 100000\n"}
    assert cores(tmp_path, files, "/pods/one") == 4
    assert cores(tmp_path, {}, "/elsewhere") == 64


@pytest.mark.parametrize(("quota", "expected"), [("150000", 2), ("-1", 64), ("0", 64)])
def test_limits_of_the_first_version_count(tmp_path, quota, expected):
    files = {"cpu/cpu.cfs_quota_us": f"{quota}\n", "cpu/cpu.cfs_period_us": "100000\n"}
    assert cores(tmp_path, files) == expected


def test_a_system_without_control_groups_has_all_its_cores(tmp_path):
    assert usable_cores(tmp_path / "none", tmp_path / "none") == 64
