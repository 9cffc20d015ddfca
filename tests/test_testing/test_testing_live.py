"""A live generator on a test's sources: each failure at boot, beside a good source, and in flight."""

from __future__ import annotations

import logging
import threading
import time
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Final

import pytest

from fortuna import Fortuna
from fortuna.errors import NotSeededError, ParameterError
from fortuna.life import NO_SOURCE_LEFT
from fortuna.monitor import ALARM_BACKOFF_NS, BUDGET_NS, ERROR_BACKOFF_NS
from fortuna.testing import FailingSource, ManualClock, live

if TYPE_CHECKING:
    from fortuna.typing import Cost

SECOND: Final = 1_000_000_000
#: What each failure makes of a source that is asked once.
STATES: Final = {
    "stuck": "withheld",
    "zeros": "withheld",
    "ones": "withheld",
    "repeating": "withheld",
    "raising": "failing",
    "slow": "failing",
}


class Good:
    """A source of pseudo-random bytes that never fails."""

    cost: Cost = "cheap"
    min_entropy = 8.0
    assumption = "none: for tests"

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self._harvests = count()

    def harvest(self) -> bytes:
        """Return the next 2048 bytes."""
        label = f"{self.name}/{next(self._harvests)}/"
        return b"".join(sha256(f"{label}{i}".encode()).digest() for i in range(64))


def failing(failure: str, clock: ManualClock, after: int = 0, count: int | None = None) -> FailingSource:
    """Return a source that fails in that way."""
    needs_clock = clock if failure == "slow" else None
    return FailingSource(Good("bad", 40), failure, after=after, count=count, clock=needs_clock)


@pytest.mark.parametrize("provider", ["auto", "reference"])
@pytest.mark.parametrize("failure", [failure for failure in STATES if failure != "slow"])
def test_testing_live_boot_on_a_failing_source_alone(failure: str, provider: str) -> None:
    """The boot ends within its limit, names the source, and gives nothing out."""
    clock = ManualClock()
    with pytest.raises(NotSeededError, match=r"boot.timeout = 2 s; failing sources: source bad"):
        live([failing(failure, clock)], clock=clock, timeout=2, provider=provider)
    assert 2 * SECOND <= clock.monotonic_ns() < 3 * SECOND


@pytest.mark.parametrize("timeout", [0, 2])
@pytest.mark.parametrize("cost", BUDGET_NS)
def test_testing_live_boot_on_a_source_alone_that_takes_eight_seconds(timeout: float, cost: Cost) -> None:
    """Whatever its cost class, it does not seed, and is named; a quick one is asked once."""
    clock = ManualClock()
    source = Good("bad", 40)
    source.cost = cost
    with pytest.raises(NotSeededError, match=rf"boot.timeout = {timeout} s; failing sources: source bad: (a|no) "):
        live([FailingSource(source, "slow", clock=clock)], clock=clock, timeout=timeout)
    assert cost == "slow" or 8 * SECOND == clock.monotonic_ns()


class Pausing(Good):
    """A source that takes *pause_ns* of a manual clock for each harvest."""

    def __init__(self, clock: ManualClock, cost: Cost, pause_ns: int) -> None:
        super().__init__("bad", 40)
        self.cost = cost
        self._clock = clock
        self._pause_ns = pause_ns

    def harvest(self) -> bytes:
        """Let the time pass, and work."""
        self._clock.advance_ns(self._pause_ns)
        return super().harvest()


@pytest.mark.parametrize("cost", BUDGET_NS)
def test_testing_live_seed_at_the_last_moment(cost: Cost) -> None:
    """A first seed counts when its source took all the time it is allowed, and not when it took a nanosecond more."""
    clock = ManualClock()
    with live([Pausing(clock, cost, BUDGET_NS[cost])], clock=clock, timeout=60) as fortuna:
        assert 1 == fortuna.stats().reseeds
    clock = ManualClock()
    with pytest.raises(NotSeededError, match=r"source bad: (a harvest took|no answer for) .* allowed is"):
        live([Pausing(clock, cost, BUDGET_NS[cost] + 1)], clock=clock, timeout=60)
    assert 60 * SECOND <= clock.monotonic_ns() < 67 * SECOND


class WallClock:
    """The system's clock."""

    monotonic_ns = staticmethod(time.monotonic_ns)
    sleep = staticmethod(time.sleep)


@pytest.mark.parametrize("provider", ["auto", "reference"])
def test_testing_live_boot_on_a_slow_source_alone_in_real_time(provider: str) -> None:
    """A source of cost class slow that really does not answer leaves the boot its limit, and is named."""
    answer = threading.Event()

    class Blocked(Good):
        """A source that answers when it is let."""

        cost: Cost = "slow"

        def harvest(self) -> bytes:
            """Wait for the end of the test."""
            answer.wait(60)
            return super().harvest()

    start = time.monotonic()
    try:
        with pytest.raises(NotSeededError, match=r"boot.timeout = 0.3 s; .*source blocked: no answer yet"):
            live([Blocked("blocked", 40)], clock=WallClock(), timeout=0.3, provider=provider)
        # A generous bound, against a boot that waits for the source: that would be a minute.
        assert 0.3 <= time.monotonic() - start < 30
    finally:
        answer.set()


