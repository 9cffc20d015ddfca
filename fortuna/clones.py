"""Notice that this process is a copy of an earlier state: a restored snapshot of it, or of the machine it runs on.

Two machines that start from one snapshot hold the same K. No system call tells a program of it, so two signals are
taken where somebody gives them:

* a *generation file* (tunable ``boot.generation_file``): 4 or 8 bytes that the system maps into every program and
  changes when the machine was restored. Each request compares it before and after its bytes are made;
* the after-restore hook of ``snapshot_restore_py``, a library that some services' runtimes call after a restore.

Either makes the next request reseed before it answers, unpaced and from every source. Where neither exists, nothing in
user space can notice: call `fortuna.reseed` after a restore.
"""

from __future__ import annotations

import os
import stat
from mmap import ACCESS_READ, mmap

from .errors import TunableError
from .generators.secret import Uncopyable

try:
    # With this module, before a boot: a handler that interrupts a boot must not find half of it.
    import snapshot_restore_py as runtime  # pyright: ignore[reportMissingTypeStubs]  # it has none
except ImportError:
    runtime = None

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, Protocol

    class Generation(Protocol):
        """A number that changes when the machine was restored."""

        @property
        def view(self) -> memoryview | None:
            """The mapped number, for C to look at; ``None`` where there is nothing to look at."""
            ...

        def read(self) -> int:
            """Return the number."""
            ...


#: Sizes in bytes of a number.
SIZES: Final = (4, 8)


class NoGeneration(Uncopyable):
    """What stands in where no generation file is configured: the number never changes."""

    __slots__ = ()

    view = None

    def read(self) -> int:
        """Return 0."""
        return 0


NO_GENERATION: Final = NoGeneration()


class GenerationFile(Uncopyable):
    """A generation counter of 4 or 8 bytes, mapped for reading.

    Parameters
    ----------
    path : str
        A file of exactly that size, or a character device that gives 4 bytes (as SysGenID does).

    Attributes
    ----------
    view : memoryview
        The mapped number.

    Raises
    ------
    TunableError
        It cannot be opened or mapped, or has another size.

    Notes
    -----
    Safe for threads and in a forked child. Byte order does not matter, since the number is only compared. The file must
    not be truncated while it is mapped: the system then ends the process (SIGBUS) at its next request.
    """

    __slots__ = ("_map", "_number", "view")

    def __init__(self, path: str) -> None:
        try:
            self._map = self._open(path)
        except OSError as error:
            raise TunableError(
                f"boot.generation_file: cannot map {path!a}: {error.strerror or error}; name a file of 4 or 8 "
                "bytes, or none"
            ) from error
        self.view = memoryview(self._map)
        # One aligned load of the whole number, so it is never seen half written.
        self._number = self.view.cast("I" if len(self._map) == 4 else "Q")

    def read(self) -> int:
        """Return the number as it is now."""
        return self._number[0]

    @staticmethod
    def _open(path: str) -> mmap:
        # Not blocking, should the path be a FIFO. What is checked is the opened file, whatever the path leads to later.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            size = 4 if stat.S_ISCHR(status.st_mode) else status.st_size
            if size not in SIZES or not (stat.S_ISCHR(status.st_mode) or stat.S_ISREG(status.st_mode)):
                raise OSError(f"it has {status.st_size} bytes")
            return mmap(descriptor, size, access=ACCESS_READ)
        finally:
            os.close(descriptor)


def register_after_restore(hook: Callable[[], None]) -> bool:
    """Have *hook* called after a restore by the runtime that brings ``snapshot_restore_py``; tell whether it exists."""
    if runtime is None:
        return False
    runtime.register_after_restore(hook)
    return True
