"""When the live generator harvests and reseeds: first seed, pace, failing sources, bytes equal to the pure model."""

from __future__ import annotations

import errno
import logging
import math
import time
from typing import Final

import pytest

from fortuna.errors import NotSeededError, SourceError
from fortuna.life import NO_SOURCE_LEFT, RETRY_SECONDS

from .child_support import key_of
from .edge_doubles import INTERVAL_NS, Bench, Model, ScriptedSource

MIB: Final = 1 << 20
SECOND: Final = 1_000_000_000


@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
@pytest.mark.parametrize("construction", ["fsk2010", "fsk2003", "fast-key-erasure"])
def test_edge_pulls_live_bytes_equal_the_model(cipher: str, construction: str, path: str) -> None:
    """Sizes around each limit, pulls, application events and reseeds: the same bytes as the pure core's."""
    bench = Bench(path, cipher=cipher, construction=construction)
    model = Model(bench)
    bench.boot()
    assert model.pull()
    for size in (0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 4095, 4096, 4097, MIB - 1, MIB, MIB + 1, 5 * MIB + 1):
        assert model.random_data(size) == bench.fortuna.random_bytes(size), size
    for step in range(40):
        bench.fortuna.add_event(128 + step, b"event" * step + b".")
        model.accumulator.add(128 + step, b"event" * step + b".")
        bench.pass_interval()
        assert model.pull()
        assert model.random_data(40) == bench.fortuna.random_bytes(40)
        assert model.accumulator.pool_lengths == bench.fortuna.stats().pool_lengths
    assert 41 == model.accumulator.reseed_count == bench.reseeds


def test_edge_pulls_readinto_gives_what_random_bytes_gives(path: str) -> None:
    """The two ways to read are one."""
    one, other = Bench(path).boot(), Bench(path).boot()
    for size in (1, 16, 5000, MIB + 7):
        buffer = bytearray(size)
        assert size == one.fortuna.readinto(buffer)
        assert bytes(buffer) == other.fortuna.random_bytes(size)


def test_edge_pulls_counts(path: str, provider: str) -> None:
    """Requests count each 2**20 bytes once, an empty read not at all, and bytes are summed."""
    bench = Bench(path).boot()
    for size in (0, 1, MIB, MIB + 1, 5 * MIB + 1):
        bench.fortuna.random_bytes(size)
    stats = bench.fortuna.stats()
    assert (1 + 1 + 2 + 6, 1 + MIB + MIB + 1 + 5 * MIB + 1) == (stats.requests, stats.bytes_given)
    assert ("aes256-icm", provider, "fsk2010") == (
        stats.generator,
        stats.provider,
        stats.construction,
    )
    assert (stats.kernel == "library") == (path == "python")


@pytest.mark.parametrize(("bits", "is_seeded"), [(8.0, True), (8.0 - 1e-9, False), (4.0, False), (0.0, False)])
def test_edge_pulls_first_seed_needs_256_credited_bits(bits: float, is_seeded: bool, path: str) -> None:
    """One event of 32 bytes in pool 0 seeds at 8 bits a byte, and not a hair below."""
    bench = Bench(path, sources=[ScriptedSource(size=32, min_entropy=bits)], min_pool_size=16)
    if is_seeded:
        bench.boot()
    else:
        with pytest.raises(NotSeededError, match="they gave too little"):
            bench.boot()
        with pytest.raises(NotSeededError):
            bench.fortuna.random_bytes(1)
    assert is_seeded == bench.fortuna.stats().is_seeded


def test_edge_pulls_application_events_alone_never_seed(path: str) -> None:
    """A thousand application events, many in pool 0, credit nothing."""
    bench = Bench(path, sources=[])
    for number in range(1000):
        bench.fortuna.add_event(128 + number % 128, bytes(32))
    assert bench.fortuna.stats().pool_lengths[0] > 64
    with pytest.raises(NotSeededError):
        bench.boot()
    with pytest.raises(NotSeededError):
        bench.fortuna.random_bytes(1)
    assert math.isnan(bench.fortuna.stats().last_reseed_age_seconds)


