"""A source that goes bad at a harvest of the test's choice, in one of the ways in which real ones do."""

from __future__ import annotations

import errno
from operator import index

from ..errors import ParameterError, SourceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, NoReturn, SupportsIndex

    from ..typing import Buffer, Clock, Cost, Source

#: Seconds that a slow harvest takes: longer than any budget of a source.
SLOW_SECONDS: Final = 8.0
#: What a stuck source gives. Neither zeros nor ones, which a simple check for those would find.
STUCK_BYTE: Final = 0x5A
#: Bytes that a repeating source gives again and again; short enough to show within one harvest.
BLOCK_SIZE: Final = 16


class FailingSource:
    """A source that works until a failure is injected.

    Parameters
    ----------
    source : Source
        What works: it is asked for each harvest, unless the failure is ``raising``.
    failure : str
        ``"stuck"``: every byte is 0x5a. ``"zeros"``, ``"ones"``: every bit is 0, is 1. ``"repeating"``: the first 16
        bytes of the first failing harvest, again and again. ``"raising"``: `SourceError`. ``"slow"``: the harvest is
        right and takes 8 seconds of *clock*. ``"short"``: the first half of the harvest.
    after : int
        How many harvests are right before the failure sets in.
    count : int, optional
        How many harvests fail; from then on all are right again. Without it, all that follow fail.
    clock : ManualClock or alike
        For ``"slow"`` alone: whose time passes.

    Attributes
    ----------
    harvested : int
        Calls of `harvest` so far, failing ones counted.
    name, number, cost, min_entropy, assumption
        Those of *source*.

    Raises
    ------
    ParameterError
        The failure is unknown, a number is negative, or a clock is missing or not needed.
    """

    __slots__ = (
        "_after",
        "_block",
        "_clock",
        "_count",
        "_failure",
        "_source",
        "assumption",
        "cost",
        "harvested",
        "min_entropy",
        "name",
        "number",
    )

    def __init__(
        self,
        source: Source,
        failure: str,
        *,
        after: SupportsIndex = 0,
        count: SupportsIndex | None = None,
        clock: Clock | None = None,
    ) -> None:
        if failure not in FAILURES:
            raise ParameterError(f"failure: got {failure!r}; there is {', '.join(FAILURES)}")
        if (failure == "slow") != (clock is not None):
            raise ParameterError(f"clock: the failure 'slow' needs one and no other takes one; got {clock!r}")
        self._after = _at_least_zero("after", after)
        self._count = None if count is None else _at_least_zero("count", count)
        self._failure = failure
        self._source = source
        self._clock = clock
        self._block = b""
        self.name = source.name
        self.number = source.number
        self.cost: Cost = source.cost
        self.min_entropy = source.min_entropy
        self.assumption = source.assumption
        self.harvested = 0

    def harvest(self) -> Buffer:
        """Return what the source gives, or what the failure makes of it.

        Raises
        ------
        SourceError
            The failure is ``raising`` and it is time, or the source fails by itself.
        """
        failed = self.harvested - self._after
        self.harvested += 1
        if failed < 0 or (self._count is not None and failed >= self._count):
            return self._source.harvest()
        return FAILURES[self._failure](self)

    def _fill(self, byte: int) -> Buffer:
        return bytes([byte]) * len(self._source.harvest())

    def _repeat(self) -> Buffer:
        harvest = self._source.harvest()
        self._block = self._block or bytes(harvest[:BLOCK_SIZE])
        return (self._block * len(harvest))[: len(harvest)]

    def _raise(self) -> NoReturn:
        raise SourceError(errno.EIO, f"source {self.name}: failure injected by a test")

    def _delay(self) -> Buffer:
        self._clock.sleep(SLOW_SECONDS)  # type: ignore[union-attr]  # the constructor has seen to it that there is one
        return self._source.harvest()

    def _shorten(self) -> Buffer:
        harvest = self._source.harvest()
        return harvest[: len(harvest) // 2]

    def __repr__(self) -> str:
        return f"<source {self.name}, {self._failure} after {self._after} harvests, {self.harvested} harvests>"


#: The failures there are.
FAILURES: Final[dict[str, Callable[[FailingSource], Buffer]]] = {
    "stuck": lambda source: source._fill(STUCK_BYTE),
    "zeros": lambda source: source._fill(0x00),
    "ones": lambda source: source._fill(0xFF),
    "repeating": FailingSource._repeat,
    "raising": FailingSource._raise,
    "slow": FailingSource._delay,
    "short": FailingSource._shorten,
}


def _at_least_zero(name: str, value: SupportsIndex) -> int:
    number = index(value)
    if number < 0:
        raise ParameterError(f"{name}: got {number} harvests; allowed is 0 or more")
    return number
