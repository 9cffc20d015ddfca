"""A monotonic clock that stands still until a test moves it."""

from __future__ import annotations

from operator import index

from ..errors import ParameterError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, SupportsIndex

NANOSECONDS: Final = 1_000_000_000


class ManualClock:
    """A clock that moves when it is told to, and while somebody sleeps by it.

    Parameters
    ----------
    now_ns : int
        What it shows at first, in nanoseconds, at least 0.

    Attributes
    ----------
    slept : list of float
        The seconds of every `sleep` so far, for tests of what waits how long.

    Raises
    ------
    ParameterError
        *now_ns* is negative.

    Notes
    -----
    Any thread may read it; one thread at a time may move it.
    """

    __slots__ = ("_now_ns", "slept")

    def __init__(self, now_ns: SupportsIndex = 0) -> None:
        start = index(now_ns)
        if start < 0:
            raise ParameterError(f"now_ns: got {start} ns; allowed is 0 or more")
        self._now_ns = start
        self.slept: list[float] = []

    def monotonic_ns(self) -> int:
        """Return the time in nanoseconds."""
        return self._now_ns

    def advance(self, seconds: float) -> None:
        """Let time pass.

        Parameters
        ----------
        seconds : float
            At least 0 and finite; rounded to whole nanoseconds.

        Raises
        ------
        ParameterError
            *seconds* is negative, infinite or no number; the clock stands where it stood.
        """
        if not 0 <= seconds < float("inf"):
            raise ParameterError(f"seconds: got {seconds}; allowed is 0 or more: a monotonic clock never goes back")
        self.advance_ns(round(seconds * NANOSECONDS))

    def advance_ns(self, nanoseconds: SupportsIndex) -> None:
        """Let a whole number of nanoseconds pass, at least 0; raises `fortuna.ParameterError` as `advance` does."""
        passed = index(nanoseconds)
        if passed < 0:
            raise ParameterError(f"nanoseconds: got {passed}; allowed is 0 or more")
        self._now_ns += passed

    def sleep(self, seconds: float, /) -> None:
        """Note the wish in ``slept`` and let the time pass at once; takes and raises what `advance` does."""
        self.advance(seconds)
        self.slept.append(seconds)

    def __repr__(self) -> str:
        return f"<manual clock at {self._now_ns} ns>"
