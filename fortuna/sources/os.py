"""The source ``os``: the operating system's own generator, by getrandom(2).

Where the system call does not exist (other systems, old kernels) or is forbidden (a seccomp filter), ``os.urandom``
answers in its place; it reads the same generator through a device, and cannot tell whether that was seeded already.
A kernel that is not seeded yet is waited for by the boot, never by a read, and no failure ever turns into zeros.
"""

from __future__ import annotations

import errno

from ..errors import SourceError
from ..generators.secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from ..typing import Cost

#: Do not block: an unseeded kernel answers EAGAIN (getrandom(2)).
GRND_NONBLOCK: Final = 1
#: One pull of a cheap source: 64 events of 32 bytes, two rounds of the 32 pools.
HARVEST_SIZE: Final = 64 * 32
#: Below this length, all zeros may be chance; from it on, chance is 2**-128 and below.
ZERO_CHECK_SIZE: Final = 16


class OperatingSystem:
    """The operating system as a source.

    Parameters
    ----------
    getrandom : callable, optional
        ``(size, flags) -> bytes``, as ``os.getrandom``; ``None`` where there is none.
    urandom : callable
        ``(size) -> bytes``, as ``os.urandom``.

    Notes
    -----
    Safe for threads; keeps nothing, so a forked child may go on using it.
    """

    __slots__ = ("_getrandom", "_urandom")

    name = "os"
    number = 0
    cost: Cost = "cheap"
    min_entropy = 8.0
    assumption = "the kernel's output is pseudo-random under a key that the kernel holds to be fully seeded"

    def __init__(self, getrandom: Callable[[int, int], bytes] | None, urandom: Callable[[int], bytes]) -> None:
        self._getrandom = getrandom
        self._urandom = urandom

    def harvest(self) -> Secret:
        """Return the 2048 bytes of one pull; raises as `read`."""
        return self.read(HARVEST_SIZE)

    def read(self, size: int) -> Secret:
        """Return *size* fresh bytes, without blocking.

        Raises
        ------
        SourceError
            The kernel's generator is not seeded yet, refused, or answered with nothing or with zeros.
        """
        got = Secret()
        while len(got) < size:
            before = len(got)
            got += self._some(size - before)
            if len(got) == before:
                raise SourceError(errno.EIO, "source os: got 0 bytes; the system's generator gives nothing")
        if size >= ZERO_CHECK_SIZE and not any(got):
            raise SourceError(errno.EIO, f"source os: got {size} zero bytes; the system's generator is broken")
        return got

    def _some(self, size: int) -> bytes:
        try:
            if self._getrandom is not None:
                try:
                    return self._getrandom(size, GRND_NONBLOCK)
                except OSError as error:
                    if error.errno not in (errno.ENOSYS, errno.EPERM):
                        raise
            return self._urandom(size)
        except BlockingIOError as error:
            raise SourceError(errno.EAGAIN, "source os: the kernel's generator is not seeded yet") from error
        except (OSError, NotImplementedError) as error:
            raise SourceError(getattr(error, "errno", None) or errno.EIO, f"source os: {error}") from error
