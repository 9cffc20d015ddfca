"""Time contenders against each other.

Machines are shared and change their speed, so an absolute time says little and two times taken one after the other say
less. Contenders run in turn, A B C A B C, each for long enough to be measured; a ratio is taken within each round, and
the median over the rounds is what is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns
from timeit import Timer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Final

#: One contender's turn in a round lasts about this long: far above the clock's grain, far below a change of speed.
TURN_NS: Final = 5_000_000


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to do the job.

    Attributes
    ----------
    name : str
        What stands in the table.
    call : callable
        Does it once.
    amount : int
        How much of the job that is, where contenders do not all do the same: bytes, or requests.
    arguments : tuple
        What *call* is given. Wrapping them up with it would cost as much as some of the calls measured.
    """

    name: str
    call: Callable[..., object]
    amount: int = 1
    arguments: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """What one contender took, in nanoseconds for each unit of its amount, round by round."""

    name: str
    rounds_ns: tuple[float, ...]

    @property
    def median_ns(self) -> float:
        """The median over the rounds."""
        return median(self.rounds_ns)

    @property
    def best_ns(self) -> float:
        """The shortest round."""
        return min(self.rounds_ns)

    def times(self, other: Timing) -> float:
        """Return how many times as long as *other* it took: the median of the rounds' ratios."""
        return median(mine / theirs for mine, theirs in zip(self.rounds_ns, other.rounds_ns, strict=True))


def measure(contenders: Sequence[Contender], rounds: int) -> tuple[Timing, ...]:
    """Run *contenders* in turn for *rounds* rounds, after one that is not counted."""
    repeats = [max(1, int(TURN_NS / max(1.0, turn(contender, 3)))) for contender in contenders]
    taken: list[list[float]] = [[] for _ in contenders]
    for _ in range(rounds + 1):
        for contender, repeat, times in zip(contenders, repeats, taken, strict=True):
            times.append(turn(contender, repeat) / contender.amount)
    return tuple(Timing(c.name, tuple(times[1:])) for c, times in zip(contenders, taken, strict=True))


def turn(contender: Contender, repeat: int) -> float:
    """Return the nanoseconds that one of *repeat* calls took, written as a program would write it: ``call(32)``."""
    arguments = {f"argument{i}": value for i, value in enumerate(contender.arguments)}
    statement = f"call({', '.join(arguments)})"
    timer = Timer(statement, timer=perf_counter_ns, globals={"call": contender.call, **arguments})
    return timer.timeit(repeat) / repeat
