"""What comes from data, or from a folder that others filled, has nothing read or written outside of it.

Paths in settings, options and arguments are the user's own, and are opened as the user may open them.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import groundwire
from groundwire import Checker, ConfigurationError
from groundwire.batch import Batch, Local
from groundwire.batch.places import find
from groundwire.bench import comparison
from groundwire.cli.main import main
from groundwire.core.errors import EncoderError
from groundwire.judge.memory import Memory
from groundwire.local import optional
from groundwire.local.encoder import MANIFEST, VOCABULARY, WEIGHTS, Encoder
from groundwire.local.folders import escapes
from groundwire.tables import TableError
from tests.batch.answers import jsonl, quick, row

NAMES = [
    "../../x",
    "/etc/passwd",
    "..",
    "a/../../x",
    "a\0b",
    "a\nb",
    "a\udcffb",
    "C:\\x",
    "~/x",
    "x" * 300,
    "",
    ".",
]


def tree(folder):
    """Every file and folder below, with its content."""
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in sorted(folder.rglob("*"))}


@pytest.fixture
def model(tmp_path):
    """A folder such as ``save_pretrained`` writes, as far as its names go, and a secret beside it."""
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    (tmp_path / "outside.safetensors").write_bytes(b"weights of somebody else")
    (folder / "one.safetensors").write_bytes(b"weights")
    for name, content in {
        "config.json": {"architectures": ["XForTokenClassification"], "_name_or_path": "/home/maker/x"},
        "tokenizer_config.json": {"special_tokens_map_file": "/home/maker/nowhere", "tokenizer_file": None},
        "model.safetensors.index.json": {"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}},
    }.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def change(folder, name, **values):
    path = folder / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_a_folder_as_makers_save_it_is_taken(model):
    """With names of whoever saved it, which lead nowhere here, and links that stay inside."""
    (model / "two.safetensors").symlink_to("one.safetensors")
    assert escapes(model) == ""
    assert optional._source(str(model))[0] == str(model)


@pytest.mark.parametrize(
    "name", ["../outside.safetensors", "a/../../outside.safetensors", "/etc/passwd", "a\0b"]
)
@pytest.mark.parametrize("index", ["model.safetensors.index.json", "pytorch_model.bin.index.json"])
def test_an_index_of_weights_names_files_of_its_folder_alone(model, index, name):
    (model / index).write_text(json.dumps({"weight_map": {"a": "one.safetensors", "b": name}}))
    with pytest.raises(ConfigurationError, match="leads out of the folder"):
        optional._source(str(model))


def test_so_does_a_config(model):
    change(model, "config.json", transformers_weights="../outside.safetensors")
    with pytest.raises(ConfigurationError, match="leads out of the folder"):
        optional._source(str(model))


def test_a_tokenizer_reads_files_of_its_folder_alone(model):
    change(model, "tokenizer_config.json", vocab_file=str(model.parent / "outside.safetensors"))
    with pytest.raises(ConfigurationError, match=r"named in tokenizer_config\.json"):
        optional._source(str(model))


@pytest.mark.parametrize("target", ["../outside.safetensors", "/etc", "two.safetensors"])
def test_a_link_leads_nowhere_else(model, target):
    """Not to a file, not to a folder, not to itself."""
    (model / "two.safetensors").symlink_to(target)
    with pytest.raises(ConfigurationError, match=r"the link 'two\.safetensors'"):
        optional._source(str(model))


def test_the_hub_s_own_cache_is_made_of_links(tmp_path):
    blobs, snapshot = tmp_path / "models--a--b" / "blobs", tmp_path / "models--a--b" / "snapshots" / "1f"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    (blobs / "aa").write_text("{}")
    (snapshot / "config.json").symlink_to("../../blobs/aa")
    assert escapes(snapshot) == ""
    (snapshot / "x.json").symlink_to("../../../elsewhere")
    assert escapes(snapshot)


def test_settings_of_a_model_that_are_no_settings_are_left_to_who_reads_them(model):
    for content in ("[1]", "{", "[" * 100_000, '{"weight_map": [1]}'):
        for name in ("config.json", "tokenizer_config.json", "model.safetensors.index.json"):
            (model / name).write_text(content)
        assert escapes(model) == ""


@pytest.mark.parametrize("name", NAMES)
def test_a_manifest_of_weights_leads_nowhere(tmp_path, name):
    """It tells checksums: which files are read is not its to say."""
    (tmp_path / "data").mkdir()
    told = {
        "files": {name: {"sha256": "0"}, VOCABULARY: {"sha256": "0"}, WEIGHTS: {"sha256": "0", "file": name}}
    }
    (tmp_path / "data" / MANIFEST).write_text(json.dumps(told))
    with pytest.raises(EncoderError) as error:
        Encoder(tmp_path / "data")
    assert VOCABULARY in str(error.value)


def test_a_tuning_has_no_file_of_its_own(tmp_path):
    """It comes with its detector, and may come from others: a name of a file in it is not opened."""
    outside = tmp_path / "examples.json"
    outside.write_text("[]")
    (tmp_path / "tuned").mkdir()
    tuned = tmp_path / "tuned" / "tuned.json"
    tuned.write_text(
        json.dumps({"detector": {"name": "self_eval", "examples": "../examples.json"}, "tuned": {}})
    )
    loaded = groundwire.config.load({"tuned": str(tuned)})
    assert loaded.detector["examples"] == "../examples.json"
    with pytest.raises(ConfigurationError, match="examples"):
        loaded.build_detector()


def test_a_folder_of_tables_has_no_link_out_of_it(tmp_path):
    """It is refused, not passed over; named by itself, or by a pattern as a shell would, it is the user's."""
    folder = tmp_path / "tables"
    folder.mkdir()
    jsonl(folder / "a.jsonl", [row(1)])
    jsonl(tmp_path / "private.jsonl", [row(2)])
    (folder / "same.jsonl").symlink_to("a.jsonl")
    assert len(find([str(folder)])) == 1
    (folder / "b.jsonl").symlink_to("../private.jsonl")
    with pytest.raises(TableError, match="leads out of"):
        find([str(folder)])
    assert len(find([str(folder / "b.jsonl")])) == 1
    assert len(find([str(folder / "*.jsonl")])) == 2