def test_edge_pulls_first_seed_needs_the_pool_size_too(path: str) -> None:
    """Credited bits without `reseed.min_pool_size` bytes do not seed; more pulls reach any size."""
    bench = Bench(path, min_pool_size=1 << 20, sources=[ScriptedSource(size=65536)])
    with pytest.raises(NotSeededError, match=r"boot\.timeout = 0 s"):
        bench.boot()
    for _ in range(15):
        with pytest.raises(NotSeededError):
            bench.boot()
    bench.fortuna.wait_for_seed(60 * SECOND)
    assert bench.fortuna.stats().is_seeded


def test_edge_pulls_unseeded_requests_pull_each_time_and_seed_themselves(path: str) -> None:
    """Before the first seed every request pulls, unpaced, and the one that reaches the rule is answered."""
    bench = Bench(path, min_pool_size=64, sources=[ScriptedSource(size=32)])
    with pytest.raises(NotSeededError):
        bench.fortuna.random_bytes(16)
    # The second event goes to pool 1, the 33rd to pool 0 again.
    for _ in range(31):
        with pytest.raises(NotSeededError):
            bench.fortuna.random_bytes(16)
    assert bytes(16) != bench.fortuna.random_bytes(16)
    assert 33 == bench.source.harvests
    bench.fortuna.random_bytes(16)
    assert 33 == bench.source.harvests


@pytest.mark.parametrize(
    ("passed_ns", "is_pulled"), [(0, False), (INTERVAL_NS - 1, False), (INTERVAL_NS, False), (INTERVAL_NS + 1, True)]
)
def test_edge_pulls_at_most_one_each_interval(passed_ns: int, is_pulled: bool, path: str) -> None:
    """A pull is due when strictly more than the interval has passed: at exactly 100 ms not, 1 ns later it is."""
    bench = Bench(path).boot()
    bench.clock.now += passed_ns
    for _ in range(3):
        bench.fortuna.random_bytes(1)
    assert (1 + is_pulled, 1 + is_pulled) == (bench.source.harvests, bench.reseeds)


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("is_full", [False, True])
def test_edge_pulls_truth_table_of_a_reseed(is_full: bool, is_late: bool, path: str) -> None:
    """(pool 0 is full) x (more than the interval has passed): a reseed at yes and yes only."""
    bench = Bench(path).boot()
    bench.source.is_failing = not is_full
    bench.clock.now += INTERVAL_NS + is_late
    bench.fortuna.random_bytes(1)
    assert 1 + (is_full and is_late) == bench.reseeds


def test_edge_pulls_each_reseeds_though_harvests_take_time(path: str) -> None:
    """A long harvest followed by a short one does not make the second pull miss its reseed."""
    bench = Bench(path).boot()
    durations = iter([50_000_000, 0, 30_000_000, 0, 0, 99_000_000, 1])
    for reseeds in range(2, 9):
        bench.clock.now = bench.fortuna._life._last_pull_ns + INTERVAL_NS + 1
        duration = next(durations)

        def take_time(duration: int = duration) -> None:
            bench.clock.now += duration

        bench.source.before_harvest = take_time
        bench.fortuna.random_bytes(1)
        assert reseeds == bench.reseeds == bench.source.harvests


@pytest.mark.parametrize("size", [63, 64, 65])
def test_edge_pulls_pool_threshold(size: int, path: str) -> None:
    """P_0 of 63 bytes, headers counted, makes no reseed; 64 and 65 do."""
    bench = Bench(path).boot()
    bench.source.is_failing = True
    # An event of n data bytes is n + 2 bytes; two of them, from two sources, start at pool 0 each.
    bench.fortuna.add_event(200, bytes(range(1, 31)))
    bench.fortuna.add_event(201, bytes(range(1, size - 32 - 2 + 1)))
    assert size == bench.fortuna.stats().pool_lengths[0]
    bench.pass_interval()
    bench.fortuna.random_bytes(1)
    assert 1 + (size >= 64) == bench.reseeds


