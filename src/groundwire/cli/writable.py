"""Whether a file can be written, found out before anything is judged and paid for."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from groundwire.core.errors import ConfigurationError


def require_writable(option: str, name: str, *, read: Iterable[str | None] = ()) -> None:
    """Raises ConfigurationError, naming the option, where no file of that name can be written.

    Nor is one of the files that are ``read``, under whatever name: what is in it would be lost.
    """
    path = Path(name)
    for other in filter(None, read):
        if _same(path, Path(other)):
            raise ConfigurationError(f"{option} {name!r} is a file that is read: name another")
    if path.is_dir():
        raise ConfigurationError(f"{option} {name!r} is a directory: name the file to write in it")
    if not path.parent.is_dir():
        raise ConfigurationError(f"{option} {name!r}: there is no directory {str(path.parent)!r}")
    if path.exists():
        if not os.access(path, os.W_OK):
            raise ConfigurationError(f"{option} {name!r}: no permission to write to it: name another file")
        return
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ConfigurationError(
            f"{option} {name!r}: nothing can be written in {str(path.parent)!r} ({error.strerror}): name a "
            "file elsewhere"
        ) from error


def _same(one: Path, other: Path) -> bool:
    """Whether two names are one file's, also of a file that is still to be written."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


def require_folder(option: str, name: str) -> None:
    """Raises ConfigurationError, naming the option, where a file has the name of a folder to write to."""
    if Path(name).exists() and not Path(name).is_dir():
        raise ConfigurationError(f"{option} {name}: it is a file, and a folder is needed")
