"""What lies in a folder that others filled: nothing in it may lead out of it."""

from __future__ import annotations

from pathlib import Path


def leads_out(path: Path, folder: Path) -> bool:
    """Whether ``path``, found in ``folder`` or named there, is a place outside of it once links are followed.

    The Hugging Face cache keeps a snapshot's files beside its snapshots: they belong to it.
    """
    allowed = [folder.resolve()]
    if folder.absolute().parent.name == "snapshots":
        allowed.append(folder.absolute().parent.parent.resolve() / "blobs")
    try:
        found = path.resolve()
    except (OSError, ValueError, RuntimeError):  # links in a circle, a name that no system has
        return True
    return not any(found.is_relative_to(place) for place in allowed)
