"""The sink: short writes, descriptors that do not block, closed and failing ones."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import sys
import threading
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.cli.environment import Environment
from fortuna.cli.main import run
from fortuna.cli.sink import PIPE_SIZE, Sink
from fortuna.cli.status import OutputError, Status

from .cli_support import raiser

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Give the two ends of a pipe, and close what a test leaves open."""
    reader, writer = os.pipe()
    yield reader, writer
    for descriptor in (reader, writer):
        try:
            os.close(descriptor)
        except OSError as error:
            assert errno.EBADF == error.errno  # noqa: PT017 - the test closed it


@settings(deadline=None)
@given(data=st.binary(max_size=300), takes=st.lists(st.integers(1, 40), min_size=1))
def test_short_writes_are_continued(data: bytes, takes: list[int]) -> None:
    """Whatever the system takes at a time, all bytes arrive once and in order."""
    got = bytearray()
    calls = iter(takes * 300)

    def write(descriptor: int, view: memoryview) -> int:
        taken = min(next(calls), len(view))
        got.extend(view[:taken])
        return taken

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", write)
        target = Sink(-1, "double", owns=False)
        target.write(data[:100])
        target.write(bytearray(data[100:]))
    assert data == bytes(got)


def test_bytes_written_are_counted_over_all_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error tells how much the target took before it, short writes and earlier calls included."""
    answers: list[int | OSError] = [10, 3, 2, OSError(errno.EIO, "Input/output error")]

    def write(descriptor: int, view: memoryview) -> int:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        target = Sink(-1, "some target", owns=False)
        target.write(bytes(10))
        with pytest.raises(OutputError, match=r"^some target: Input/output error after 15 bytes written$"):
            target.write(bytes(20))
    assert [] == answers


def test_full_pipe_that_does_not_block(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A descriptor that does not block is waited for, and all bytes arrive in order however slowly they are read."""
    reader, writer = pipe
    os.set_blocking(writer, False)
    data = bytes(range(256)) * 2048
    got = bytearray()
    waits = 0

    def wait(*sets: Any) -> tuple[list[int], list[int], list[int]]:
        nonlocal waits
        assert ((), (writer,), ()) == sets
        waits += 1
        got.extend(os.read(reader, 5000))
        return [], [writer], []

    monkeypatch.setattr(select, "select", wait)
    Sink(writer, "pipe", owns=False).write(data)
    os.close(writer)
    while piece := os.read(reader, 1 << 20):
        got += piece
    assert data == bytes(got)
    assert waits > 10


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a pipe is Linux's")
def test_pipe_is_widened(pipe: tuple[int, int]) -> None:
    """A pipe is made as large as the system lets anybody, never smaller; what is no pipe is left as it is."""
    writer = pipe[1]
    sink = Sink(writer, "pipe", owns=False)
    assert fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ) < PIPE_SIZE
    for size in (PIPE_SIZE, 2 * PIPE_SIZE):
        try:
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, size if size > PIPE_SIZE else 4096)
        except PermissionError:
            continue  # an ordinary user cannot make one that large
        sink.widen()
        assert size == fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ)
    with Path(os.devnull).open("wb") as file:
        Sink(file.fileno(), "file", owns=False).widen()


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a pipe is Linux's")
@pytest.mark.parametrize(("size", "is_widened"), [(1 << 16, False), ((1 << 16) + 1, True)])
def test_pipe_is_widened_for_long_outputs(pipe: tuple[int, int], size: int, is_widened: bool) -> None:
    """What any pipe takes at once does not need a larger one."""
    reader, writer = pipe
    thread = threading.Thread(target=lambda: [os.read(reader, 1 << 17) for _ in range(2)])
    thread.start()
    environment = Environment(stdout=writer, is_terminal=False, stderr=StringIO(), variables={})
    assert Status.OK == run(["-n", str(size), "-f", "raw"], environment)
    assert is_widened == (PIPE_SIZE == fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ))
    os.close(writer)
    thread.join()


def test_closed_pipe(pipe: tuple[int, int]) -> None:
    """A pipe that nobody reads is told apart from a failing target."""
    reader, writer = pipe
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        Sink(writer, "pipe", owns=False).write(b"x")


def test_leaving_closes_only_what_is_owned(pipe: tuple[int, int]) -> None:
    """A sink closes its descriptor when it owns it, and otherwise leaves it open."""
    writer = pipe[1]
    with Sink(writer, "pipe", owns=False):
        pass
    os.fstat(writer)
    with Sink(writer, "pipe", owns=True):
        pass
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(writer)


def test_disk_full_at_close(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system reports only when the file is closed is an error as well."""
    monkeypatch.setattr(os, "close", raiser(OSError(errno.EDQUOT, "Disk quota exceeded")))
    target = Sink(pipe[1], "some target", owns=True)
    with pytest.raises(OutputError, match=r"^some target: Disk quota exceeded after 3 bytes written$"), target:
        target.write(b"abc")
    monkeypatch.undo()


def test_failure_at_close_does_not_hide_the_first(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """An error on the way stays the one that is reported when closing fails too."""
    monkeypatch.setattr(os, "close", raiser(OSError(errno.EIO, "Input/output error")))
    with pytest.raises(KeyError, match="first"), Sink(pipe[1], "some target", owns=True):
        raise KeyError("first")
    monkeypatch.undo()
