"""The live generator in C equals the one in Python, byte for byte, for the same script of sources, clock and calls."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna import _boot
from fortuna.errors import ClosedError, NotSeededError, SourceError
from fortuna.forks import ForkDetector
from fortuna.monitor import ERROR_BACKOFF_NS
from fortuna.native import COARSE_INTERVAL_NS, NativeFortuna
from fortuna.rng import Fortuna
from fortuna.shared import SharedGenerator
from fortuna.tunables import Tunables

from .native_support import (
    BEST,
    EDITIONS,
    INTERVAL_NS,
    NATIVE,
    Cell,
    Stand,
    oracle_cell,
    other_cell,
    scripted,
)
from .test_native_generator import order_of

if TYPE_CHECKING:
    from fortuna.core import Generator

READS = st.one_of(st.integers(0, 70), st.integers(1, 70), st.just(1500))
GAPS = st.builds(lambda ns: ("wait", ns), st.sampled_from([0, 1, INTERVAL_NS // 2, INTERVAL_NS, INTERVAL_NS + 1]))
CALLS = st.sampled_from(["reseed", "child", "readinto", "fail", "heal", "forked"])
STEPS = st.lists(st.one_of(READS, GAPS, GAPS, CALLS, st.binary(min_size=1, max_size=40)), max_size=14)


def pair(cell: Cell, construction: str = "fsk2010", *, other: Cell | None = None, **parameters: Any) -> list[Stand]:
    """Return two stands with equal scripts: the generator in C, and the one in Python on other code."""
    cells = (cell, other or other_cell(cell))
    native, python = stands = [Stand(where, construction, **parameters) for where in cells]
    if cells[1][1] == "native":
        raise AssertionError("no other provider: ask for the oracle")
    assert type(native.fortuna) is NativeFortuna
    assert type(python.fortuna) is Fortuna
    assert native.fortuna.stats().kernel != python.fortuna.stats().kernel
    return stands


def act(stand: Stand, step: Any) -> object:
    """Take one step of a transcript and return what it gave."""
    live = stand.fortuna
    if isinstance(step, int):
        return live.random_bytes(step)
    if isinstance(step, bytes):
        live.add_event(128 + len(step), step)
    elif isinstance(step, tuple):
        stand.clock.now += step[1]
    elif step == "reseed":
        live.reseed()
    elif step == "child":
        child = live.child()
        assert type(child) is type(live)
        child.add_event(200, b"of the child")
        return child.random_bytes(20) + child.child().random_bytes(20)
    elif step == "readinto":
        out = bytearray(33)
        return live.readinto(out), bytes(out)
    elif step == "forked":
        # What the at-fork hook does in a parent.
        stand.forks._in_parent()
    else:
        stand.source.is_failing = step == "fail"
    return None


def counts(stand: Stand) -> tuple[object, ...]:
    """Return what both kinds of generator count."""
    stats = stand.fortuna.stats()
    return (
        stats.is_seeded,
        stats.requests,
        stats.bytes_given,
        stats.reseeds,
        stats.pool_lengths,
        stats.last_reseed_age_seconds,
        stats.sources,
        stand.source.harvests,
        stand.os.reads,
    )


@pytest.mark.parametrize("construction", EDITIONS)
@pytest.mark.parametrize("cell", BEST, ids="-".join)
@given(steps=STEPS)
@settings(deadline=None, max_examples=20)
def test_transcript_equals_python(cell: Cell, construction: str, steps: list[Any]) -> None:
    """Any transcript of reads, waits, events, reseeds, children, failures and forks gives the same bytes and counts."""
    native, python = pair(cell, construction, other=oracle_cell(cell))
    for step in (1, *steps, 1):
        assert act(python, step) == act(native, step), step
        assert counts(python) == counts(native), step


@pytest.mark.parametrize("cell", NATIVE, ids="-".join)
def test_fixed_transcript_on_every_kernel(cell: Cell) -> None:
    """One transcript that has everything, on each kernel."""
    native, python = pair(cell, other=oracle_cell(cell))
    steps: list[Any] = [1, 32, ("wait", INTERVAL_NS), 5, ("wait", 1), 64, b"event", 100, "reseed", 65, "child", 7]
    steps += [("wait", INTERVAL_NS + 1), "fail", 9, ("wait", INTERVAL_NS + 1), "heal", 9, "readinto", "forked", 3, 3]
    for step in steps:
        assert act(python, step) == act(native, step), step
        assert counts(python) == counts(native), step
    assert 4 == native.fortuna.stats().reseeds


@pytest.mark.parametrize("construction", EDITIONS)
@pytest.mark.parametrize("size", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5 << 20, (5 << 20) + 17])
def test_large_requests(size: int, construction: str) -> None:
    """Requests of a MiB, a byte less or more, and of five, are split and rekeyed as the Python generator does it."""
    for cell in BEST:
        if other_cell(cell)[1] == "native":
            continue
        native, python = pair(cell, construction)
        assert python.fortuna.random_bytes(size) == native.fortuna.random_bytes(size)
        out, twin = bytearray(size), bytearray(size)
        assert size == native.fortuna.readinto(out) == python.fortuna.readinto(twin)
        assert twin == out
        assert -(-size // (1 << 20)) * 2 == native.fortuna.stats().requests
        assert counts(python) == counts(native)


def test_large_requests_of_every_kernel(cell: Cell) -> None:
    """Five MiB and a byte are those of five requests of a MiB and one of a byte, on every kernel."""
    one, other = Stand(cell), Stand(other_cell(cell))
    assert one.fortuna.stats().kernel != other.fortuna.stats().kernel
    got = one.fortuna.random_bytes((5 << 20) + 1)
    assert b"".join(other.fortuna.random_bytes(size) for size in [1 << 20] * 5 + [1]) == got


@pytest.mark.parametrize("boundary", [(0, 1), (1, 1), (INTERVAL_NS, 1), (INTERVAL_NS + 1, 2)])
def test_pace(best: Cell, boundary: tuple[int, int]) -> None:
    """A pull comes strictly after the interval, to the nanosecond, however often bytes are drawn."""
    gap, harvests = boundary
    stand = Stand(best)
    stand.fortuna.random_bytes(1)
    stand.clock.now += gap
    for _ in range(3):
        stand.fortuna.random_bytes(1)
    assert (harvests, harvests) == (stand.source.harvests, stand.fortuna.stats().reseeds)


def test_clock_that_runs_past_every_pull(best: Cell) -> None:
    """A clock that jumps an hour at each look makes every request pull once, and none waits for ever."""
    stand = Stand(best)
    stand.source.before_harvest = lambda: setattr(stand.clock, "now", stand.clock.now + 3600 * 10**9)
    for number in range(5):
        stand.pass_interval()
        assert 3 == len(stand.fortuna.random_bytes(3))
        assert 2 + number == stand.source.harvests


def test_clock_that_goes_back(best: Cell) -> None:
    """A clock that goes back keeps the key and serves."""
    stand = Stand(best)
    stand.fortuna.random_bytes(1)
    stand.clock.now -= 10**12
    assert 16 == len(stand.fortuna.random_bytes(16))
    assert 1 == stand.source.harvests


def test_clock_that_raises(best: Cell) -> None:
    """An exception of the clock comes out of the request, its buffer is zero, and the next request works."""
    stand = Stand(best)
    stand.fortuna.random_bytes(1)
    stand.clock.before_look = lambda: 1 // 0
    out = bytearray(b"\x55" * 40)
    with pytest.raises(ZeroDivisionError):
        stand.fortuna.readinto(out)
    assert bytes(40) == bytes(out)
    stand.clock.before_look = lambda: 0
    assert 16 == len(stand.fortuna.random_bytes(16))


@pytest.mark.parametrize("answer", ["text", 1 << 70, None, 1.5])
def test_clock_of_nonsense(best: Cell, answer: object) -> None:
    """A clock that answers no 64-bit integer is an error of the request, not a crash."""
    stand = Stand(best)
    stand.fortuna.random_bytes(1)
    stand.clock.now = answer  # type: ignore[assignment]
    with pytest.raises((TypeError, OverflowError)):
        stand.fortuna.random_bytes(1)


def test_unseeded(best: Cell) -> None:
    """Before the first seed bytes are refused after a pull, the buffer is zero, and later all is well."""
    stands = [Stand(which, is_booted=False) for which in (best, oracle_cell(best))]
    for stand in stands:
        stand.source.is_failing = True
        out = bytearray(b"\x11" * 20)
        with pytest.raises(NotSeededError):
            stand.fortuna.readinto(out)
        assert bytes(20) == bytes(out)
        assert not stand.fortuna.stats().is_seeded
        stand.source.is_failing = False
        stand.clock.now += ERROR_BACKOFF_NS[0]
    native, python = (stand.fortuna.random_bytes(50) for stand in stands)
    assert python == native
    assert counts(stands[1]) == counts(stands[0])


@pytest.mark.parametrize("pretend", [False, True])
def test_no_bytes_from_an_unseeded_generator(best: Cell, pretend: bool) -> None:
    """A request for nothing is answered with nothing, unseeded or not, and pulls nothing, as in Python."""
    for which in (best, oracle_cell(best)):
        stand = Stand(which, is_booted=False, pretend_unseeded=pretend)
        before = counts(stand)[:4]
        assert b"" == stand.fortuna.random_bytes(0)
        assert 0 == stand.fortuna.readinto(bytearray())
        assert before == counts(stand)[:4]
        assert 0 == stand.source.harvests


@pytest.mark.parametrize("size", [0, 1, 100_000])
def test_pretend_unseeded(best: Cell, size: int) -> None:
    """With the tunable that pretends, no byte is given though there is a seed."""
    stand = Stand(best, pretend_unseeded=True)
    if size:
        with pytest.raises(NotSeededError, match=r"boot\.pretend_unseeded"):
            stand.fortuna.random_bytes(size)
    assert not stand.fortuna.stats().is_seeded


@pytest.mark.parametrize("size", [0, 1, 32, 16384, 3 << 20])
def test_closed(best: Cell, size: int) -> None:
    """After close() every call raises ClosedError, for no bytes too; closing again does nothing."""
    stand = Stand(best)
    stand.fortuna.random_bytes(5)
    stand.fortuna.close()
    stand.fortuna.close()
    out = bytearray(b"\x31" * size)
    for call in (lambda: stand.fortuna.random_bytes(size), lambda: stand.fortuna.readinto(out), stand.fortuna.reseed):
        with pytest.raises(ClosedError, match="is wiped"):
            call()
    assert bytes(size) == bytes(out) or b"\x31" * size == bytes(out)
    assert bytes(32) == page_key(stand.fortuna)
    assert "closed" in repr(stand.fortuna)


def page_key(live: Fortuna) -> bytes:
    """Return the K on the page of a live generator in C."""
    assert isinstance(live, NativeFortuna)
    key = bytearray(32)
    live._export(key)
    return bytes(key)


def test_closed_within_a_pull(best: Cell) -> None:
    """A close() that comes while the request's own pull is under way ends that request with ClosedError."""
    stand = Stand(best)
    stand.fortuna.random_bytes(1)
    stand.source.before_harvest = stand.fortuna.close
    stand.pass_interval()
    with pytest.raises(ClosedError):
        stand.fortuna.random_bytes(16)
    assert bytes(32) == page_key(stand.fortuna)