def test_edge_pulls_interval_zero(path: str) -> None:
    """With an interval of 0 each request that comes a nanosecond later pulls and reseeds."""
    bench = Bench(path, interval_ns=0).boot()
    bench.fortuna.random_bytes(1)
    assert 1 == bench.source.harvests
    for _ in range(5):
        bench.clock.now += 1
        bench.fortuna.random_bytes(1)
    assert (6, 6) == (bench.source.harvests, bench.reseeds)


def test_edge_pulls_wall_clock_does_not_matter(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """A wall clock set back by an hour, or forward, changes no byte and no pace."""
    plain, moved = Bench(path).boot(), Bench(path).boot()
    hours = iter(range(1000))
    monkeypatch.setattr(time, "time", lambda: 1e9 - 3600 * next(hours))
    monkeypatch.setattr(time, "time_ns", lambda: 10**18 - 3600 * SECOND * next(hours))
    got = []
    for bench in (plain, moved):
        bench.pass_interval()
        got.append(bench.fortuna.random_bytes(16))
        got.append(bench.fortuna.random_bytes(16))
    assert got[:2] == got[2:]


def test_edge_pulls_failing_source_warns_once(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """A source that fails in flight is logged once, shown by the statistics, and cleared when it answers again."""
    bench.source.is_failing = True
    with caplog.at_level(logging.WARNING, logger="fortuna"):
        for failures in (1, 2, 3):
            bench.pass_interval()
            assert 16 == len(bench.fortuna.random_bytes(16))
            report = bench.fortuna.stats().sources[0]
            assert ("scripted", "failing", failures) == (report.name, report.state, report.failures_in_a_row)
        assert [
            "entropy source fails, going on without it: source scripted: told to fail",
            "no entropy source is left, going on with the current key: source scripted: told to fail",
        ] == [record.getMessage() for record in caplog.records]
        assert 1 == bench.reseeds
        bench.source.is_failing = False
        bench.pass_interval()
        bench.fortuna.random_bytes(16)
        assert "healthy" == bench.fortuna.stats().sources[0].state
        assert 2 == bench.reseeds
        bench.source.is_failing = True
        bench.pass_interval()
        bench.fortuna.random_bytes(16)
    # It gives again, and fails again; that none is left is said once for good, and stays in the flags.
    assert 4 == len(caplog.records)
    assert (NO_SOURCE_LEFT,) == bench.fortuna.stats().sticky_flags


def test_edge_pulls_statistics_are_frozen(bench: Bench) -> None:
    """What the statistics show cannot be changed."""
    with pytest.raises(AttributeError):
        bench.fortuna.stats().requests = 0  # type: ignore[misc]


def test_edge_pulls_one_failing_source_does_not_stop_the_others(path: str) -> None:
    """The healthy source of two seeds and reseeds."""
    bench = Bench(path, sources=[ScriptedSource("bad"), ScriptedSource("good", number=8)])
    bench.sources[0].is_failing = True
    bench.boot()
    bench.pass_interval()
    bench.fortuna.random_bytes(1)
    assert 2 == bench.reseeds
    assert [("bad", "failing", 2), ("good", "healthy", 0)] == [
        (report.name, report.state, report.failures_in_a_row) for report in bench.fortuna.stats().sources
    ]
    assert () == bench.fortuna.stats().sticky_flags


def test_edge_pulls_boot_waits_for_the_system(caplog: pytest.LogCaptureFixture, path: str) -> None:
    """A source that is not ready is asked again after short pauses until it answers, and nothing is logged."""
    bench = Bench(path)
    bench.source.is_failing, bench.source.failure = True, errno.EAGAIN
    asked = []

    def recover() -> None:
        asked.append(bench.clock.now)
        bench.source.is_failing = len(asked) < 50

    bench.source.before_harvest = recover
    bench.fortuna.wait_for_seed(30 * SECOND)
    assert [RETRY_SECONDS] * 49 == bench.clock.slept
    assert bench.fortuna.stats().is_seeded
    assert "healthy" == bench.fortuna.stats().sources[0].state
    assert [] == caplog.records


@pytest.mark.parametrize("timeout_ns", [0, 1, 10_000_000, 3 * SECOND])
def test_edge_pulls_boot_gives_up(timeout_ns: int, path: str) -> None:
    """When the time is up, the error names the time and the sources that failed."""
    bench = Bench(path)
    bench.source.is_failing = True
    start = bench.clock.now
    with pytest.raises(
        NotSeededError, match=rf"boot.timeout = {timeout_ns / 1e9:g} s; failing sources: source scripted: told"
    ):
        bench.fortuna.wait_for_seed(timeout_ns)
    assert 0 <= bench.clock.now - start - timeout_ns <= RETRY_SECONDS * SECOND


def test_edge_pulls_pretend_unseeded(path: str) -> None:
    """With `boot.pretend_unseeded` every request is refused though the generator is seeded."""
    bench = Bench(path, pretend_unseeded=True).boot()
    assert any(key_of(bench.fortuna))
    buffer = bytearray(b"\xaa" * 16)
    with pytest.raises(NotSeededError, match=r"boot\.pretend_unseeded is on"):
        bench.fortuna.readinto(buffer)
    assert bytes(16) == buffer
    with pytest.raises(NotSeededError):
        bench.fortuna.child()
    assert not bench.fortuna.stats().is_seeded
    assert "not seeded" in repr(bench.fortuna)


def test_edge_pulls_reseed_is_unpaced_and_counts(bench: Bench) -> None:
    """`reseed` pulls every source, reads 32 bytes of the system, and counts, whatever the pace."""
    for count in (2, 3, 4):
        bench.fortuna.reseed()
        assert (count, count, count - 1) == (bench.reseeds, bench.source.harvests, bench.scripted.reads)


def test_edge_pulls_reseed_equals_the_model(path: str) -> None:
    """K becomes the hash of K, the system's 32 bytes and the digests of the pools that are due."""
    bench = Bench(path)
    model = Model(bench)
    bench.boot()
    assert model.pull()
    model.harvest()
    model.accumulator.reseed(bench.clock.now, bench.system.read(32))
    bench.scripted.reads = 0
    bench.fortuna.reseed()
    assert model.random_data(48) == bench.fortuna.random_bytes(48)


def test_edge_pulls_reseed_works_with_empty_pools(path: str) -> None:
    """A child generator, which has no sources, is reseeded from the system."""
    child = Bench(path).boot().fortuna.child()
    twin = Bench(path).boot().fortuna.child()
    child.reseed()
    assert 2 == child.stats().reseeds
    assert twin.random_bytes(16) != child.random_bytes(16)


def test_edge_pulls_reseed_without_the_system_changes_nothing(bench: Bench, path: str) -> None:
    """A system that fails raises `SourceError`, and the next bytes are what they would have been."""
    twin = Bench(path).boot()
    bench.scripted.always = OSError(errno.EIO, "told to fail")
    with pytest.raises(SourceError, match="told to fail"):
        bench.fortuna.reseed()
    assert 1 == bench.reseeds
    assert twin.fortuna.random_bytes(32) == bench.fortuna.random_bytes(32)


def test_edge_pulls_age_of_the_last_reseed(bench: Bench) -> None:
    """The age is in seconds of the monotonic clock."""
    bench.clock.now += 1_500_000_000
    assert 1.5 == bench.fortuna.stats().last_reseed_age_seconds


def test_edge_pulls_child_generator_reseeds_from_events(path: str) -> None:
    """Application events given to a child generator reach its key at the pace."""
    bench = Bench(path).boot()
    child = bench.fortuna.child()
    for number in range(8):
        child.add_event(128 + number, b"x" * 32)
    child.random_bytes(1)
    assert 1 == child.stats().reseeds
    bench.pass_interval()
    child.random_bytes(1)
    assert 2 == child.stats().reseeds
    assert 1 == bench.source.harvests


def test_edge_pulls_freebsd_events_carry_the_clock(path: str) -> None:
    """Under `freebsd` the monotonic clock is part of the events, so it changes the bytes."""
    reads = []
    for now in (5, 5, 6):
        bench = Bench(path, construction="freebsd")
        bench.clock.now = now
        reads.append(bench.boot().fortuna.random_bytes(16))
    assert reads[0] == reads[1]
    assert reads[0] != reads[2]
