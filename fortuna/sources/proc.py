"""The source ``proc``: the counters that Linux keeps of interrupts, page faults, packets and switches.

How they stand at the nanosecond in which we look is hard to know for somebody who does not look at the same time; on
the same machine everybody can. So the claim is tiny. What is read is long and almost the same each time: an event is
its SHA-256, together with the time at which each file had been read. The health tests can judge no digest; the test
that matters is made here: counters that have not moved since the last harvest are refused.

Deliberately left out: files that take the kernel long to write, such as ``slabinfo`` and ``timer_list``, and those of
this process, which would move even where somebody shows us counters that stand still.
"""

from __future__ import annotations

import errno
import os
from functools import partial

from ..errors import SourceError
from ..generators.sha256 import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ..typing import Clock, Cost

#: Where the files are.
FOLDER: Final = "/proc"
#: What is read, each where it exists: containers and hardened kernels hide some.
FILES: Final = (
    "interrupts",
    "softirqs",
    "stat",
    "vmstat",
    "schedstat",
    "net/dev",
    "diskstats",
)
#: Bytes of one read: more than most of the files have; ``interrupts`` of a large machine has a million.
PIECE: Final = 1 << 16


class LinuxCounters:
    """Linux's counters as a source.

    Parameters
    ----------
    clock : Clock
        ``monotonic_ns`` says when each file had been read.
    folder : str
        Where the files are.

    Attributes
    ----------
    absence : str
        Why this machine does not have the source; empty where it does.

    Notes
    -----
    Safe for threads. It keeps a digest of what it read last; a forked child may go on using it.
    """

    __slots__ = ("_clock", "_folder", "_last", "absence")

    name = "proc"
    number = 3
    cost: Cost = "slow"
    min_entropy = 1 / 32
    assumption = "a digest of counters that all on this machine can read; only the moment of reading is left"

    def __init__(self, clock: Clock, folder: str = FOLDER) -> None:
        found = any(os.path.exists(f"{folder}/{file}") for file in FILES)  # noqa: PTH110  # as PTH116: slow to import
        self.absence = "" if found else f"{folder} has no counters; they are a thing of Linux"
        self._clock = clock
        self._folder = folder
        self._last = b""

    def harvest(self) -> bytes:
        """Return the digest of all counters and of the times of reading, 32 bytes.

        Raises
        ------
        SourceError
            It is absent, no file can be read any more, or no counter has moved since the last harvest.
        """
        if self.absence:
            raise SourceError(errno.ENODEV, f"source proc: absent; {self.absence}")
        counters, event = sha256(), sha256()
        files = 0
        for file in FILES:
            try:
                descriptor = os.open(f"{self._folder}/{file}", os.O_RDONLY)
            except OSError:
                continue
            try:
                for piece in iter(partial(os.read, descriptor, PIECE), b""):
                    counters.update(piece)
                files += 1
            except OSError:
                continue
            finally:
                os.close(descriptor)
            event.update(self._clock.monotonic_ns().to_bytes(8, "little"))
        if not files:
            raise SourceError(errno.ENOENT, f"source proc: none of its files in {self._folder} can be read")
        digest = counters.digest()
        if digest == self._last:
            raise SourceError(errno.EAGAIN, "source proc: no counter has moved since the last harvest")
        self._last = digest
        event.update(digest)
        return event.digest()
