"""The source ``file``: a character device or a FIFO, such as a hardware random generator.

``/dev/hwrng`` is the way to every generator that Linux has a driver for, a TPM's among them. A program that knows
another device writes what it reads into a FIFO. The path is the tunable ``entropy.file``.

A regular file is refused: it gives the same bytes after every restart, and whoever wrote it knows them. So is a FIFO
that everybody may write.

Reads never wait, and what has not arrived within the budget is waited for at the next harvest, so a slow writer is
served in time and a dead one is reported. The descriptor stays open from harvest to harvest: a FIFO's writer would be
killed by the signal SIGPIPE otherwise. A path that leads elsewhere by now, or nowhere, is noticed at the next harvest.
"""

from __future__ import annotations

import errno
import os
import stat

from ..errors import SourceError
from ..generators.secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ..typing import Clock, Cost

#: Bytes that a harvest waits for: one event.
EVENT_SIZE: Final = 32
#: Bytes that it takes at most, of those that are there without waiting.
HARVEST_MAX: Final = 8 * EVENT_SIZE
#: How long one harvest may take, but for one read of a driver that waits although it was told not to.
BUDGET_NS: Final = 1_000_000_000
#: Pause between two looks at a device that has nothing yet. Not poll(2): /dev/hwrng is always ready for that.
PAUSE_SECONDS: Final = 0.01


class DeviceFile:
    """A device or FIFO as a source.

    Parameters
    ----------
    path : str
        Absolute.
    clock : Clock
        Measures the budget, and passes the time while nothing comes.

    Attributes
    ----------
    absence : str
        That no path was given; whether anything is there is found out by each harvest.

    Notes
    -----
    For one thread at a time. A forked child may go on using it: each byte reaches one of the two processes, but for up
    to 31 bytes that had arrived before the fork.
    """

    __slots__ = ("_arrived", "_clock", "_descriptor", "absence", "path")

    name = "file"
    number = 4
    cost: Cost = "slow"
    min_entropy = 1.0
    assumption = "nobody knows what stands behind the path; raw noise of hardware has more than a bit a byte"

    def __init__(self, path: str, clock: Clock) -> None:
        self.path = path
        self.absence = "" if path else "entropy.file names no device or FIFO"
        self._clock = clock
        self._descriptor: int | None = None
        self._arrived = Secret()

    def harvest(self) -> Secret:
        """Return 32 bytes of the file, or more, up to 256, where they are there already.

        Raises
        ------
        SourceError
            It is absent, is not there, is no device or FIFO, ended, failed, or did not give 32 bytes within its budget.
            The message names the path.
        """
        if self.absence:
            raise SourceError(errno.ENODEV, f"source file: absent; {self.absence}")
        try:
            self._gather(self._open())
        except OSError as error:
            if not isinstance(error, SourceError):
                self.close()
                raise self._problem(error.errno or errno.EIO, error.strerror or str(error)) from error
            raise
        event, self._arrived = self._arrived, Secret()
        return event

    def close(self) -> None:
        """Close the descriptor; a later harvest opens the path anew."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    __del__ = close

    def _gather(self, descriptor: int) -> None:
        """Read until 32 bytes have arrived in all, and what else is there, or raise."""
        deadline = self._clock.monotonic_ns() + BUDGET_NS
        while len(self._arrived) < HARVEST_MAX:
            try:
                piece = os.read(descriptor, HARVEST_MAX - len(self._arrived))
            except BlockingIOError:
                if len(self._arrived) >= EVENT_SIZE:
                    return
                if self._clock.monotonic_ns() >= deadline:
                    raise self._problem(
                        errno.ETIMEDOUT,
                        f"got {len(self._arrived)} of {EVENT_SIZE} bytes within {BUDGET_NS / 1e9:g} s; is it stuck?",
                    ) from None
                self._clock.sleep(PAUSE_SECONDS)
                continue
            if not piece:
                if len(self._arrived) >= EVENT_SIZE:
                    return
                # A FIFO without a writer is kept open for the next one, a device that ended is not.
                if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                    self.close()
                raise self._problem(errno.ENODATA, "it has ended; nobody writes into it")
            self._arrived += piece

    def _open(self) -> int:
        """Return a descriptor of what is at the path now, opened without waiting."""
        if self._descriptor is not None and not os.path.samestat(os.stat(self.path), os.fstat(self._descriptor)):
            self.close()
        if self._descriptor is None:
            # A serial line must not become the terminal of a service that has none. Python itself sees to it that no
            # other program inherits the descriptor (PEP 446).
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
            self._descriptor = os.open(self.path, flags)
            refusal = refusal_of(os.fstat(self._descriptor).st_mode)
            if refusal:
                self.close()
                raise self._problem(errno.EINVAL, refusal)
        return self._descriptor

    def _problem(self, number: int, text: str) -> SourceError:
        return SourceError(number, f"source file: {ascii(self.path)[1:-1]}: {text}")


def refusal_of(mode: int) -> str:
    """Return why a file of this mode is no source, or an empty string."""
    if stat.S_ISFIFO(mode):
        return "everybody may write into this FIFO; take that away (chmod o-w)" if mode & stat.S_IWOTH else ""
    if stat.S_ISCHR(mode):
        return ""
    kind = "a regular file, which gives the same bytes after a restart" if stat.S_ISREG(mode) else "no such thing"
    return f"it is {kind}; allowed is a character device or a FIFO"
