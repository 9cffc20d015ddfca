"""When a reseed is due, and which pools it uses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.core import Scheduler
from fortuna.core.scheduler import INTERVAL_NS, MIN_POOL_SIZE, POOL_COUNT, pools_used
from fortuna.errors import ParameterError

from .core_support import CELLS, Cell, load_vectors, make_accumulator

PEER_TABLE = next(e for e in load_vectors("peer_kats")["entries"] if e["id"] == "pycrypto-which-pools")["cases"]


def dividing(reseed: int) -> list[int]:
    """State the book's rule on its own: all pools i of 0..31 for which 2**i divides the reseed's number."""
    return [i for i in range(32) if reseed % 2**i == 0]


def test_pools_of_the_first_4096_reseeds() -> None:
    """Each of the first 4096 reseeds uses exactly the pools whose power of two divides its number."""
    for r in range(1, 4097):
        assert dividing(r) == list(range(pools_used(r)))


@pytest.mark.parametrize("power", [31, 32, 33, 63, 64])
def test_pools_around_great_powers(power: int) -> None:
    """Around 2**31 and 2**32, where counts have wrapped elsewhere, the rule holds and never goes beyond P_31."""
    for r in range(2**power - 70, 2**power + 71):
        assert dividing(r) == list(range(pools_used(r)))
    assert POOL_COUNT == pools_used(2**power)


@given(st.integers(1, 2**140))
@settings(deadline=None, max_examples=300)
def test_pools_of_any_reseed(r: int) -> None:
    """The rule holds for any number of a reseed."""
    assert dividing(r) == list(range(pools_used(r)))


@pytest.mark.parametrize("case", PEER_TABLE, ids=lambda case: str(case["r"]))
def test_peer_table(case: dict[str, int]) -> None:
    """The peer's table of pools comes out; its reseed 0, an assertion there, is refused."""
    if "error" in case:
        with pytest.raises(ParameterError, match="counted from 1"):
            pools_used(case["r"])
    else:
        assert case["pools"] == pools_used(case["r"])


@pytest.mark.parametrize("r", [0, -1, -(2**31)])
def test_reseeds_are_counted_from_1(r: int) -> None:
    """There is no reseed 0 and none below; the message gives the number."""
    with pytest.raises(ParameterError, match=f"got number {r};"):
        pools_used(r)


def test_frequency_of_pools() -> None:
    """Over 2**12 reseeds pool i takes part in every 2**i-th."""
    counts = [0] * 32
    for r in range(1, 4097):
        for i in range(pools_used(r)):
            counts[i] += 1
    assert [4096 >> i for i in range(32)] == counts


LAST = 5_000_000_000
#: Nanoseconds since the last reseed -> is that strictly more than 100 ms.
GAPS = {
    -(3600 * 10**9): False,
    -1: False,
    0: False,
    1: False,
    99_999_999: False,
    100_000_000: False,
    100_000_001: True,
    200_000_000: True,
    10**18: True,
}


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 10**9])
@pytest.mark.parametrize("gap", GAPS)
def test_truth_table(length: int, gap: int) -> None:
    """A reseed is due exactly when P_0 holds the threshold and strictly more than 100 ms have passed."""
    scheduler = Scheduler()
    scheduler.advance(LAST)
    assert (length >= 64 and GAPS[gap]) == scheduler.is_due(length, LAST + gap)


def test_truth_table_has_four_corners() -> None:
    """Of full or not by late or not, only full and late is due."""
    scheduler = Scheduler()
    scheduler.advance(LAST)
    corners = {
        (full, late): scheduler.is_due(64 if full else 63, LAST + INTERVAL_NS + late)
        for full in (0, 1)
        for late in (0, 1)
    }
    assert {(0, 0): False, (0, 1): False, (1, 0): False, (1, 1): True} == corners


