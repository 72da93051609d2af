"""Where tables lie: paths, folders and patterns on this machine, and whatever URL fsspec opens."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from groundwire.core.errors import ConfigurationError, MissingExtraError
from groundwire.core.secrets import without_secrets
from groundwire.local.folders import leads_out
from groundwire.tables import TableError

_ENDINGS = (".parquet", ".pq", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab")
_PASSED_OVER = (".", "_")
_OF_THE_SYSTEM = ("lost+found", "System Volume Information")  # at the top of a disk; no tables of anybody's
_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")  # also what can't be read: it is told, and not passed over


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file to read: its path or URL, its size in bytes, and what changes when its content does."""

    name: str = field(repr=False)
    size: int | None
    stamp: str

    @property
    def shown(self) -> str:
        """The name as it is told and kept: an address may hold a password, or be signed."""
        return shown(self.name)


def find(inputs: Iterable[str], *, outside: str = "") -> list[Source]:
    """Every table that these lead to: paths, folders, globs and URLs, in this order, each file once.

    What lies in ``outside`` is left out. Folders and patterns are sorted. In folders, names that begin with a
    dot or an underscore are passed over, and endings that no table has. Raises TableError for one that leads
    nowhere, for a folder with a link that leads out of it or with a folder that can't be read, and for
    addresses that are told apart by a secret.
    """
    found: dict[str, Source] = {}
    place = f"{_place(outside)}/" if outside else ""
    for given in inputs:
        here = _remote(given) if is_url(given) else _local(given)
        for source in sorted(here, key=lambda one: one.name):
            if not (place and _place(source.name).startswith(place)):
                found.setdefault(_place(source.name), source)
        if not here:
            nothing = "there is no such file, nor a folder or pattern with tables in it"
            raise TableError(f"{shown(given)}: {nothing}")
    if not found:
        told = ", ".join(map(shown, inputs))
        raise TableError(f"{told}: all of it lies in {shown(outside)!r}, where the outcomes go")
    name, count = Counter(source.shown for source in found.values()).most_common(1)[0]
    if count > 1:  # nobody could tell whose rows are whose when the batch is gone on with
        raise TableError(f"{name}: {count} addresses differ in nothing that is kept: one batch for each")
    return list(found.values())


def opened(name: str) -> BinaryIO:
    """The file, to read from its beginning or, where it can, from anywhere."""
    if not is_url(name):
        return Path(name).open("rb")
    fs, path = filesystem(name)
    stream: BinaryIO = fs.open(path, "rb")
    return stream


def is_url(name: str) -> bool:
    """Whether fsspec is to open it: a name with a protocol, other than that of this machine's files."""
    return "://" in name and not name.startswith("file://")


def shown(name: str) -> str:
    """A path or URL as it may be told: without what lets others in."""
    return without_secrets(name) if is_url(name) else name


def _local(given: str) -> list[Source]:
    path = Path(plain_path(given))
    if path.is_dir():
        paths = list(_within(path))
    elif path.exists() or given == "-":
        if not path.is_file():
            raise TableError(
                f"{given}: a pipe is read only once, and a batch goes back to its tables: save it to a "
                "file, or use groundwire check"
            )
        paths = [path]
    else:
        paths = [one for one in map(Path, glob.glob(str(path), recursive=True)) if one.is_file()]  # noqa: PTH207 - Path's own refuses absolute patterns
    return [
        Source(name=str(one), size=stat.st_size, stamp=str(stat.st_mtime_ns))
        for one in paths
        for stat in [one.stat()]
    ]


def _within(folder: Path) -> Iterator[Path]:
    """The tables in a folder and in those that it has, whatever any of them links to in it."""
    for place, folders, files in os.walk(folder, onerror=_unread):
        folders[:] = [name for name in folders if not name.startswith(_PASSED_OVER)]
        for path in (Path(place, name) for name in (*folders, *filter(_named_as_table, files))):
            if path.is_symlink() and leads_out(path, folder):
                raise TableError(
                    f"{path}: this link leads out of {str(folder)!r}: name what it leads to, if it is meant"
                )
            if path.is_symlink() and not path.exists():
                raise TableError(f"{path}: this link leads nowhere")
            if path.is_file():
                yield path


def _unread(error: OSError) -> None:
    if Path(error.filename).name in _OF_THE_SYSTEM:
        return
    raise TableError(f"{error.filename}: this folder can't be read: {error.strerror}") from error


def _remote(given: str) -> list[Source]:
    fs, path = filesystem(given)
    try:
        info = fs.info(path)  # as it is called, before any character of it means others
    except (FileNotFoundError, NotADirectoryError) as error:
        if isinstance(error.__cause__, OSError):  # of HTTP: nobody answered
            raise TableError(f"{shown(given)}: {without_secrets(str(error.__cause__))}") from error
        if not glob.has_magic(path):
            return []
        infos = [one for one in fs.glob(path, detail=True).values() if one["type"] == "file"]
    else:
        if info["type"] != "directory":
            return [_source(given, info)]
        found = fs.find(path, detail=True).values()
        infos = [one for one in found if _is_table(str(one["name"]).removeprefix(path).split("/"))]
    if infos and "::" in given:
        raise TableError(f"{shown(given)}: inside another file, name each table by itself")
    return [_source(str(fs.unstrip_protocol(info["name"])), info) for info in infos]


def _source(name: str, info: dict[str, Any]) -> Source:
    keys = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "mtime", "updated", "created")
    stamp = next((str(info[key]) for key in keys if info.get(key) is not None), "")
    return Source(name=name, size=info.get("size"), stamp=stamp)


def _is_table(parts: Iterable[str]) -> bool:
    named = [part for part in parts if part]
    return not any(part.startswith(_PASSED_OVER) for part in named) and _named_as_table(named[-1])


def _named_as_table(name: str) -> bool:
    plain = name.lower()
    for ending in _PACKED:
        plain = plain.removesuffix(ending)
    return not name.startswith(_PASSED_OVER) and plain.endswith(_ENDINGS)


def _place(name: str) -> str:
    """Where it is: the same for every way to write it."""
    if not is_url(name):
        return Path(plain_path(name)).resolve().as_posix()
    fs, path = filesystem(name)
    return str(fs.unstrip_protocol(path)).rstrip("/")


def plain_path(name: str) -> str:
    """The path of a name that is no URL."""
    return name.removeprefix("file://")


def filesystem(name: str) -> tuple[Any, str]:
    """The file system of a URL, as fsspec has it, and the path in it. Raises ConfigurationError."""
    try:
        core = import_module("fsspec.core")
    except ImportError as error:
        raise MissingExtraError(f"reading {shown(name)!r}", package="fsspec", extra="batch") from error
    try:
        fs, path = core.url_to_fs(name)
    except (ValueError, ImportError) as error:
        raise ConfigurationError(f"{shown(name)!r} can't be opened: {without_secrets(str(error))}") from None
    return fs, str(path)
