"""What scripts run by the edge tests share: start a child by any kind of fork, and read what it has to say.

Imported by name from those scripts (the folder is on their path), so it must not import the test packages.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: A child that has not answered by then hangs.
CHILD_SECONDS = 20.0


def raw_fork() -> int:
    """Fork behind Python's back: no at-fork hook runs, and the GIL stays with the caller.

    A thread that waits for the GIL asks for it after the switch interval. A child that inherits the request gives the
    GIL up and waits, inside CPython, until that thread has taken it, which it does not have. So none may ask meanwhile.
    """
    interval = sys.getswitchinterval()
    sys.setswitchinterval(CHILD_SECONDS)
    time.sleep(0.001)  # lets in who has asked already
    pid: int = ctypes.PyDLL(None).fork()
    sys.setswitchinterval(interval)
    return pid


class Child:
    """A forked child that runs *act* and sends back the bytes it returns."""

    def __init__(self, act: Callable[[], bytes], fork: Callable[[], int] = os.fork) -> None:
        self.reader, writer = os.pipe()
        self.pid = fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self.reader)
                os.write(writer, act())
                status = 0
            except BaseException:  # noqa: BLE001 - whatever it was, the child must not go on as the parent
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                os._exit(status)
        os.close(writer)

    def answer(self) -> bytes:
        """Return what the child sent, after it ended; a child that hangs is killed and said so."""
        return answer_of(self.pid, self.reader)


def answer_of(pid: int, reader: int) -> bytes:
    """Return what the child *pid* writes to a pipe until it ends; one that hangs is killed and said so."""
    got = read_all(pid, reader)
    _, status = os.waitpid(pid, 0)
    if status:
        raise SystemExit(f"the child ended with status {status}")
    return got


def read_all(pid: int, reader: int) -> bytes:
    """Do the same without waiting for its end, beyond that of its output."""
    deadline = time.monotonic() + CHILD_SECONDS
    got = b""
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise SystemExit("the child hangs")
        piece = os.read(reader, 1 << 16)
        if not piece:
            break
        got += piece
    os.close(reader)
    return got


def first_blocks(count: int, draw: Callable[[], bytes], fork: Callable[[], int] = os.fork) -> list[bytes]:
    """Return the first block of *count* children forked at once and then of this process."""
    children = [Child(draw, fork) for _ in range(count)]
    own = draw()
    return [*(child.answer() for child in children), own]


def key_reader(live: Any) -> Callable[[], bytes]:
    """Return what reads the K that a live generator holds now, at its place; zeros once it was wiped there."""
    if not hasattr(live, "_export"):
        core = live._life.generator._cell[0]
        return lambda: bytes(core._key)

    def read_page() -> bytes:
        key = bytearray(32)
        live._export(key)
        return bytes(key)

    return read_page


def key_of(live: Any) -> bytes:
    """Return the K of a live generator, wherever it lies; zeros once it was wiped."""
    return key_reader(live)()