@pytest.mark.parametrize("now", [-(10**18), -1, 0, 1, 10**18])
def test_first_reseed_is_not_paced(now: int) -> None:
    """The first reseed waits for the threshold alone, wherever the clock stands."""
    assert not Scheduler().is_due(63, now)
    assert Scheduler().is_due(64, now)


def test_asking_moves_nothing() -> None:
    """Asking, refused or not, moves neither the count nor the time of the last reseed."""
    scheduler = Scheduler()
    scheduler.advance(LAST)
    for now in (LAST, LAST + 10**12):
        for length in (0, 64):
            scheduler.is_due(length, now)
    assert (1, LAST) == (scheduler.reseed_count, scheduler.last_reseed_ns)


@given(
    threshold=st.integers(1, 2**20),
    interval=st.integers(0, 3600 * 10**9),
    length=st.integers(-1, 1),
    gap=st.integers(-1, 1),
)
@settings(deadline=None, max_examples=100)
def test_any_threshold_and_interval(threshold: int, interval: int, length: int, gap: int) -> None:
    """Every threshold and interval has its edge at one byte and one nanosecond."""
    scheduler = Scheduler(min_pool_size=threshold, interval_ns=interval)
    scheduler.advance(LAST)
    assert (length >= 0 and gap > 0) == scheduler.is_due(threshold + length, LAST + interval + gap)


def test_interval_of_zero() -> None:
    """With no interval a nanosecond must have passed all the same: strictly more than nothing."""
    scheduler = Scheduler(interval_ns=0)
    scheduler.advance(LAST)
    assert not scheduler.is_due(64, LAST)
    assert scheduler.is_due(64, LAST + 1)


def test_advance_counts() -> None:
    """Each reseed adds one to the count, notes its time and tells its pools."""
    scheduler = Scheduler()
    assert [1, 2, 1, 3, 1, 2, 1, 4] == [scheduler.advance(10 * i) for i in range(8)]
    assert (8, 70) == (scheduler.reseed_count, scheduler.last_reseed_ns)


@pytest.mark.parametrize(
    ("before", "pools"), [(2**31 - 2, 1), (2**31 - 1, 32), (2**31, 1), (2**32 - 1, 32), (2**32, 1)]
)
def test_advance_from_great_counts(before: int, pools: int) -> None:
    """A count taken over near 2**31 or 2**32 goes on without wrapping, and does not pace the next reseed."""
    scheduler = Scheduler(reseed_count=before)
    assert scheduler.is_due(64, 0)
    assert pools == scheduler.advance(0)
    assert before + 1 == scheduler.reseed_count
    assert not scheduler.is_due(64, INTERVAL_NS)


def test_defaults_are_the_book_s() -> None:
    """32 pools, 64 bytes and ten reseeds a second."""
    assert (32, 64, 100_000_000) == (POOL_COUNT, MIN_POOL_SIZE, INTERVAL_NS)


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_pace_seen_from_outside(cell: Cell) -> None:
    """An accumulator reseeds at 100 ms + 1 ns, not at 100 ms, not with 63 bytes, and not when the clock goes back."""
    accumulator, _ = make_accumulator(cell)
    accumulator.add(0, bytes(30), pool=0)
    accumulator.add(0, bytes(29), pool=0)
    assert 63 == accumulator.pool_lengths[0]
    assert not accumulator.reseed_if_due(LAST)
    accumulator.add(0, bytes(30), pool=0)
    assert accumulator.reseed_if_due(LAST)
    assert LAST == accumulator.last_reseed_ns
    accumulator.add(0, bytes(32), pool=0)
    accumulator.add(0, bytes(28), pool=0)
    assert 64 == accumulator.pool_lengths[0]
    for now in (LAST, LAST + INTERVAL_NS, LAST - 3600 * 10**9):
        assert not accumulator.reseed_if_due(now)
    assert (1, LAST) == (accumulator.reseed_count, accumulator.last_reseed_ns)
    assert accumulator.reseed_if_due(LAST + INTERVAL_NS + 1)
    assert 2 == accumulator.reseed_count