def test_closed_between_the_pieces_of_a_large_request(best: Cell) -> None:
    """A close() within a request of many MiB ends it, and the buffer is zero: no bytes of a closed generator."""
    stand = Stand(best)
    stand.fortuna.random_bytes(1)
    looks: list[int] = []

    def look() -> None:
        looks.append(1)
        if len(looks) == 4:
            stand.fortuna.close()

    stand.clock.before_look = look
    out = bytearray(b"\x42" * (8 << 20))
    with pytest.raises(ClosedError):
        stand.fortuna.readinto(out)
    assert bytes(8 << 20) == bytes(out)
    assert 4 <= len(looks) <= 6


def test_fork_of_the_parent_during_a_pull(best: Cell) -> None:
    """A fork while a pull is under way makes another pull due at once: the child knows what the first one harvested."""
    for which in (best, oracle_cell(best)):
        stand = Stand(which)
        stand.fortuna.random_bytes(1)

        def fork(stand: Stand = stand) -> None:
            stand.source.before_harvest = lambda: None
            stand.forks._in_parent()

        stand.source.before_harvest = fork
        stand.pass_interval()
        stand.fortuna.random_bytes(1)
        assert 2 == stand.source.harvests
        stand.fortuna.random_bytes(1)
        assert 3 == stand.source.harvests, which