@pytest.mark.parametrize("name", ["../../x.jsonl", "/etc/passwd", "a\0b"])
def test_a_plan_opens_no_file_that_was_not_asked_for(tmp_path, name):
    table = jsonl(tmp_path / "in.jsonl", [row(1)])
    with Batch([str(table)], str(tmp_path / "out"), checker=quick):
        pass
    plan = tmp_path / "out" / "_groundwire" / "plan.json"
    told = json.loads(plan.read_text())
    told["inputs"][0]["source"]["name"] = name
    plan.write_text(json.dumps(told))
    with (
        pytest.raises(ConfigurationError, match="no longer there"),
        Batch([str(table)], str(tmp_path / "out"), checker=quick),
    ):
        pass


@pytest.mark.parametrize(
    "content", ["[]", '"x"', '{"groundwire": "batch", "form": 1, "inputs": [[]]}', "[" * 99_999]
)
def test_a_plan_that_is_none_is_told(tmp_path, content):
    table = jsonl(tmp_path / "in.jsonl", [row(1)])
    place = tmp_path / "out" / "_groundwire"
    place.mkdir(parents=True)
    (place / "plan.json").write_text(content)
    with (
        pytest.raises(ConfigurationError, match="can't be read"),
        Batch([str(table)], str(tmp_path / "out"), checker=quick),
    ):
        pass


