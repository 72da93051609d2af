"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import shutil
import uuid
from pathlib import Path

# Nothing may be put beside the file, or in its place, as where it alone is mounted into a container.
_NOT_BESIDE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)


def write(path: Path, content: str | bytes) -> None:
    """Write the file whole, or leave what is there: somebody may read it, or start from it.

    A text is written in UTF-8, its line ends as they are. Raises OSError with the path that was given.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():  # a pipe or /dev/stdout is written to, not replaced
        path.write_bytes(data)
        return
    place = path.resolve()  # of a link, the file that it leads to
    fresh = place.with_name(f".{uuid.uuid4().hex}")
    try:
        fresh.write_bytes(data)
        if place.exists():
            shutil.copymode(place, fresh)
        fresh.replace(place)
    except OSError as error:
        if error.errno not in _NOT_BESIDE:
            raise OSError(error.errno, error.strerror, str(path)) from error
        path.write_bytes(data)
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