def test_reentry_within_a_pull(best: Cell) -> None:
    """A request from within a source's harvest is served from the current key, neither waits nor pulls again."""
    stand = Stand(best)
    inner: list[bytes] = []
    stand.source.before_harvest = lambda: inner.append(stand.fortuna.random_bytes(16))
    outer = []
    for _ in range(20):
        stand.pass_interval()
        outer.append(stand.fortuna.random_bytes(16))
    assert 20 == len(inner)
    assert 40 == len({*inner, *outer})
    assert 21 == stand.source.harvests


def test_request_within_a_reseed_is_not_undone(best: Cell) -> None:
    """Bytes drawn while a reseed hashes are not given again: the hash is made anew from the K that they left."""
    stand = Stand(best)
    construction = stand.parts.construction
    drawn: list[bytes] = []
    keys: list[bytes] = []

    class Drawing:
        """The construction, which draws in the middle of the first three hashes."""

        def reseed_key(self, key: bytearray, seed: bytes, *, is_seeded: bool) -> object:
            keys.append(bytes(key))
            if len(keys) <= 3:
                drawn.append(stand.fortuna.random_bytes(16))
            return construction.reseed_key(key, seed, is_seeded=is_seeded)

    drawn.append(stand.fortuna.random_bytes(16))
    reseeds = stand.fortuna.stats().reseeds
    stand.fortuna._life.generator._construction = Drawing()  # type: ignore[union-attr]
    stand.fortuna.reseed()
    drawn.append(stand.fortuna.random_bytes(16))
    assert reseeds + 1 == stand.fortuna.stats().reseeds
    assert 4 == len(keys) == len(set(keys))
    assert 5 == len(drawn) == len(set(drawn))