@pytest.mark.parametrize(
    ("sources", "arguments", "message"),
    [
        ([], {}, "sources: got 0"),
        ([Good("one", 40), Good("two", 40)], {}, r"sources: got 2, with the numbers \[40, 40\]"),
        ([Good("good", 41)], {"timeout": -1}, "timeout: got -1 s"),
        ([Good("good", 41)], {"timeout": float("nan")}, "timeout: got nan s"),
        ([Good("good", 41)], {"timeout": float("inf")}, "timeout: got inf s"),
        ([Good("good", 41)], {"min_pool_size": -1}, "min_pool_size: got -1 bytes"),
        ([Good("good", 41)], {"interval_ns": -1}, "interval_ns: got -1 ns"),
    ],
)
def test_testing_live_refuses(sources: list[Good], arguments: dict[str, float], message: str) -> None:
    """Arguments that could not boot, or would wait for ever, are refused."""
    with pytest.raises(ParameterError, match=message):
        live(sources, **arguments)  # type: ignore[arg-type]  # one of several numbers


def test_testing_live_refuses_a_source_that_claims_nothing() -> None:
    """It would never seed, and on a manual clock no time would pass either; the health tests may be off."""
    source = Good("good", 41)
    source.min_entropy = 0.0
    with pytest.raises(ParameterError, match=r"claims of \[0.0\] bits"):
        live([source], health_tests=False)


@pytest.mark.parametrize("provider", ["auto", "reference"])
@pytest.mark.parametrize("failure", STATES)
def test_testing_live_boot_beside_a_good_source(failure: str, provider: str) -> None:
    """One good source seeds, whatever the other does, and the statistics say what that is."""
    clock = ManualClock()
    fortuna = live([failing(failure, clock), Good("good", 41)], clock=clock, provider=provider)
    assert isinstance(fortuna, Fortuna)
    assert 32 == len(fortuna.random_bytes(32))
    bad, good = fortuna.stats().sources
    assert (STATES[failure], "healthy") == (bad.state, good.state)
    assert () == fortuna.stats().sticky_flags
    fortuna.close()


@pytest.mark.parametrize("failure", STATES)
def test_testing_live_failure_in_flight(failure: str, caplog: pytest.LogCaptureFixture) -> None:
    """After the first seed requests go on from K, with one warning of it and a flag; recovery is noticed."""
    clock = ManualClock()
    fortuna = live([failing(failure, clock, after=1, count=3)], clock=clock)
    assert 1 == fortuna.stats().reseeds
    seen = set()
    with caplog.at_level(logging.WARNING, logger="fortuna"):
        for _ in range(4):
            clock.advance(0.2)
            seen.add(fortuna.random_bytes(16))
    assert 4 == len(seen)
    (report,) = fortuna.stats().sources
    assert report.failures >= 1
    assert (NO_SOURCE_LEFT,) == fortuna.stats().sticky_flags
    assert 1 == sum("no entropy source is left" in record.getMessage() for record in caplog.records)
    for _ in range(10):
        clock.advance(2 * max(ALARM_BACKOFF_NS[0], ERROR_BACKOFF_NS[1]) / SECOND + 10)
        fortuna.random_bytes(16)
    assert "healthy" == fortuna.stats().sources[0].state
    assert fortuna.stats().reseeds > 1
    # The flag stays.
    assert (NO_SOURCE_LEFT,) == fortuna.stats().sticky_flags
    fortuna.close()


def test_testing_live_short_source_needs_more_harvests() -> None:
    """Half as many bytes a harvest seed the generator all the same."""
    clock = ManualClock()
    with live([FailingSource(Good("bad", 40), "short")], clock=clock, timeout=1) as fortuna:
        report = fortuna.stats().sources[0]
        assert ("healthy", 2, 2048) == (report.state, report.harvests, report.bytes_given)


def test_testing_live_short_source_in_flight() -> None:
    """A harvest of half the bytes is no failure: what it brings is used, and the next full one as well."""
    clock = ManualClock()
    source = FailingSource(Good("bad", 40), "short", after=1, count=2)
    with live([source], clock=clock) as fortuna:
        given = []
        for _ in range(4):
            clock.advance(0.2)
            fortuna.random_bytes(16)
            report = fortuna.stats().sources[0]
            given.append(report.bytes_given)
            assert ("healthy", 0) == (report.state, report.failures)
        assert [3072, 4096, 6144, 8192] == given
        assert 4 == fortuna.stats().reseeds
        assert () == fortuna.stats().sticky_flags


def test_testing_live_is_not_the_process_s() -> None:
    """It is independent of what the process has booted, and closes by itself."""
    import fortuna as module

    one, other = live([Good("good", 41)]), live([Good("good", 41)])
    assert one is not module.default()
    # The same script, the same clock: what a live generator makes of them is no secret of the machine.
    assert one.random_bytes(32) == other.random_bytes(32)
    one.close()
    assert 32 == len(other.random_bytes(32))
    other.close()
    assert 32 == len(module.random_bytes(32))
