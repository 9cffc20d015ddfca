"""When a reseed is due and which pools it uses: Cryptography Engineering 9.5.2 and 9.5.5.

Time comes in as an argument in integer nanoseconds of a monotonic clock, so the pace is exact and no test has to wait.
"""

from __future__ import annotations

from ..errors import ParameterError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

#: P_0 .. P_31. Ten reseeds a second reach P_31 first after 2**31 reseeds, 6.8 years.
POOL_COUNT: Final = 32
#: Bytes in P_0 below which no reseed happens (Cryptography Engineering 9.5.5, MINPOOLSIZE).
MIN_POOL_SIZE: Final = 64
#: Nanoseconds: the book's limit of ten reseeds a second.
INTERVAL_NS: Final = 100_000_000


def pools_used(reseed: int) -> int:
    """Return how many pools reseed number *reseed* uses: P_i takes part when 2**i divides it, i = 0..31.

    The powers that divide a number are the first few, so the pools are always P_0 .. P_(n-1).
    """
    if reseed < 1:
        raise ParameterError(f"reseed: got number {reseed}; reseeds are counted from 1")
    lowest_set_bit = reseed & -reseed
    return min(lowest_set_bit.bit_length(), POOL_COUNT)


class Scheduler:
    """Count reseeds and keep their pace.

    Attributes
    ----------
    reseed_count : int
        ReseedCnt of the book; it does not wrap.
    last_reseed_ns : int
        Time of the last reseed; meaningless before the first.
    """

    __slots__ = ("_interval_ns", "_min_pool_size", "_paced", "last_reseed_ns", "reseed_count")

    def __init__(
        self, *, min_pool_size: int = MIN_POOL_SIZE, interval_ns: int = INTERVAL_NS, reseed_count: int = 0
    ) -> None:
        if reseed_count < 0:
            raise ParameterError(f"reseed_count: got {reseed_count}; reseeds are counted from 0 on")
        if min_pool_size < 0:
            raise ParameterError(f"min_pool_size: got {min_pool_size} bytes; allowed is 0 or more")
        if interval_ns < 0:
            raise ParameterError(f"interval_ns: got {interval_ns} ns; allowed is 0 or more")
        self._min_pool_size = min_pool_size
        self._interval_ns = interval_ns
        # A count taken over from elsewhere says nothing of when the last reseed was, so the next is not paced either.
        self._paced = False
        self.reseed_count = reseed_count
        self.last_reseed_ns = 0

    def is_due(self, pool0_length: int, now_ns: int) -> bool:
        """Tell whether RandomData must reseed first (Cryptography Engineering 9.5.5).

        P_0 must hold enough, and strictly more than the interval must have passed since the last reseed; the first
        reseed is never paced, or an early reader would wait for nothing.
        """
        if pool0_length < self._min_pool_size:
            return False
        return not self._paced or now_ns - self.last_reseed_ns > self._interval_ns

    def advance(self, now_ns: int) -> int:
        """Count one reseed (ReseedCnt = ReseedCnt + 1) at time *now_ns* and return the number of pools it uses."""
        self.reseed_count += 1
        self.last_reseed_ns = now_ns
        self._paced = True
        return pools_used(self.reseed_count)