def test_child_is_independent(best: Cell) -> None:
    """A child has its own page; closing either leaves the other, and a collected child gives its page back."""
    stand = Stand(best)
    child = stand.fortuna.child()
    grandchild = child.child()
    assert 3 == len({one.random_bytes(16) for one in (stand.fortuna, child, grandchild)})
    child.close()
    with pytest.raises(ClosedError):
        child.random_bytes(1)
    assert 16 == len(grandchild.random_bytes(16))
    assert 16 == len(stand.fortuna.random_bytes(16))


def test_four_threads_equal_the_sequential_stream(best: Cell) -> None:
    """Four threads on one live generator: in the order of the lock, their outputs are the Python generator's stream."""
    native = Stand(best)
    python = Stand(other_cell(best) if other_cell(best)[1] != "native" else oracle_cell(best))
    assert native.fortuna.stats().kernel != python.fortuna.stats().kernel
    is_slow = python.fortuna.stats().provider == "reference"
    sizes = [16384, 100, 32, 17000] if is_slow else [1 << 20, 16384, 100, 16383, 300_000, 32, 70_000, 16385] * 2
    outputs: list[list[bytes]] = [[] for _ in range(4)]
    ready = threading.Barrier(4)

    def draw(mine: list[bytes]) -> None:
        ready.wait()
        mine.extend(native.fortuna.random_bytes(size) for size in sizes)

    threads = [threading.Thread(target=draw, args=(mine,)) for mine in outputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared = python.fortuna._life.generator
    assert isinstance(shared, SharedGenerator)
    core: Generator = shared._cell[0]
    assert 4 * len(sizes) == len(order_of(outputs, core))
    assert 4 * len(sizes) == native.fortuna.stats().requests


@pytest.mark.parametrize("interval_ns", [0, 1, COARSE_INTERVAL_NS - 1, COARSE_INTERVAL_NS, 3600 * 10**9])
def test_system_clock(interval_ns: int) -> None:
    """With the system's clock, coarse or fine, requests are served and pulls are not lost nor made too early."""
    tunables = Tunables({"reseed.interval": interval_ns / 1e9}, {})
    live = _boot.build(tunables, ForkDetector(use_hook=False))
    assert isinstance(live, NativeFortuna)
    started = time.monotonic_ns()
    outputs = {live.random_bytes(16) for _ in range(2000)}
    assert 2000 == len(outputs)
    elapsed = time.monotonic_ns() - started
    reseeds = live.stats().reseeds
    if interval_ns:
        assert reseeds <= 2 + elapsed // interval_ns
    if interval_ns <= 1:
        assert reseeds >= 2000
    live.close()


def test_source_that_raises_leaves_k(best: Cell) -> None:
    """A reseed() without the operating system raises and changes nothing; requests go on."""
    native, python = pair(best, other=oracle_cell(best))
    for stand in (native, python):
        stand.os.is_failing = True
        with pytest.raises(SourceError):
            stand.fortuna.reseed()
        stand.os.is_failing = False
    assert python.fortuna.random_bytes(40) == native.fortuna.random_bytes(40)
    assert counts(python) == counts(native)


def test_foreign_source_exception(best: Cell) -> None:
    """An exception that is no SourceError, such as a handler's, comes out of the request that pulled."""
    stand = Stand(best)
    stand.fortuna.random_bytes(1)
    stand.source.before_harvest = lambda: 1 // 0
    stand.pass_interval()
    out = bytearray(b"\x61" * 30)
    with pytest.raises(ZeroDivisionError):
        stand.fortuna.readinto(out)
    assert bytes(30) == bytes(out)
    stand.source.before_harvest = lambda: None
    assert 30 == stand.fortuna.readinto(out)


def test_statistics_of_the_page(best: Cell) -> None:
    """Statistics say whether K is locked in memory and left out of core dumps; in Python it is never."""
    native, python = pair(best, other=oracle_cell(best))
    report = native.fortuna._report()  # type: ignore[attr-defined]
    stats = native.fortuna.stats()
    assert report[4:] == (stats.is_memory_locked, stats.is_memory_undumpable)
    assert (False, False) == (python.fortuna.stats().is_memory_locked, python.fortuna.stats().is_memory_undumpable)
    for stand in (native, python):
        key = scripted("k", 8).hex()
        assert key not in repr(stand.fortuna.stats())
