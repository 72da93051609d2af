"""The encoder's files: the ones that were released, or a clear word on what is wrong and what to do."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import pytest

from groundwire import Span
from groundwire.core.errors import EncoderError, GroundwireError
from groundwire.local.encoder import MANIFEST, OLDEST_RUNTIME, WEIGHTS, Encoder, Loaded
from groundwire.local.rows import LENGTH, Kind, Row

DATA = Path(str(resources.files("groundwire.local") / "data"))


@pytest.fixture(scope="module")
def encoder():
    return Encoder(DATA)


@pytest.fixture
def folder(tmp_path):
    for path in DATA.iterdir():
        shutil.copy(path, tmp_path)
    return tmp_path


def row(length, seed=0):
    ids = [101, *((1996 + 37 * (n + seed)) % 25_000 + 1000 for n in range(length - 2)), 102]
    words = tuple((n, Span(n, n + 1)) for n in range(length // 2, length))
    return Row(0, tuple(ids), tuple(n % len(Kind) for n in range(length)), words, ())


@pytest.mark.parametrize("length", [2, 3, 63, 64, 65, 255, LENGTH])
def test_probabilities_of_a_row_and_of_its_words_sum_to_one(encoder, length):
    given = row(length)
    read = encoder.read(given)
    assert read.row.shape == (3,)
    assert read.words.shape == (len(given.words), 3)
    assert read.row.sum() == pytest.approx(1, abs=1e-6)
    assert read.words.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert read.row.min() >= 0
    assert read.words.min() >= 0


def test_a_row_without_words_is_read_as_a_row(encoder):
    read = encoder.read(replace(row(30), words=()))
    assert read.row.shape == (3,)
    assert read.words.shape == (0, 3)


def test_what_a_token_is_changes_what_is_read(encoder):
    """The kinds reach the weights: a claim that is found is read differently from the same one missing."""
    ids = row(40).ids
    found = Row(0, ids, (Kind.EVIDENCE,) * 20 + (Kind.FOUND,) * 20, (), ())
    missing = Row(0, ids, (Kind.EVIDENCE,) * 20 + (Kind.MISSING,) * 20, (), ())
    assert abs(encoder.read(found).row - encoder.read(missing).row).max() > 1e-4


def test_what_was_read_before_changes_nothing(encoder):
    first = encoder.read(row(100))
    for length in (3, LENGTH, 50):
        encoder.read(row(length, seed=length))
    again = encoder.read(row(100))
    assert (first.row == again.row).all()
    assert (first.words == again.words).all()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system doesn't tell")
def test_memory_does_not_grow_with_what_is_read(encoder):
    """Every length leaves something behind in a run time that remembers lengths, and ours must not."""

    def resident():
        (line,) = [x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmRSS")]
        return int(line.split()[1]) / 1024

    encoder.read(row(LENGTH))
    before = resident()
    for length in range(LENGTH, 2, -3):
        encoder.read(row(length))
    assert resident() - before < 8


def test_the_released_files_are_small_and_say_where_they_come_from():
    manifest = json.loads((DATA / MANIFEST).read_text(encoding="utf-8"))
    assert (DATA / WEIGHTS).stat().st_size == manifest["files"][WEIGHTS]["bytes"] < 25_000_000
    assert manifest["version"]
    assert manifest["trained_on"]
    assert manifest["command"].startswith("python -m training.encoder_export ")
    assert (DATA / "README.md").is_file()


def test_weights_that_were_changed_are_refused(folder):
    data = bytearray((folder / WEIGHTS).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / WEIGHTS).write_bytes(bytes(data))
    with pytest.raises(
        EncoderError, match=r"encoder\.onnx' is not the file .*SHA-256.*install groundwire again"
    ):
        Encoder(folder)


def test_another_vocabulary_is_refused(folder):
    (folder / "vocab.txt").write_text("[PAD]\n")
    with pytest.raises(EncoderError, match=r"vocab\.txt' is not the file"):
        Encoder(folder)


@pytest.mark.parametrize("name", [WEIGHTS, MANIFEST, "vocab.txt"])
def test_a_file_that_is_missing_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(EncoderError, match=rf"can't be read .*{name}.*install groundwire again"):
        Encoder(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": 3}', '{"files": {"encoder.onnx": {}}}'])
def test_a_manifest_that_says_nothing_is_an_error_of_ours(folder, text):
    (folder / MANIFEST).write_text(text)
    with pytest.raises(EncoderError, match="can't be read"):
        Encoder(folder)


def test_without_the_run_time_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(
        EncoderError, match=rf"pip install 'onnxruntime>={OLDEST_RUNTIME}'.*detector='lexical'"
    ):
        Encoder(DATA)


def test_a_run_time_that_is_too_old_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", SimpleNamespace(__version__="1.9.2"))
    with pytest.raises(EncoderError, match=rf"{OLDEST_RUNTIME} or newer, not 1\.9\.2: pip install"):
        Encoder(DATA)


def test_the_oldest_run_time_is_the_one_that_is_asked_for():
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    assert f'"onnxruntime>={OLDEST_RUNTIME}"' in pyproject.read_text(encoding="utf-8")


def test_what_can_t_be_loaded_is_tried_again_when_asked_again(folder):
    (folder / WEIGHTS).rename(folder / "elsewhere")
    loaded = Loaded(folder)
    for _ in range(2):
        with pytest.raises(GroundwireError):
            loaded.get()
    (folder / "elsewhere").rename(folder / WEIGHTS)
    assert loaded.get() is loaded.get()


@pytest.mark.parametrize("said", [None, "1"])
def test_who_loads_it_reports_to_nobody(tmp_path, said):
    """Left alone, onnxruntime writes an id of the machine into the home folder, and reports what it runs."""
    code = """
import os
from groundwire.local.embedded import READER
READER.load()
print(os.environ.get("ORT_DISABLE_TELEMETRY"))
"""
    settings = {"ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in settings}
    environment |= {"HOME": str(tmp_path)} | ({"ORT_DISABLE_TELEMETRY": said} if said else {})
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, env=environment
    )
    assert done.stdout.split() == [str(said)]  # as it was before
    assert list(tmp_path.iterdir()) == []
