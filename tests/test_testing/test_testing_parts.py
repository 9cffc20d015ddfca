"""The stand-ins: manual clock, scripted source, injected failures."""

from __future__ import annotations

import errno
from typing import Final

import pytest

from fortuna import testing
from fortuna.errors import ParameterError, SourceError
from fortuna.testing import FailingSource, ManualClock, ScriptedSource
from fortuna.testing.failing import BLOCK_SIZE, FAILURES, SLOW_SECONDS, STUCK_BYTE

HARVEST: Final = bytes(range(64))


def scripted(count: int = 1) -> ScriptedSource:
    """Return a source that gives the same harvest for ever, or *count* times."""
    return ScriptedSource("dice", 40, [HARVEST] * count, then="repeat")


def test_testing_clock_stands_until_moved() -> None:
    """Time passes by advance, by whole nanoseconds and by sleep, which is noted, and never else."""
    clock = ManualClock(7)
    assert 7 == clock.monotonic_ns() == clock.monotonic_ns()
    clock.advance(0.1)
    clock.advance_ns(3)
    clock.sleep(1.5)
    assert 7 + 100_000_000 + 3 + 1_500_000_000 == clock.monotonic_ns()
    assert [1.5] == clock.slept
    assert "1600000010 ns" in repr(clock)


@pytest.mark.parametrize("seconds", [-1e-9, float("nan"), float("inf"), -float("inf")])
def test_testing_clock_refuses_what_is_no_time(seconds: float) -> None:
    """A refused step leaves the clock where it stood."""
    clock = ManualClock(5)
    for move in (clock.advance, clock.sleep):
        with pytest.raises(ParameterError, match="seconds: got"):
            move(seconds)
    with pytest.raises(ParameterError, match="nanoseconds: got -1"):
        clock.advance_ns(-1)
    with pytest.raises(ParameterError, match="now_ns: got -1 ns"):
        ManualClock(-1)
    assert (5, []) == (clock.monotonic_ns(), clock.slept)


def test_testing_script_is_given_in_order() -> None:
    """Harvests and errors come as written, then a SourceError each time, or all again."""
    error = SourceError(errno.EIO, "as written")
    source = ScriptedSource("dice", 40, [b"one", error, b"two"])
    assert b"one" == source.harvest()
    with pytest.raises(SourceError, match="as written"):
        source.harvest()
    assert b"two" == source.harvest()
    for _ in range(2):
        with pytest.raises(SourceError, match="source dice: its script is over"):
            source.harvest()
    assert 5 == source.harvested
    again = ScriptedSource("dice", 40, [b"one", b"two"], then="repeat")
    assert [b"one", b"two", b"one"] == [again.harvest() for _ in range(3)]
    assert "dice, 3 harvests" in repr(again)


def test_testing_script_refusals() -> None:
    """An unknown ending, and a repetition of nothing."""
    with pytest.raises(ParameterError, match="then: got 'stop'; allowed is raise, repeat"):
        ScriptedSource("dice", 40, [b"one"], then="stop")
    with pytest.raises(ParameterError, match="empty script"):
        ScriptedSource("dice", 40, [], then="repeat")


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        ("stuck", bytes([STUCK_BYTE]) * 64),
        ("zeros", bytes(64)),
        ("ones", b"\xff" * 64),
        ("repeating", HARVEST[:BLOCK_SIZE] * 4),
        ("short", HARVEST[:32]),
    ],
)
def test_testing_failure_sets_in_and_ends(failure: str, expected: bytes) -> None:
    """What comes before and after the failing harvests is right."""
    source = FailingSource(scripted(), failure, after=1, count=2)
    assert [HARVEST, expected, expected, HARVEST] == [bytes(source.harvest()) for _ in range(4)]
    assert ("dice", 40, "cheap", 8.0) == (source.name, source.number, source.cost, source.min_entropy)
    assert failure in repr(source)


def test_testing_failure_that_raises() -> None:
    """A raising source raises SourceError, and for ever without a count."""
    source = FailingSource(scripted(), "raising", after=1)
    assert HARVEST == source.harvest()
    for _ in range(3):
        with pytest.raises(SourceError, match="source dice: failure injected"):
            source.harvest()


def test_testing_failure_that_takes_its_time() -> None:
    """A slow harvest is right and takes eight seconds of the clock."""
    clock = ManualClock()
    source = FailingSource(scripted(), "slow", clock=clock)
    assert HARVEST == source.harvest()
    assert [SLOW_SECONDS] == clock.slept


def test_testing_failure_refusals() -> None:
    """Unknown failures, numbers below 0, and a clock where none is needed or none where one is."""
    with pytest.raises(ParameterError, match=f"failure: got 'flood'; there is {', '.join(FAILURES)}"):
        FailingSource(scripted(), "flood")
    with pytest.raises(ParameterError, match="after: got -1"):
        FailingSource(scripted(), "stuck", after=-1)
    with pytest.raises(ParameterError, match="count: got -1"):
        FailingSource(scripted(), "stuck", count=-1)
    with pytest.raises(ParameterError, match="clock"):
        FailingSource(scripted(), "slow")
    with pytest.raises(ParameterError, match="clock"):
        FailingSource(scripted(), "stuck", clock=ManualClock())


def test_testing_names_are_loaded_when_used() -> None:
    """Every public name is listed and can be had, and no other."""
    assert set(testing.__all__) <= set(dir(testing))
    assert all(getattr(testing, name) is not None for name in testing.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Fortuna'"):
        _ = testing.Fortuna
