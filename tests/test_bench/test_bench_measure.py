"""The arithmetic of the benchmark, on calls that move a scripted clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fortuna.bench import measure as module
from fortuna.bench.measure import TURN_NS, Contender, Timing, measure, turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class ScriptedClock:
    """A clock that stands still but for the calls that move it, and a log of who was called."""

    def __init__(self) -> None:
        self.now_ns = 1_000_000_007
        self.called: list[str] = []

    def call(self, name: str, *steps_ns: int) -> Callable[[], None]:
        """Return a call that takes each of *steps_ns* in turn, and from then on the last."""
        left = [*steps_ns]

        def work() -> None:
            self.called.append(name)
            self.now_ns += left.pop(0) if len(left) > 1 else left[0]

        return work


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> ScriptedClock:
    """Put a scripted clock in the place of the real one."""
    scripted = ScriptedClock()
    monkeypatch.setattr(module, "perf_counter_ns", lambda: scripted.now_ns)
    return scripted


def runs(names: Iterable[str]) -> list[tuple[str, int]]:
    """Return *names* with equal neighbours counted."""
    found: list[tuple[str, int]] = []
    for name in names:
        if found and found[-1][0] == name:
            found[-1] = (name, found[-1][1] + 1)
        else:
            found.append((name, 1))
    return found


@pytest.mark.parametrize(("repeat", "expected"), [(1, 10.0), (2, 15.0), (3, 20.0), (4, 22.5)])
def test_turn_is_the_mean_of_its_calls(clock: ScriptedClock, repeat: int, expected: float) -> None:
    """A turn makes the calls asked for, and gives the time of one of them."""
    assert expected == turn(Contender("a", clock.call("a", 10, 20, 30)), repeat)
    assert ["a"] * repeat == clock.called


def test_median_and_best() -> None:
    """The median is of the rounds, the best is the shortest."""
    odd, even = Timing("odd", (5.0, 1.0, 3.0)), Timing("even", (8.0, 2.0, 4.0, 6.0))
    assert (3.0, 1.0) == (odd.median_ns, odd.best_ns)
    assert (5.0, 2.0) == (even.median_ns, even.best_ns)


def test_times_is_the_median_of_the_ratios() -> None:
    """A ratio is taken within each round, and is not the ratio of the medians."""
    yardstick = Timing("yardstick", (1.0, 10.0, 100.0))
    other = Timing("other", (4.0, 20.0, 50.0))
    assert 2.0 == other.times(yardstick)
    assert 0.5 == yardstick.times(other)
    assert 1.0 == other.times(other)
    # The machine became ten times slower in the second round: the medians tell nothing, the rounds still agree.
    assert 3.0 == Timing("b", (3.0, 30.0)).times(Timing("a", (1.0, 10.0)))
    skewed = Timing("c", (1.0, 90.0, 3.0)), Timing("d", (1.0, 9.0, 30.0))
    assert 1.0 == skewed[0].times(skewed[1])
    assert 3.0 / 9.0 == skewed[0].median_ns / skewed[1].median_ns


def test_rounds_of_different_runs_are_not_compared() -> None:
    """Timings of another number of rounds are refused, not cut."""
    with pytest.raises(ValueError, match="zip.. argument 2 is longer"):
        Timing("a", (1.0,)).times(Timing("b", (1.0, 2.0)))


def test_arguments_are_passed(clock: ScriptedClock) -> None:
    """A contender's arguments go to its call as they are, in their order."""
    seen = []

    def call(*arguments: object) -> None:
        seen.append(arguments)
        clock.now_ns += 5

    value = object()
    assert 5.0 == turn(Contender("a", call, arguments=(32, value)), 2)
    assert [(32, value), (32, value)] == seen


def test_contenders_take_turns(clock: ScriptedClock) -> None:
    """After a trial of three calls each, contenders run in turn, each as often as fills its turn, one round more than
    are counted.
    """
    assert 5_000_000 == TURN_NS
    slow, fast = clock.call("slow", 2_500_000), clock.call("fast", 500_000)
    timings = measure((Contender("slow", slow), Contender("fast", fast)), 3)
    assert [("slow", 3), ("fast", 3)] + [("slow", 2), ("fast", 10)] * 4 == runs(clock.called)
    assert (Timing("slow", (2_500_000.0,) * 3), Timing("fast", (500_000.0,) * 3)) == timings
    assert 0.2 == timings[1].times(timings[0])


def test_first_round_is_not_counted(clock: ScriptedClock) -> None:
    """What the first round takes, while everything is cold, is in no number."""
    trial, first, later = [TURN_NS] * 3, [9 * TURN_NS], [TURN_NS, 2 * TURN_NS]
    (timing,) = measure([Contender("a", clock.call("a", *trial, *first, *later))], 2)
    assert (float(TURN_NS), 2.0 * TURN_NS) == timing.rounds_ns
    assert 6 == len(clock.called)


def test_long_calls_are_made_once(clock: ScriptedClock) -> None:
    """A call that takes longer than a turn is made once in a turn, never not at all."""
    measure([Contender("long", clock.call("long", 7 * TURN_NS))], 1)
    assert 3 + 2 == len(clock.called)


def test_calls_below_the_grain_of_the_clock(clock: ScriptedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that the clock does not see are repeated a great many times, but not for ever."""
    monkeypatch.setattr(module, "TURN_NS", 50)
    (timing,) = measure([Contender("nothing", clock.call("nothing", 0))], 2)
    assert 3 + 3 * 50 == len(clock.called)
    assert (0.0, 0.0) == timing.rounds_ns


def test_amount_divides(clock: ScriptedClock) -> None:
    """Contenders that do more in a call are measured by what they do."""
    one, many = Contender("one", clock.call("one", TURN_NS)), Contender("many", clock.call("many", TURN_NS), 1000)
    assert 1 == one.amount
    timings = measure((one, many), 1)
    assert (TURN_NS / 1000,) == timings[1].rounds_ns
    assert 0.001 == timings[1].times(timings[0])
