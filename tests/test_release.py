"""What is published: pins, licences, the contents of distributions."""

import re
import subprocess
import tomllib
import zipfile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release import distributions, licences
from release.matrix import CELLS, page
from release.wheels import ROOT

PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def pins(text):
    return {canonicalize_name(name): version for name, version in PIN.findall(text)}


def test_the_lock_file_and_the_constraints_agree():
    constraints = pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    differing = {
        name: (version, constraints[name])
        for name, version in pins(LOCK).items()
        if name in constraints and constraints[name] != version
    }
    assert differing == {}, "run `make lock`"


def test_the_lock_file_has_everything_that_all_brings():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    waiting, wanted = [*project["dependencies"], *extras["all"]], set()
    while waiting:
        one = Requirement(waiting.pop())
        if one.name == "groundwire":
            waiting += [text for extra in one.extras for text in extras[extra]]
        else:
            wanted.add(canonicalize_name(one.name))
    assert wanted - pins(LOCK).keys() == set(), "run `make lock`"


def test_every_pin_has_hashes_and_no_line_names_a_host_or_a_folder():
    blocks = re.split(r"\n(?=\S)", LOCK.strip())
    assert all("--hash=sha256:" in block for block in blocks)
    assert not re.search(r"://|--(index|find)|/(home|root|tmp|Users)/", LOCK)


def test_every_dependency_has_a_licence_that_was_agreed_to():
    assert licences.refused() == [], "a licence that is not on the list in release/licences.py"


def test_the_page_of_licences_has_everything_that_is_installed():
    listed = licences.PAGE.read_text(encoding="utf-8")
    missing = [
        name for name in licences.needed()[0] if f"| {name} | {licences.licence(name)} |" not in listed
    ]
    assert missing == [], "run `make licences`"


@pytest.mark.parametrize(
    ("terms", "fine"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND (GPL-3.0-only OR Apache-2.0)", True),
        ("MIT AND (GPL-3.0-only AND Apache-2.0)", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MPL-2.0", False),
        ("unknown", False),
    ],
)
def test_an_expression_is_allowed_by_its_parts(terms, fine):
    assert licences.allowed("something", terms) is fine


def test_weak_copyleft_is_agreed_to_by_package():
    assert licences.allowed("certifi", "MPL-2.0")
    assert not licences.allowed("certifi", "LGPL-3.0-only")


@pytest.fixture(scope="module")
def sources():
    """The package's files as a wheel would hold them."""
    package = ROOT / "src"
    listed = subprocess.run(["git", "ls-files", "src"], capture_output=True, text=True, cwd=ROOT, check=False)
    if listed.returncode:
        pytest.skip("this is no git checkout")
    paths = [ROOT / one for one in listed.stdout.split()]
    return {one.relative_to(package).as_posix(): one.read_bytes() for one in paths}


def test_the_package_as_it_is_would_pass(sources):
    assert list(distributions.problems("groundwire-1-py3-none-any.whl", sources)) == []


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"groundwire/local/data/encoder.onnx": None}, "lacks groundwire/local/data/encoder.onnx"),
        ({"groundwire/local/data/vocab.txt": b"other"}, "vocab.txt is not the file whose checksum"),
        ({"groundwire/prompts/judge_v1.toml": None}, "lacks the prompt judge_v1.toml"),
        ({"groundwire/__pycache__/x.pyc": b""}, "holds groundwire/__pycache__/x.pyc"),
        ({"tests/data/x.json": b""}, "for the source distribution alone"),
        ({"groundwire/note.txt": str(ROOT).encode()}, "names a folder of this machine"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_does_not_belong_in_a_distribution_is_told(sources, changed, told):
    files = {name: data for name, data in (sources | changed).items() if data is not None}
    assert any(told in one for one in distributions.problems("groundwire-1-py3-none-any.whl", files))


def test_two_builds_that_differ_are_told_apart_by_file(tmp_path):
    one, other = tmp_path / "one.whl", tmp_path / "other.whl"
    for path, text in ((one, "1"), (other, "2")):
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr("same", "0")
            wheel.writestr("changed", text)
    assert list(distributions.differences(one, one)) == []
    assert [told.rpartition(" in ")[2] for told in distributions.differences(one, other)] == ["changed"]


def test_the_page_of_versions_shows_what_failed():
    seen = {"date": "2026-01-01", "python_exact": "3.11.9", "versions": {"numpy": "2.4"}, "ran": "core"}
    record = {CELLS[4].name: seen | {"passed": 1200, "skipped": 3, "failed": ["tests.core.test_x"]}}
    assert "| 2026-01-01 | 3.11.9 | lowest |  |  |  | 2.4 |" in page(record)
    assert "| 1,200 | 3 | `tests.core.test_x` |" in page(record)
