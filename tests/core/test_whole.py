"""Files that are written whole or not at all."""

import os
import resource
import subprocess
import sys
import threading

import pytest

from groundwire.core import whole


def with_little_room(size, act):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        act()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("before", ["what was there", None])
def test_where_the_disk_is_full_no_half_of_a_file_is_left(tmp_path, before):
    path = tmp_path / "report.html"
    if before:
        path.write_text(before)
    with pytest.raises(OSError, match=r"report\.html"):
        with_little_room(100, lambda: whole.write(path, "<p>" * 1000))
    assert (path.read_text() if path.exists() else None) == before
    assert [one.name for one in tmp_path.iterdir()] == (["report.html"] if before else [])


def test_line_ends_and_permissions_stay(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    path.chmod(0o640)
    whole.write(path, "ä\r\nb\n")
    assert path.read_bytes() == "ä\r\nb\n".encode()
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    whole.write(pipe, "a page")
    reader.join(timeout=10)
    assert read == ["a page"]
    assert pipe.is_fifo()


def test_standard_output_is_written_to():
    """As ``--html /dev/stdout`` is, into a pipe."""
    code = (
        "from pathlib import Path; from groundwire.core import whole; "
        "whole.write(Path('/dev/stdout'), 'a page')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "a page"


def test_several_may_write_the_same_file(tmp_path):
    path, failed = tmp_path / "report.html", []

    def write():
        try:
            for _ in range(100):
                whole.write(path, "a page")
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