def test_a_part_that_is_a_link_is_replaced_and_not_followed(tmp_path):
    table = jsonl(tmp_path / "in.jsonl", [row(1)])
    victim = tmp_path / "victim"
    victim.write_text("theirs")
    with Batch([str(table)], str(tmp_path / "out"), checker=quick) as job:
        (tmp_path / "out" / "part-00000000.jsonl").symlink_to("../victim")
        job.run(Local(processes=1))
    assert victim.read_text() == "theirs"


def test_names_in_data_are_no_paths(tmp_path, monkeypatch):
    """Ids, sources and metadata of rows: files appear where the user said, and nowhere else."""
    monkeypatch.chdir(tmp_path)
    work = tmp_path / "work" / "here"
    work.mkdir(parents=True)
    given = [
        {
            "id": name,
            "answer": "It is free.",
            "contexts": [
                {"text": "The fee is 25 EUR.", "id": name, "metadata": {"source": name, "file": name}}
            ],
            "label": 1,
        }
        for name in NAMES
    ]
    jsonl(work / "in.jsonl", given)
    monkeypatch.chdir(work)
    before = {name for name in tree(tmp_path) if not name.startswith(str(work))}
    assert main(["check", "in.jsonl", "--detector", "lexical", "--html", "page.html", "--jsonl"]) == 1
    assert main(["batch", "in.jsonl", "out", "--detector", "lexical", "--full", "--to", "csv"]) == 1
    assert {name for name in tree(tmp_path) if not name.startswith(str(work))} == before
    assert {path.name for path in work.iterdir()} == {"in.jsonl", "page.html", "out"}
    assert {path.name for path in (work / "out").iterdir()} == {"part-00000000.csv", "_groundwire"}


@dataclass
class Contestant:
    name: str
    shortcut: bool = False


@pytest.mark.parametrize("name", NAMES)
def test_a_record_of_outcomes_lies_in_its_folder(tmp_path, name):
    """Whatever a data set or a contestant is called."""
    path = comparison._record(tmp_path, name, Contestant(name))
    assert path.parent == tmp_path
    assert path.resolve().parent == tmp_path.resolve()
    assert "\0" not in str(path)


@pytest.mark.parametrize(
    "settings",
    [
        {"tuned": "a\0b.json"},
        {"detector": {"name": "self_eval", "examples": "a\0b.json"}},
    ],
    ids=str,
)
def test_settings_with_a_name_that_no_system_has_are_told(settings):
    with pytest.raises(ConfigurationError):
        Checker.from_config(settings)


def test_so_is_a_batch_with_one(tmp_path):
    table = str(jsonl(tmp_path / "in.jsonl", [row(1)]))
    for source, out in ((f"{table}\0", str(tmp_path / "out")), (table, f"{tmp_path}/o\0ut")):
        with pytest.raises((ConfigurationError, TableError)):
            Batch([source], out, checker=quick).__enter__()


@pytest.mark.parametrize("name", ["a\nb.sqlite", "a?b#c%20d.sqlite", "file:x?mode=ro", ";", "a b"])
def test_a_memory_is_the_file_that_was_named(name, tmp_path, monkeypatch):
    """SQLite takes URIs: no character of a name may become an option there."""
    monkeypatch.chdir(tmp_path)
    assert len(Memory(tmp_path / name)) == 0
    assert {path.name.removesuffix(end) for path in tmp_path.iterdir() for end in ("-wal", "-shm")} >= {name}
    assert (tmp_path / name).stat().st_mode & 0o077 == 0


def test_a_memory_without_a_name_that_can_be_is_told(tmp_path):
    with pytest.raises(ConfigurationError, match="can't be used"):
        Memory(tmp_path / "a\0b")


def test_nothing_reads_archives_or_xml():
    """So there is no name in an archive to follow, and no entity to resolve. Gzip has neither."""
    forbidden = re.compile(
        r"^\s*(?:import|from) (?:xml|lxml|zipfile|tarfile|pickle|shelve|marshal)\b|unpack_archive",
        re.MULTILINE,
    )
    for path in Path(groundwire.__file__).parent.rglob("*.py"):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path
